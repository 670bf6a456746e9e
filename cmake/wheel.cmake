# SPDX-License-Identifier: MIT
# What a wheel has besides the Python files (pyproject.toml): in the folder of the package the library, the program and what C
# programs need, and a script that starts the program. Wheels have no links, so the library has one name.
set_target_properties(rela_shared PROPERTIES VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(TARGETS rela_shared COMPONENT wheel LIBRARY DESTINATION rela NAMELINK_SKIP)
install(TARGETS rela COMPONENT wheel RUNTIME DESTINATION rela/bin)
install(PROGRAMS python/program/rela DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
install(DIRECTORY include/rela DESTINATION rela/include COMPONENT wheel FILES_MATCHING PATTERN "*.h")
set(pc_prefix "\${pcfiledir}/..")
set(pc_includedir "\${prefix}/include")
set(pc_libdir "\${prefix}")
set(pc_libs "-l:$<TARGET_SONAME_FILE_NAME:rela_shared> -Wl,-rpath,\${libdir}")
configure_file(cmake/rela.pc.in rela.pc.wheel @ONLY)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/wheel/rela.pc INPUT ${CMAKE_BINARY_DIR}/rela.pc.wheel)
install(FILES ${CMAKE_BINARY_DIR}/wheel/rela.pc DESTINATION rela/pkgconfig COMPONENT wheel)
