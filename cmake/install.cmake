# SPDX-License-Identifier: MIT
# make install: program, both libraries, headers, pkg-config and CMake package files, manual pages
# and completions (made by the program itself from its option tables).
include(CMakePackageConfigHelpers)
install(TARGETS rela RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS rela_static rela_shared EXPORT rela-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET rela_mpi)
  install(TARGETS rela_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rela)
endif()
install(DIRECTORY include/rela DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT rela-targets NAMESPACE rela:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rela)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rela-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/rela-config.cmake.in rela-config.cmake @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rela-config.cmake ${CMAKE_BINARY_DIR}/rela-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rela)
# Outside the directories of the system programs find the library through their rpath, and rela.pc
# finds the prefix from its own place, because the prefix may be chosen when installing.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(pc_prefix /usr)
  set(pc_libs "-lrela")
else()
  file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
  set(pc_libs "-lrela -Wl,-rpath,\${libdir}")
endif()
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(pc_static "Libs.private: -ldnnl -lm -fopenmp\nRequires.private: ${rela_modules_text}\n")
configure_file(cmake/rela.pc.in rela.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/rela.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Models that commands find by name; make demo-model makes this one.
install(FILES ${CMAKE_BINARY_DIR}/demo.rela DESTINATION ${CMAKE_INSTALL_DATADIR}/rela OPTIONAL)

set(generated_dir ${CMAKE_BINARY_DIR}/generated/share)
add_custom_command(OUTPUT ${generated_dir}/done
  COMMAND ${CMAKE_SOURCE_DIR}/tools/generate ${rela_program} ${generated_dir}
  DEPENDS rela tools/generate)
add_custom_target(generated_texts ALL DEPENDS ${generated_dir}/done)
install(DIRECTORY ${generated_dir}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated_dir}/rela.bash RENAME rela
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${generated_dir}/_rela DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${generated_dir}/rela.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
