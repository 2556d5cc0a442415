/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* late_loader MODULE: loads an MPI late, with a module that is linked with it, and calls run(). */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void (*run)(void) = module != NULL ? (void (*)(void))(size_t)dlsym(module, "run") : NULL;
  if (run == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  run();
  return 0;
}
