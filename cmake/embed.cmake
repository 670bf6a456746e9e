# SPDX-License-Identifier: MIT
# cmake -DFOLDER=src/page -DOUTPUT=FILE -P embed.cmake: the style sheets and modules of pages as C arrays, with the SHA-256 of
# those that a page may run. Browsers can load no module from inside a page, so the modules become one: without the lines that
# import, and without the word export. Their top-level names are therefore unique, which the build checks.
cmake_minimum_required(VERSION 3.21)
set(modules data state dom surface map headpanel words grid details lists translate main)

# embed(NAME TEXT): an array of bytes, its length, and the hash as hexadecimal digits
function(embed name text)
  string(SHA256 hash "${text}")
  string(HEX "${text}" digits)
  string(LENGTH "${digits}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" digits "${digits}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," digits "${digits}")
  file(APPEND ${OUTPUT}.new "static const unsigned char ${name}[] = {\n${digits}0 };\nenum { ${name}_LEN = ${length} };\n"
    "#define ${name}_SHA256 \"${hash}\"\n")
endfunction()

file(WRITE ${OUTPUT}.new "/* Made by cmake/embed.cmake from src/page. */\n")
file(READ ${FOLDER}/look.css look)
foreach(style viewer report study)
  if(EXISTS ${FOLDER}/${style}.css)
    file(READ ${FOLDER}/${style}.css text)
    string(TOUPPER ${style} name)
    embed(${name}_CSS "${look}${text}")
  endif()
endforeach()

set(script "\"use strict\";\n")
set(names "")
foreach(module ${modules})
  file(READ ${FOLDER}/${module}.js text)
  string(REGEX REPLACE "\nimport [^\n]*" "" text "${text}")
  string(REGEX REPLACE "\nexport " "\n" text "${text}")
  string(REGEX MATCHALL "\n(async function|function|const|let|class) [A-Za-z_]+" found "${text}")
  foreach(one ${found})
    string(REGEX REPLACE ".* " "" one "${one}")
    if(one IN_LIST names)
      message(FATAL_ERROR "${FOLDER}/${module}.js: ${one} is the name of something in another module too")
    endif()
    list(APPEND names ${one})
  endforeach()
  string(APPEND script "${text}")
endforeach()
embed(VIEWER_JS "${script}")
file(RENAME ${OUTPUT}.new ${OUTPUT})
