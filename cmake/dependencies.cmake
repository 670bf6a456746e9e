# SPDX-License-Identifier: MIT
# The libraries of docs/architecture.md, all from the system. tools/setup installs them.
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
# What a user of the static library needs too; it goes into rela.pc and rela-config.cmake.
set(rela_modules zlib libzstd libxxhash libutf8proc libpcre2-8 jansson)
pkg_check_modules(RELA_DEPS REQUIRED IMPORTED_TARGET ${rela_modules} yaml-0.1)
pkg_check_modules(RELA_UV REQUIRED IMPORTED_TARGET libuv)
add_library(rela_figures_dependencies INTERFACE)
if(RELA_FIGURES)
  pkg_check_modules(RELA_CAIRO REQUIRED IMPORTED_TARGET cairo)
  target_link_libraries(rela_figures_dependencies INTERFACE PkgConfig::RELA_CAIRO)
endif()
list(JOIN rela_modules " " rela_modules_text)
# Not find_package(dnnl): its package file asks for OpenCL, which nothing here needs.
find_library(RELA_DNNL_LIBRARY dnnl REQUIRED)
find_path(RELA_DNNL_INCLUDE dnnl.h REQUIRED)
add_library(rela_dependencies INTERFACE)
target_link_libraries(rela_dependencies INTERFACE
  PkgConfig::RELA_DEPS ${RELA_DNNL_LIBRARY} OpenMP::OpenMP_C Threads::Threads ${CMAKE_DL_LIBS} m)
find_package(Threads REQUIRED)
target_include_directories(rela_dependencies INTERFACE ${RELA_DNNL_INCLUDE})
if(RELA_MPI STREQUAL "ON")
  find_package(MPI REQUIRED COMPONENTS C)
elseif(NOT RELA_MPI STREQUAL "OFF" AND NOT CMAKE_CROSSCOMPILING) # mpicc is that of the machine that builds
  find_package(MPI QUIET COMPONENTS C)
endif()
