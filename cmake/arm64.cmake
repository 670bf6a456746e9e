# SPDX-License-Identifier: MIT
# Toolchain file for arm64 on a Debian machine of another architecture; programs run under qemu (make arm64). tools/setup arm64
# installs what it needs. QEMU_CPU in the environment names the processor to emulate.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(PKG_CONFIG_EXECUTABLE aarch64-linux-gnu-pkg-config)
# libdnnl-dev cannot be installed for two architectures at once: dnnl_config.h differs in the GPU runtime, which nothing here
# uses. So the header is the native one, and the library, without its -dev package, is named by its file.
set(RELA_DNNL_LIBRARY /usr/lib/aarch64-linux-gnu/libdnnl.so.2)
