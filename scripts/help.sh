#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Prints the help of `make` and `make help`.
cat <<'TEXT'
huddle makes the cores of a machine talk faster.

Start here
  make demo        install what is missing, build, measure this machine quickly, draw it, report
  make test        the same set-up, then the tests that every change has to pass
Use it
  make build       build/release/bin/huddle
  make install     into PREFIX (default /usr/local); DESTDIR is honoured
  make package     a Debian package, in build/debian
Work on it
  make check MODULE=node   build and run the quick tests of one module: seconds after a change
  make test-deep   sanitizers, fuzzing, all five MPIs, long proofs, a browser: what CI runs as well
  make format      clang-format over every source
  make tidy        clang and clang-tidy over every source
  make test-all    everything: all builds and MPIs, long fuzzing, aarch64, hosts, a clean Debian; hours
  make pictures    draw docs/pictures again
  make tables      measure the tables of docs/guide.md again, on this machine
  make clean       remove build/

Variables
  JOBS=N           compilers and tests at once (default: every core)
  PREFIX=DIR       where `make install` goes
  PACKAGES=skip    do not look for Debian packages: you have the libraries by other means
  LABEL=NAME       `make check` runs only tests with this label: unit, measures, proof
  PART=NAME        `make test-all` runs only this part; PART=list prints the parts
  FUZZ_SECONDS=N   how long `make test-all` fuzzes each target (default 180)

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
  HUDDLE_UNITY     compile several sources at once: faster from nothing, slower after a change (OFF; `make demo`
                   and `make test` turn it on in a new folder)
  HUDDLE_FUZZ      build the libFuzzer targets, needs clang (OFF)
TEXT
