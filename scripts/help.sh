#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Prints the help of `make` and `make help`.
cat <<'TEXT'
huddle makes the cores of a machine talk faster.

Start here
  make demo        install missing packages, build, measure this machine quickly, draw it and write a report
  make test        the same set-up, then the tests that every change must pass
Use it
  make build       build/release/bin/huddle
  make install     install into PREFIX (default /usr/local); respects DESTDIR
  make package     a Debian package, in build/debian
  make wheel       a Python wheel with everything that huddle needs, in build/wheel
Work on it
  make check MODULE=node   build and run the quick tests of one module; takes seconds after a change
  make test-deep   sanitizers, fuzzing, all five MPIs, long proofs, a browser; CI runs them as well
  make format      run clang-format on all sources
  make tidy        check all sources with clang and clang-tidy
  make test-all    everything: all builds and MPIs, long fuzzing, aarch64, hosts, a clean Debian; takes hours
  make pictures    redraw docs/pictures
  make tables      regenerate the tables of the documents on this machine
  make clean       remove build/

Variables
  JOBS=N           number of parallel compilers and tests (default: number of cores)
  PREFIX=DIR       folder for `make install`
  PACKAGES=skip    do not check for Debian packages, if the libraries are installed in another way
  LABEL=NAME       `make check` runs only tests with this label: unit, measures, proof
  PART=NAME        `make test-all` runs only this part; PART=list prints the parts
  FUZZ_SECONDS=N   seconds for which `make test-all` fuzzes each target (default 180)

CMake presets (cmake --preset NAME; cmake --build build/NAME; ctest --preset NAME)
  release  what users get            asan   address and undefined-behaviour sanitizers, fuzz targets
  debug    assertions on             tsan   thread sanitizer
  clang    clang's warnings          tidy   clang-tidy while compiling
  check    what `make check` builds  aarch64  Arm, tested under qemu-user
CMake options
  HUDDLE_WERROR    warnings are errors (ON)
  HUDDLE_TESTS     build the tests (ON)
  HUDDLE_CHECKS    add style, sanitizer and fuzz tests to ctest (OFF; `make test` turns it on)
  HUDDLE_SANITIZE  sanitizers, as -fsanitize= takes them (none)
  HUDDLE_UNITY     unity builds: faster clean builds, slower incremental ones (OFF; `make demo`
                   and `make test` turn it on in a new folder)
  HUDDLE_FUZZ      build the libFuzzer targets, needs clang (OFF)
TEXT
