# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Builds the BPF program that observes page faults: clang compiles it, and bpftool generates a skeleton header.
# The program is optional.
include(CheckCSourceCompiles)

option(HUDDLE_BPF "Build the BPF program that watches page faults, where libbpf, clang and bpftool are there" ON)

# huddle_bpf_faults(TARGET): adds the sources that load the BPF program, or a stub that reports why it is missing.
function(huddle_bpf_faults target)
  find_program(HUDDLE_BPF_CLANG clang DOC "The compiler of BPF programs")
  find_program(HUDDLE_BPFTOOL bpftool PATHS /usr/sbin DOC "Makes headers of BPF programs")
  pkg_check_modules(libbpf QUIET IMPORTED_TARGET libbpf>=1.0)
  if(NOT HUDDLE_BPF OR NOT HUDDLE_BPF_CLANG OR NOT HUDDLE_BPFTOOL OR NOT libbpf_FOUND OR CMAKE_CROSSCOMPILING)
    message(STATUS "Without the BPF observer: it takes libbpf 1.0 or newer, clang and bpftool (Debian: "
                   "libbpf-dev clang bpftool), and no cross compiler")
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/bpf_absent/bpf_faults.cc)
    return()
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/bpf/page_faults.bpf.c)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/bpf/huddle)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/bpf/page_faults.bpf.o)
  file(MAKE_DIRECTORY ${folder})
  # clang has no system headers for the BPF target. The host's headers define __u64 and related types.
  add_custom_command(
    OUTPUT ${folder}/page_faults.skel.h
    COMMAND ${HUDDLE_BPF_CLANG} -target bpf -O2 -g -Wall -Werror -isystem
            /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -ffile-prefix-map=${PROJECT_BINARY_DIR}=.
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -c ${source} -o ${object}
    COMMAND ${HUDDLE_BPFTOOL} gen skeleton ${object} name page_faults_bpf > ${folder}/page_faults.skel.h
    DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/bpf/event.h
    COMMENT "Compiling the BPF program" VERBATIM)
  # TARGET belongs to the parent folder, in which the rule that generates the header is not visible.
  add_custom_target(huddle_bpf_skeleton DEPENDS ${folder}/page_faults.skel.h)
  add_dependencies(${target} huddle_bpf_skeleton)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/bpf_built/bpf_faults.cc)
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/bpf)
  # Minimal systems have none of these libraries. Some builds of libelf need further ones, such as libzstd.
  find_library(HUDDLE_STATIC_LIBBPF libbpf.a)
  find_library(HUDDLE_STATIC_LIBELF libelf.a)
  find_library(HUDDLE_STATIC_ZLIB libz.a)
  set(static ${HUDDLE_STATIC_LIBBPF} ${HUDDLE_STATIC_LIBELF} ${HUDDLE_STATIC_ZLIB})
  set(CMAKE_REQUIRED_LIBRARIES ${static})
  check_c_source_compiles("#include <bpf/libbpf.h>
    int main(void) { return bpf_object__open_mem(0, 0, 0) != 0; }" HUDDLE_LINKS_STATIC_LIBBPF)
  if(HUDDLE_LINKS_STATIC_LIBBPF)
    target_link_libraries(${target} PRIVATE ${static})
  else()
    target_link_libraries(${target} PRIVATE PkgConfig::libbpf)
  endif()
endfunction()
