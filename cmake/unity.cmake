# With VICINITY_UNITY the sources of a folder are compiled as one, but for those that define a name that another of the folder defines, and
# for kernels that would get other registers beside others. Of a system these stand in systems/NAME.alone. nvcc reads the headers three times
# for each file: with VICINITY_QUICK_CUDA the .cu of a system are compiled as one, also those of which the list says "registers", but for the
# folders that it names.
set(VICINITY_ALONE
    data/formats/flatzinc.cpp data/formats/qaplib.cpp data/qaps.cpp data/tsps.cpp data/vrps.cpp kernels/cuda/runtime/ceilings_latency.cu
    tests/core/problems/qap/qap_test.cpp tests/data/formats/dimacs_test.cpp tests/data/formats/flatzinc_test.cpp
    tests/data/formats/qaplib_test.cpp tests/data/formats/tsplib_test.cpp tests/data/vrps_test.cpp)
file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/systems/*.alone)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists})
foreach(list ${lists})
  file(STRINGS ${list} paths REGEX "^[^#]")
  if(VICINITY_QUICK_CUDA)
    list(FILTER paths EXCLUDE REGEX " registers$")
  endif()
  list(TRANSFORM paths REPLACE " registers$" "")
  list(APPEND VICINITY_ALONE ${paths})
endforeach()

# The folder with which a source is compiled, from the root; none for one that is compiled alone, as those of a further system outside are.
function(vicinity_unity_folder source variable)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE path)
  cmake_path(GET path PARENT_PATH folder)
  if(path IN_LIST VICINITY_ALONE OR path MATCHES "^\\.\\.")
    set(folder "")
  elseif(VICINITY_QUICK_CUDA AND path MATCHES "\\.cu$" AND NOT folder IN_LIST VICINITY_ALONE)
    string(REGEX REPLACE "^([^/]+/[^/]+)/.*" "\\1" folder ${folder})
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

function(vicinity_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${VICINITY_UNITY} UNITY_BUILD_MODE GROUP)
  if(VICINITY_UNITY)  # g++ takes a source that is included for a header, whose types others would see
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
  foreach(source ${ARGN})
    vicinity_unity_folder(${source} folder)
    if(folder)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
    endif()
  endforeach()
endfunction()

# The same for .cu, which CMake does not join: replaces in a list those of a folder by one that includes them. Each is written once: one that
# grew on the disk would be new to the build whenever CMake runs.
function(vicinity_join_cuda list)
  set(joined "")
  set(folders "")
  foreach(source ${${list}})
    vicinity_unity_folder(${source} folder)
    if(folder)
      string(APPEND text_of_${folder} "#include \"${source}\"\n")
      list(APPEND folders ${folder})
    else()
      list(APPEND joined ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(file ${CMAKE_BINARY_DIR}/generated/joined/${folder}.cu)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_of_${folder}}")
    list(APPEND joined ${file})
  endforeach()
  set(${list} ${joined} PARENT_SCOPE)
endfunction()
