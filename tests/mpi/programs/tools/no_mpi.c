/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program without MPI that prints which libraries are mapped.
 */
#include <stdio.h>
#include <string.h>

int main(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    const char* file = strrchr(line, '/');
    if (file != NULL && strstr(file, ".so") != NULL) printf("%s", file);
  }
  if (maps != NULL) fclose(maps);
  printf("done\n");
  return 0;
}
