# SPDX-License-Identifier: MIT
# The libraries of docs/architecture.md, all from the system. tools/setup installs them.
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RELA_DEPS REQUIRED IMPORTED_TARGET
  zlib libzstd libxxhash libutf8proc libpcre2-8 jansson yaml-0.1)
add_library(rela_dependencies INTERFACE)
target_link_libraries(rela_dependencies INTERFACE
  PkgConfig::RELA_DEPS OpenMP::OpenMP_C Threads::Threads m)
find_package(Threads REQUIRED)
