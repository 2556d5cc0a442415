# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Functions that create libraries from the modules in src, and test programs from the folders in tests.

# The flags of all targets of the project.
add_library(huddle_flags INTERFACE)
target_compile_features(huddle_flags INTERFACE cxx_std_20)
target_include_directories(huddle_flags INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                  ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_BINARY_DIR}/generated)
target_compile_options(huddle_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
# Functions pass a call to each other as a small structure. With SLP vectorization, gcc copies two of its fields
# with one vector load right after two scalar stores have written them. The load stalls until both stores have left
# the store buffer, which took 10 of the 80 ns of an 8-byte broadcast. Loops that benefit from vectors use them
# explicitly.
target_compile_options(huddle_flags INTERFACE
                       $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-tree-slp-vectorize>)
if(HUDDLE_UNITY)
  # In a unity build a local variable may have the name of a constant in another source, and no source is the main
  # file.
  target_compile_options(huddle_flags INTERFACE
                         $<IF:$<COMPILE_LANG_AND_ID:CXX,GNU>,-Wno-shadow;-Wshadow=local,-Wno-shadow>
                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  # gcc spends a tenth of the compile time of a large source on garbage collection unless it may use 1 GiB first.
  target_compile_options(huddle_flags INTERFACE
                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)
  # Lets the linker remove unused functions from preloaded libraries.
  target_compile_options(huddle_flags INTERFACE -ffunction-sections -fdata-sections)
endif()
if(HUDDLE_WERROR)
  target_compile_options(huddle_flags INTERFACE -Werror)
endif()
if(HUDDLE_SANITIZE)
  target_compile_options(huddle_flags INTERFACE -fsanitize=${HUDDLE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(huddle_flags INTERFACE -fsanitize=${HUDDLE_SANITIZE})
endif()
target_compile_definitions(huddle_flags INTERFACE
                           $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# The modules that parse external input. With HUDDLE_FUZZ they are instrumented, so that the fuzzer sees which code an
# input reaches.
set(huddle_fuzzed_modules settings machine fabric mapping threads)

# Modules that generate text. Compiling them takes more time than optimized code would save.
set(huddle_text_modules picture doctor launch cli manual)

# huddle_module(FOLDER [SOURCES folder...] [USES module...] [READS module...] [LINKS target...]): creates the static
# library huddle_NAME from every .cc in FOLDER, or from those directly in the SOURCES folders below it. NAME is the last
# part of FOLDER. Then adds the folder's own CMakeLists.txt, if there is one. The module may include headers of the
# modules that it USES, which it also links, and of those that it READS, whose headers need no library. LINKS are
# external libraries, linked privately.
function(huddle_module folder)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;READS;LINKS" ${ARGN})
  cmake_path(GET folder FILENAME name)
  set(root ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  if(arg_SOURCES)
    list(TRANSFORM arg_SOURCES REPLACE "(.+)" "${root}/\\1/*.cc")
    file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/*.cc)
  endif()
  add_library(huddle_${name} STATIC ${sources})
  target_link_libraries(huddle_${name} PUBLIC huddle_flags fmt::fmt)
  foreach(module IN LISTS arg_USES)
    target_link_libraries(huddle_${name} PUBLIC huddle_${module})
  endforeach()
  target_link_libraries(huddle_${name} PRIVATE ${arg_LINKS})
  if(HUDDLE_FUZZ AND name IN_LIST huddle_fuzzed_modules)
    # -fsanitize=fuzzer-no-link adds these options, but clang rejects it if the precompiled header was built without it.
    target_compile_options(huddle_${name} PRIVATE
                           -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
  if(name IN_LIST huddle_text_modules)
    target_compile_options(huddle_${name} PRIVATE $<IF:$<BOOL:${HUDDLE_PRECOMPILE}>,-O0,$<$<CONFIG:RelWithDebInfo>:-O1>>)
  endif()
  if(HUDDLE_PRECOMPILE)
    huddle_precompile_module(${name})
  endif()
  if(EXISTS ${root}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
  set_property(GLOBAL APPEND PROPERTY HUDDLE_MODULE_FOLDERS ${folder})
endfunction()

# With sanitizers, half of the compile time of a source is spent in headers of libraries. They are precompiled once.
function(huddle_precompile_module name)
  set(first common)
  set(headers <fmt/format.h> <fmt/ranges.h> <algorithm> <array> <charconv> <filesystem> <functional> <map>
              <memory> <numeric> <optional> <set> <span> <sstream> <string> <variant> <vector>)
  if(name IN_LIST huddle_text_modules)
    list(GET huddle_text_modules 0 first)
    list(APPEND headers <nlohmann/json.hpp>)
    target_link_libraries(huddle_${name} PRIVATE nlohmann_json::nlohmann_json)
  endif()
  huddle_precompile(huddle_${name} huddle_${first} ${headers})
endfunction()

# huddle_precompile(TARGET FIRST HEADER...): precompiles the headers if TARGET is FIRST, or else reuses those of FIRST.
function(huddle_precompile target first)
  # Without a timestamp in the precompiled header, ccache can reuse the objects that were compiled with it.
  target_compile_options(${target} PRIVATE
                         $<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  # gcc 12 does not treat precompiled headers as system headers, and gives false warnings about copies in std::string.
  foreach(doubt array-bounds stringop-overflow stringop-overread)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-${doubt}>)
  endforeach()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# huddle_contains_runtime(TARGET): links TARGET so that it does not depend on the shared libstdc++ and libgcc.
function(huddle_contains_runtime target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:huddle_find_object>)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed
                      LINKER:--gc-sections)
endfunction()

# huddle_stands_alone(TARGET): the same, and TARGET contains the libraries that huddle uses.
function(huddle_stands_alone target)
  huddle_contains_runtime(${target})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:huddle_standalone>)
endfunction()

# huddle_contains_hwloc(TARGET): links TARGET with hwloc's static library if there is one. Debian compiles that library
# for programs only: a shared library cannot contain its accesses to variables of the C library. A copy of it accesses
# variables of huddle instead.
find_library(HUDDLE_STATIC_HWLOC libhwloc.a)
if(NOT HUDDLE_STATIC_HWLOC)
  message(STATUS "no libhwloc.a: huddle, huddle-look and libhuddle need libhwloc.so where they run")
else()
  set(huddle_own_hwloc ${PROJECT_BINARY_DIR}/libhwloc.a)
  execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=huddle_hwloc_stderr
                          --redefine-sym stdout=huddle_hwloc_stdout
                          --redefine-sym program_invocation_name=huddle_hwloc_program
                          ${HUDDLE_STATIC_HWLOC} ${huddle_own_hwloc} COMMAND_ERROR_IS_FATAL ANY)
endif()
function(huddle_contains_hwloc target)
  if(NOT HUDDLE_STATIC_HWLOC)
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/src/model/machine/static_hwloc)
  target_sources(${target} PRIVATE ${folder}/no_udev.c ${folder}/variables.c)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_link_options(${target} PRIVATE LINKER:--whole-archive ${huddle_own_hwloc} LINKER:--no-whole-archive)
endfunction()

# Seed of the property tests. It is fixed, so that a failure can be reproduced.
set(HUDDLE_TEST_SEED 20261120 CACHE STRING "Seed of the property tests")

# huddle_tests(MODULE [FOLDERS folder...] [LINKS target...]): creates one program, MODULE_tests, from every *_test.cc in
# this folder and in the FOLDERS below it.
function(huddle_tests module)
  cmake_parse_arguments(arg "" "" "FOLDERS;LINKS" ${ARGN})
  list(TRANSFORM arg_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM arg_FOLDERS APPEND /*_test.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc ${arg_FOLDERS})
  if(NOT sources)
    return()
  endif()
  add_executable(${module}_tests ${sources})
  target_link_libraries(${module}_tests PRIVATE huddle_${module} GTest::gmock_main rapidcheck ${arg_LINKS})
  target_compile_definitions(${module}_tests PRIVATE
                             HUDDLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             HUDDLE_BINARY_DIR="${PROJECT_BINARY_DIR}"
                             HUDDLE_PROGRAM="${huddle_program}")
  # With -O0 the tests would compile a third faster, but those of team would run three times as long.
  target_compile_options(${module}_tests PRIVATE $<IF:$<CONFIG:Debug>,-O0,-O1;-g1>)
  if(HUDDLE_PRECOMPILE OR HUDDLE_PRECOMPILE_TESTS)
    huddle_precompile(${module}_tests common_tests
      <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h> <fmt/format.h> <fmt/ranges.h> <algorithm> <filesystem>
      <fstream> <functional> <map> <memory> <optional> <set> <string> <thread> <vector>)
  endif()
  huddle_discover_tests(${module}_tests ${module})
endfunction()

# tests/labels.txt lists the tests of GoogleTest programs whose label is not "unit".
set(huddle_labels_file ${PROJECT_SOURCE_DIR}/tests/labels.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${huddle_labels_file})
file(STRINGS ${huddle_labels_file} huddle_label_lines REGEX "^[a-z]")

# huddle_discover_tests(TARGET NAME [PREFIX prefix]): adds the tests of a GoogleTest program to ctest as PREFIX.TEST
# (default: NAME.TEST), with the labels that tests/labels.txt gives to them under NAME.
function(huddle_discover_tests target name)
  cmake_parse_arguments(arg "" "PREFIX" "" ${ARGN})
  if(NOT arg_PREFIX)
    set(arg_PREFIX ${name})
  endif()
  set(groups "")
  foreach(line IN LISTS huddle_label_lines)
    if(line MATCHES "^${name} +([a-z,]+) +(.*)$")
      set(labels ${CMAKE_MATCH_1})
      string(REPLACE " " ":" filter ${CMAKE_MATCH_2})
      list(APPEND groups ${labels})
      list(APPEND filters_${labels} ${filter})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)

  set(common TEST_PREFIX ${arg_PREFIX}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
             PROPERTIES TIMEOUT 600 ENVIRONMENT "RC_PARAMS=seed=${HUDDLE_TEST_SEED}")
  set(labelled "")
  foreach(group IN LISTS groups)
    list(JOIN filters_${group} ":" filter)
    set(tests ${target}_TESTS_${group})
    string(MAKE_C_IDENTIFIER ${tests} tests)
    gtest_discover_tests(${target} TEST_FILTER "${filter}-${labelled}" TEST_LIST ${tests} ${common})
    # PROPERTIES above cannot hold a list, so ctest reads the labels from a separate file.
    string(REPLACE "," ";" labels ${group})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${tests}.cmake)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"if(@tests@)
  set_tests_properties(\${@tests@} PROPERTIES LABELS \"@labels@\")
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
    list(APPEND labelled ${filter})
    list(JOIN labelled ":" labelled)
  endforeach()
  gtest_discover_tests(${target} TEST_FILTER "-${labelled}" ${common} LABELS unit)

  # `make check MODULE=...` builds this target.
  string(REGEX REPLACE "[.].*" "" module ${arg_PREFIX})
  if(NOT TARGET check_${module})
    add_custom_target(check_${module})
  endif()
  add_dependencies(check_${module} ${target})
endfunction()
