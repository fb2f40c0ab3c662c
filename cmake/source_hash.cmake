# Identity of the code that computes: a SHA-256 over every source of core/, data/, cpu_ref/, kernels/ and systems/. Recorded with each
# result, and compared by `make test` with what a GPU last verified. Run with -P it prints the hash; included, it adds the
# target that keeps build/generated/source_hash.hpp current.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  file(GLOB_RECURSE sources RELATIVE ${root} ${root}/core/*.?pp ${root}/data/*.?pp ${root}/cpu_ref/*.?pp ${root}/kernels/*.cu ${root}/kernels/*.cuh ${root}/kernels/*.?pp ${root}/systems/*.?pp)
  list(SORT sources)
  set(all "")
  foreach(source ${sources})
    file(SHA256 ${root}/${source} digest)
    string(APPEND all "${source} ${digest}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 16 hash)
  if(OUTPUT)
    file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\ninline constexpr char vicinity_source_hash[] = \"@hash@\";\n" @ONLY)
  else()
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${hash})
  endif()
  return()
endif()

set(VICINITY_GENERATED ${CMAKE_BINARY_DIR}/generated)
add_custom_target(vicinity_source_hash_file
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${VICINITY_GENERATED}/source_hash.hpp -P ${CMAKE_CURRENT_LIST_DIR}/source_hash.cmake
  BYPRODUCTS ${VICINITY_GENERATED}/source_hash.hpp)
add_library(vicinity_source_hash INTERFACE)
add_dependencies(vicinity_source_hash vicinity_source_hash_file)
target_include_directories(vicinity_source_hash INTERFACE ${VICINITY_GENERATED})
