/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * old_kernel PROGRAM ARGUMENT...: runs the program with the system calls of Linux 4.18.
 */
#include "../../../common/old_kernel.h"

#include <stdio.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count < 2) return 2;
  if (emulate_old_kernel() != 0) {
    perror("old_kernel: the filter of system calls");
    return 1;
  }
  execvp(words[1], words + 1);
  perror(words[1]);
  return 1;
}
