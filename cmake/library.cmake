# The library: each header include/vicinity/<name>.hpp is a target vicinity::<name>, which find_package(vicinity) offers after
# cmake --install; <name>.cuh beside it is for projects with CUDA. Installed are these, and of the tree the headers that they include, all
# below include/vicinity and including each other as "vicinity/...": a project may have a core/util/rng.hpp of its own. The component
# `library` is installed without a build: cmake --install build --component library --prefix <where>.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(VICINITY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/vicinity)

# Appends to a list the headers of the tree that a file includes, and those that these include.
function(vicinity_included file list)
  set(found ${${list}})
  file(STRINGS ${file} lines REGEX "^#include \"")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${line}")
    if(NOT header MATCHES "^vicinity/" AND NOT header IN_LIST found)
      list(APPEND found ${header})
      vicinity_included(${CMAKE_SOURCE_DIR}/${header} found)
    endif()
  endforeach()
  set(${list} ${found} PARENT_SCOPE)
endfunction()

add_library(vicinity_library INTERFACE)
set_target_properties(vicinity_library PROPERTIES EXPORT_NAME library)
target_include_directories(vicinity_library INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include;${CMAKE_SOURCE_DIR}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(vicinity_library INTERFACE cxx_std_20)
target_link_libraries(vicinity_library INTERFACE OpenMP::OpenMP_CXX)
# The same arithmetic and threads on the host, whichever compiler reads the header.
target_compile_options(vicinity_library INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-ffp-contract=off>
  "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-Xcompiler=-fopenmp,-ffp-contract=off>")
set(targets vicinity_library)
set(headers "")
file(GLOB public CONFIGURE_DEPENDS include/vicinity/*.hpp include/vicinity/*.cuh)
foreach(file ${public})
  vicinity_included(${file} headers)
  get_filename_component(name ${file} NAME_WE)
  if(NOT TARGET vicinity_library_${name})
    add_library(vicinity_library_${name} INTERFACE)
    add_library(vicinity::${name} ALIAS vicinity_library_${name})
    set_target_properties(vicinity_library_${name} PROPERTIES EXPORT_NAME ${name})
    target_link_libraries(vicinity_library_${name} INTERFACE vicinity_library)
    list(APPEND targets vicinity_library_${name})
  endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public} ${headers})

set(installed ${CMAKE_BINARY_DIR}/generated/include)
file(REMOVE_RECURSE ${installed})
foreach(header ${public} ${headers})
  file(READ ${header} text)
  string(REGEX REPLACE "#include \"(core|kernels)/" "#include \"vicinity/\\1/" text "${text}")
  string(REPLACE ${CMAKE_SOURCE_DIR}/include/vicinity/ "" copy ${header})
  file(WRITE ${installed}/vicinity/${copy} "${text}")
endforeach()
install(DIRECTORY ${installed}/vicinity DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(TARGETS ${targets} EXPORT vicinity COMPONENT library)
install(EXPORT vicinity NAMESPACE vicinity:: FILE vicinityTargets.cmake DESTINATION ${VICINITY_PACKAGE_DIR} COMPONENT library)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/vicinityConfig.cmake CONTENT [[include(CMakeFindDependencyMacro)
find_dependency(OpenMP COMPONENTS CXX)
if(CMAKE_CUDA_COMPILER_LOADED AND NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # nvcc has had C++20 since 12.0; CMake knows it from 3.26 on
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
if(CMAKE_CUDA_COMPILER_LOADED AND NOT CMAKE_CUDA_STANDARD)
  set(CMAKE_CUDA_STANDARD 20)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/vicinityTargets.cmake)
]] @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/vicinityConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/generated/vicinityConfig.cmake ${CMAKE_BINARY_DIR}/generated/vicinityConfigVersion.cmake
  DESTINATION ${VICINITY_PACKAGE_DIR} COMPONENT library)
