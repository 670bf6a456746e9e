# SPDX-License-Identifier: MIT
# Compiler flags of everything we build. No -ffast-math and no -march=native anywhere: results and
# binaries must not depend on the machine that compiled them.
add_library(rela_flags INTERFACE)
target_compile_definitions(rela_flags INTERFACE _GNU_SOURCE ZLIB_CONST)
target_compile_options(rela_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wdouble-promotion
  -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wpointer-arith -Wwrite-strings -Wundef
  -Wformat=2 -Wvla -Wimplicit-fallthrough
  -fno-math-errno -ffp-contract=off
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(RELA_WERROR)
  target_compile_options(rela_flags INTERFACE -Werror)
endif()
if(RELA_SANITIZE)
  target_compile_definitions(rela_flags INTERFACE RELA_POISON) # NaN in scratch, see tensor/plan.h
  target_compile_options(rela_flags INTERFACE -fsanitize=${RELA_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    $<$<C_COMPILER_ID:Clang>:-fno-sanitize=pointer-overflow>) # NULL + 0, which C23 allows
  target_link_options(rela_flags INTERFACE -fsanitize=${RELA_SANITIZE})
else()
  target_compile_options(rela_flags INTERFACE
    $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2> -fstack-protector-strong)
  target_link_options(rela_flags INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()
# CMake would add NDEBUG: assertions are on in every build.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_MINSIZEREL "-Os")
include(CheckPIESupported)
check_pie_supported()
