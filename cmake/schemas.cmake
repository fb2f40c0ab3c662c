# build/generated/schemas.hpp: the schemas of docs/schema/ by which the program checks what it reads, as texts.
set(content "#pragma once\n")
foreach(name record environment)
  set(file ${CMAKE_CURRENT_LIST_DIR}/../docs/schema/${name}.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(APPEND content "inline constexpr char ${name}_schema[] = R\"json(${text})json\";\n")
endforeach()
file(CONFIGURE OUTPUT ${VICINITY_GENERATED}/schemas.hpp CONTENT "@content@" @ONLY)
