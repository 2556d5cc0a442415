#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# What `make` and `make help` print.
cat <<'TEXT'
huddle makes the cores of a machine talk faster.

Start here
  make demo        install what is missing, build, measure this machine quickly, draw it, report
  make test        the same set-up, then every test that a change has to pass
Use it
  make build       build/release/bin/huddle
  make install     into PREFIX (default /usr/local); DESTDIR is honoured
  make package     a Debian package, in build/debian
Work on it
  make format      clang-format over every source
  make tidy        clang and clang-tidy over every source
  make test-all    the full matrix: debug, sanitizers, clang, long fuzzing, aarch64, a clean Debian
  make pictures    draw docs/pictures again
  make tables      measure the tables of docs/guide.md again, on this machine
  make clean       remove build/

Variables
  JOBS=N           compilers and tests at once (default: every core)
  PREFIX=DIR       where `make install` goes
  PACKAGES=skip    do not look for Debian packages: you have the libraries by other means
  FUZZ_SECONDS=N   how long `make test-all` fuzzes each target (default 180)

CMake presets (cmake --preset NAME; cmake --build build/NAME; ctest --preset NAME)
  release  what users get            asan   address and undefined-behaviour sanitizers
  debug    assertions on             tsan   thread sanitizer
  clang    clang's warnings          tidy   clang-tidy while compiling
  fuzz     libFuzzer targets         aarch64  Arm, tested under qemu-user
CMake options
  HUDDLE_WERROR    warnings are errors (ON)
  HUDDLE_TESTS     build the tests (ON)
  HUDDLE_CHECKS    add style, sanitizer and fuzz checks to ctest (OFF; `make test` turns it on)
  HUDDLE_SANITIZE  sanitizers, as -fsanitize= takes them (none)
  HUDDLE_FUZZ      build the libFuzzer targets, needs clang (OFF)
TEXT
