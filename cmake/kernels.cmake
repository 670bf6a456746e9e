# SPDX-License-Identifier: MIT
# Files of src/kern/<family>/ hold the same loops for one instruction set each. They alone get wide
# instructions; which one runs is decided at run time (src/kern/select.c). Nobody looks at floating
# point exceptions; saying so lets the compiler turn conditions into vector code, results unchanged.
set(loop_flags -O3 -fopenmp-simd -fno-trapping-math)
set_source_files_properties(src/kern/ref/portable.c PROPERTIES COMPILE_OPTIONS "${loop_flags}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(src/kern/x86/avx2.c PROPERTIES
    COMPILE_OPTIONS "${loop_flags};-ffp-contract=fast;-mavx2;-mfma")
  set_source_files_properties(src/kern/x86/avx512.c PROPERTIES COMPILE_OPTIONS
    "${loop_flags};-ffp-contract=fast;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mbmi2;-mprefer-vector-width=512")
  get_source_file_property(wide_options src/kern/x86/avx512.c COMPILE_OPTIONS)
  set_source_files_properties(src/kern/x86/vnni.c PROPERTIES COMPILE_OPTIONS "${wide_options};-mavx512vnni")
  set_source_files_properties(src/kern/x86/vbmi2.c PROPERTIES COMPILE_OPTIONS
    "${wide_options};-mavx512vnni;-mavx512vbmi2")
  set(kernel_definitions RELA_HAVE_AVX2 RELA_HAVE_AVX512 RELA_HAVE_VNNI RELA_HAVE_VBMI2)
  list(FILTER library_sources EXCLUDE REGEX "src/kern/arm/")
  include(CheckCCompilerFlag)
  check_c_compiler_flag("-mavxvnni" RELA_CAN_AVXVNNI)
  if(RELA_CAN_AVXVNNI)
    get_source_file_property(narrow_options src/kern/x86/avx2.c COMPILE_OPTIONS)
    set_source_files_properties(src/kern/x86/avxvnni.c PROPERTIES COMPILE_OPTIONS "${narrow_options};-mavxvnni")
    list(APPEND kernel_definitions RELA_HAVE_AVXVNNI)
  else()
    list(FILTER library_sources EXCLUDE REGEX "src/kern/x86/avxvnni.c")
  endif()
  check_c_compiler_flag("-mamx-tile -mamx-int8" RELA_CAN_AMX)
  if(RELA_CAN_AMX AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set_source_files_properties(src/kern/x86/amx.c PROPERTIES COMPILE_OPTIONS
      "${wide_options};-mavx512vnni;-mavx512vbmi2;-mamx-tile;-mamx-int8")
    list(APPEND kernel_definitions RELA_HAVE_AMX)
  else()
    list(FILTER library_sources EXCLUDE REGEX "src/kern/x86/amx.c")
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  include(CheckCCompilerFlag)
  set(neon_options "${loop_flags};-ffp-contract=fast")
  # GCC would load so far ahead that the sums of a block no longer fit the registers.
  check_c_compiler_flag("-fno-schedule-insns" RELA_CAN_NO_SCHEDULE)
  if(RELA_CAN_NO_SCHEDULE)
    list(APPEND neon_options -fno-schedule-insns)
  endif()
  set_source_files_properties(src/kern/arm/neon.c PROPERTIES COMPILE_OPTIONS "${neon_options}")
  set(kernel_definitions RELA_HAVE_NEON)
  list(FILTER library_sources EXCLUDE REGEX "src/kern/x86/")
  check_c_compiler_flag("-march=armv8.2-a+dotprod" RELA_CAN_DOTPROD)
  if(RELA_CAN_DOTPROD AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set_source_files_properties(src/kern/arm/dotprod.c PROPERTIES
      COMPILE_OPTIONS "${neon_options};-march=armv8.2-a+dotprod")
    list(APPEND kernel_definitions RELA_HAVE_DOTPROD)
  else()
    list(FILTER library_sources EXCLUDE REGEX "src/kern/arm/dotprod.c")
  endif()
else()
  list(FILTER library_sources EXCLUDE REGEX "src/kern/(x86|arm)/")
endif()

# Row functions of attention kinds that are not in the table: plain loops, for the baseline.
file(GLOB kind_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} src/nn/attn/kind_*.c)
set_source_files_properties(${kind_sources} PROPERTIES COMPILE_OPTIONS "${loop_flags}")
