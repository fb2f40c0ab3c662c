# Identity of the code that computes: SHA-256 over sources of core/, data/, cpu_ref/, kernels/, systems/. One hash of each system, recorded with
# its results and compared by `make test` with what a GPU last verified: over all files but those that only other systems use. That is
#   core/methods/NAME/, cpu_ref/NAME/, kernels/NAME/, systems/NAME*  of another system,
#   core/problems/PROBLEM/  of a problem that neither its own files include nor what these include of data/,
#   in data/, a file (X.hpp and X.cpp as one) which includes such a problem,
#   systems/list.hpp, where a further system adds its line, and systems/file_extras.hpp, which is about pictures and files.
# Below that, systems/NAME.parts tells files that only some implementations of the system compute with, so that a change of one of them is a
# change of these alone: a record's hash is that of its implementation, over the parts that concern it. A line has a regular expression of
# paths and one of whole names of implementations, or "-": of none, as a front end. The first line that fits a file counts, and what fits
# none concerns all; so do no tables, where an implementation adds its line. Who includes a file concerns no others than it does
# (tests/cli/test_source_hash.py).
# "shared" is over what all of them use; "all" is over everything and the folders that the lines of FOLDERS_FILE
# name (build/generated/system_folders.txt; there need not be one), and stands for systems of such folders. Run with -P it prints NAME HASH
# lines; included, it adds the target that keeps build/generated/source_hash.hpp current.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  file(STRINGS ${root}/systems/list.hpp systems REGEX "^System [a-z0-9_]+\\(\\);")
  list(TRANSFORM systems REPLACE "^System ([a-z0-9_]+)\\(\\);.*" "\\1")
  file(GLOB_RECURSE sources RELATIVE ${root} ${root}/core/*.?pp ${root}/data/*.?pp ${root}/cpu_ref/*.?pp ${root}/kernels/*.cu ${root}/kernels/*.cuh ${root}/kernels/*.?pp ${root}/systems/*.?pp)
  list(SORT sources)

  # The problems, and the stems below data/, that a file includes, gathered for its own stem or its system.
  set(stems "")
  foreach(source ${sources})
    file(SHA256 ${root}/${source} digest)
    set(line_of_${source} "${source} ${digest}\n")
    set(owner "")
    if(source MATCHES "^(core/methods|cpu_ref|kernels|systems)/([a-z0-9]+)[/._]" AND CMAKE_MATCH_2 IN_LIST systems)
      set(owner ${CMAKE_MATCH_2})
    elseif(source MATCHES "^(data/.*)\\.")
      set(owner ${CMAKE_MATCH_1})
      list(APPEND stems ${owner})
    endif()
    set(owner_of_${source} "${owner}")
    if(owner)
      file(STRINGS ${root}/${source} includes REGEX "^#include \"(core/problems/|data/)")
      foreach(include ${includes})
        if(include MATCHES "\"core/problems/([^/\"]+)/")
          list(APPEND problems_of_${owner} ${CMAKE_MATCH_1})
        elseif(include MATCHES "\"(data/.*)\\.")
          list(APPEND stems_of_${owner} ${CMAKE_MATCH_1})
        endif()
      endforeach()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES stems)
  set(grown TRUE)
  while(grown)  # what is included by what is included
    set(grown FALSE)
    foreach(user ${stems} ${systems})
      set(found ${problems_of_${user}})
      foreach(stem ${stems_of_${user}})
        list(APPEND found ${problems_of_${stem}})
      endforeach()
      list(REMOVE_DUPLICATES found)
      list(SORT found)
      if(NOT "${found}" STREQUAL "${problems_of_${user}}")
        set(problems_of_${user} ${found})
        set(grown TRUE)
      endif()
    endforeach()
  endwhile()

  set(part_systems_0 ".*")
  set(part_files_0 "^(cpu_ref|kernels)/[a-z]+/(hybrid/)?implementations\\.")
  set(part_users_0 "-")
  set(last_part 0)
  foreach(system ${systems})
    if(EXISTS ${root}/systems/${system}.parts)
      file(STRINGS ${root}/systems/${system}.parts lines REGEX "^[^#]")
      foreach(line ${lines})
        separate_arguments(words UNIX_COMMAND "${line}")
        math(EXPR last_part "${last_part} + 1")
        set(part_systems_${last_part} ${system})
        list(GET words 0 part_files_${last_part})
        list(GET words 1 part_users_${last_part})
      endforeach()
    endif()
  endforeach()
  # The first part that a file of a system belongs to; -1: of all its implementations.
  function(part_of system source variable)
    foreach(part RANGE ${last_part})
      if(system MATCHES "^(${part_systems_${part}})$" AND source MATCHES "${part_files_${part}}")
        set(${variable} ${part} PARENT_SCOPE)
        return()
      endif()
    endforeach()
    set(${variable} -1 PARENT_SCOPE)
  endfunction()

  function(hash_of text variable)
    string(SHA256 hash "${text}")
    string(SUBSTRING ${hash} 0 16 hash)
    set(${variable} ${hash} PARENT_SCOPE)
  endfunction()
  set(all "")
  foreach(user shared ${systems})
    set(text_of_${user} "")
  endforeach()
  foreach(source ${sources})
    string(APPEND all "${line_of_${source}}")
    if(source MATCHES "^systems/(list|file_extras)\\.hpp$")
      continue()
    endif()
    set(owner "${owner_of_${source}}")
    set(needed "")
    if(source MATCHES "^core/problems/([^/]+)/")
      set(needed ${CMAKE_MATCH_1})
    elseif(owner IN_LIST stems)
      set(needed ${problems_of_${owner}})
      set(owner "")
    endif()
    foreach(user shared ${systems})
      set(lacking ${needed})
      list(REMOVE_ITEM lacking "" ${problems_of_${user}})
      if(NOT lacking AND (owner STREQUAL "" OR owner STREQUAL user))
        string(APPEND text_of_${user} "${line_of_${source}}")
        part_of(${user} ${source} part)
        string(APPEND text_of_${user}_${part} "${line_of_${source}}")
      endif()
    endforeach()
  endforeach()
  set(folders "")
  if(FOLDERS_FILE AND EXISTS ${FOLDERS_FILE})
    file(STRINGS ${FOLDERS_FILE} folders)
  endif()
  foreach(folder ${folders})
    get_filename_component(name ${folder} NAME)  # not where it stands
    get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${root})
    file(GLOB_RECURSE sources RELATIVE ${folder} ${folder}/*.cu ${folder}/*.cuh ${folder}/*.?pp)
    list(SORT sources)
    foreach(source ${sources})
      file(SHA256 ${folder}/${source} digest)
      string(APPEND all "${name}/${source} ${digest}\n")
    endforeach()
  endforeach()
  hash_of("${all}" hash)
  set(lines "all ${hash}\n")
  set(entries "")
  set(parts "")
  set(part_users_-1 ".*")
  foreach(user shared ${systems})
    hash_of("${text_of_${user}}" own)
    string(APPEND lines "${user} ${own}\n")
    string(APPEND entries "    {\"${user}\", \"${own}\"},\n")
    foreach(part RANGE -1 ${last_part})
      if(DEFINED text_of_${user}_${part} AND NOT "${part_users_${part}}" STREQUAL "-")
        hash_of("${text_of_${user}_${part}}" own)
        string(APPEND parts "    {\"${user}\", \"${part_users_${part}}\", \"${own}\"},\n")
      endif()
    endforeach()
  endforeach()
  if(PARTS)  # of all systems: what the generated header has
    message("${parts}")
  elseif(LIST)  # of a system: the files
    message("${text_of_${LIST}}")
  elseif(OUTPUT)
    file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[#pragma once

#include <string_view>
#include <utility>

inline constexpr char vicinity_source_hash[] = "@hash@";
inline constexpr std::pair<std::string_view, std::string_view> vicinity_system_hashes[] = {
@entries@};
/// Of a system: a part of its files, and a regular expression of the implementations that it concerns.
struct VicinitySourcePart {
  std::string_view system, implementations, hash;
};
inline constexpr VicinitySourcePart vicinity_source_parts[] = {
@parts@};
]] @ONLY)
  else()
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo_append "${lines}")
  endif()
  return()
endif()

set(VICINITY_GENERATED ${CMAKE_BINARY_DIR}/generated)
add_custom_target(vicinity_source_hash_file
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${VICINITY_GENERATED}/source_hash.hpp -DFOLDERS_FILE=${VICINITY_SYSTEM_FOLDERS_FILE} -P ${CMAKE_CURRENT_LIST_DIR}/source_hash.cmake
  BYPRODUCTS ${VICINITY_GENERATED}/source_hash.hpp)
add_library(vicinity_source_hash INTERFACE)
add_dependencies(vicinity_source_hash vicinity_source_hash_file)
target_include_directories(vicinity_source_hash INTERFACE ${VICINITY_GENERATED})
