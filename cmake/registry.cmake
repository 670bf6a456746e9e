# SPDX-License-Identifier: MIT
# rela_registry(OUTPUT GLOB PREFIX): writes one line X(stem) per file <PREFIX><stem>.c, sorted, so
# that a new file joins a table without any other edit. CMake runs again when files come or go.
function(rela_registry output glob prefix)
  file(GLOB files CONFIGURE_DEPENDS ${glob})
  list(SORT files)
  set(text "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    string(REGEX REPLACE "^${prefix}" "" stem ${stem})
    string(APPEND text "X(${stem})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
