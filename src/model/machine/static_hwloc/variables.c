/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Copies of the C library's variables that hwloc reads. See huddle_contains_hwloc() in
 * cmake/Modules.cmake.
 */
#include <errno.h>
#include <stdio.h>

/* NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the C library */
__attribute__((visibility("hidden"))) FILE* huddle_hwloc_stderr;
__attribute__((visibility("hidden"))) FILE* huddle_hwloc_stdout;
__attribute__((visibility("hidden"))) char* huddle_hwloc_program;
/* NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables) */

__attribute__((constructor)) static void copy_variables(void) {
  huddle_hwloc_stderr = stderr;
  huddle_hwloc_stdout = stdout;
  huddle_hwloc_program = program_invocation_name;
}
