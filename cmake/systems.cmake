# The systems of this program: the lines "System name();" of systems/list.hpp, and a folder of somebody's own for each entry of
# VICINITY_SYSTEMS (docs/adding_an_algorithm.md), whose system is called as the folder, dashes as underscores. Sets VICINITY_SYSTEM_FOLDERS
# and generates build/generated/all_systems.cpp.
set(VICINITY_SYSTEMS "" CACHE STRING "Folders with further systems, separated by semicolons")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/systems/list.hpp)
file(STRINGS systems/list.hpp VICINITY_SYSTEM_NAMES REGEX "^System [a-z0-9_]+\\(\\);")
list(TRANSFORM VICINITY_SYSTEM_NAMES REPLACE "^System ([a-z0-9_]+)\\(\\);.*" "\\1")
set(declarations "")
set(VICINITY_SYSTEM_FOLDERS "")
foreach(folder ${VICINITY_SYSTEMS})
  get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  if(NOT IS_DIRECTORY ${folder})
    message(FATAL_ERROR "VICINITY_SYSTEMS: ${folder} is not a folder")
  endif()
  list(APPEND VICINITY_SYSTEM_FOLDERS ${folder})
  get_filename_component(name ${folder} NAME)
  string(REPLACE "-" "_" name ${name})
  list(APPEND VICINITY_SYSTEM_NAMES ${name})
  string(APPEND declarations "System ${name}();\n")
endforeach()
list(TRANSFORM VICINITY_SYSTEM_NAMES APPEND "()" OUTPUT_VARIABLE calls)
list(TRANSFORM calls PREPEND "systems::")
list(JOIN calls ", " calls)
list(JOIN VICINITY_SYSTEM_FOLDERS "\", \"" folders)
if(folders)
  set(folders "\"${folders}\"")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/all_systems.cpp CONTENT [[#include "systems/list.hpp"

namespace vicinity {
namespace systems {
@declarations@}  // namespace systems

const std::vector<System>& all_systems() {
  static const std::vector<System> all{@calls@};
  return all;
}

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> all{@folders@};
  return all;
}

}  // namespace vicinity
]] @ONLY)
# For the scripts: where else descriptors (FOLDER/experiments) and packages of papers (FOLDER/analysis) are. What is in the repository has a
# path below its root, so that a build folder may be copied.
set(VICINITY_SYSTEM_FOLDERS_FILE ${CMAKE_BINARY_DIR}/generated/system_folders.txt)
list(TRANSFORM VICINITY_SYSTEM_FOLDERS REPLACE "^${CMAKE_SOURCE_DIR}/" "" OUTPUT_VARIABLE folders)
list(TRANSFORM folders APPEND "\n")
string(CONCAT folders ${folders} "")
file(WRITE ${VICINITY_SYSTEM_FOLDERS_FILE} "${folders}")
