/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Runs plugin_main() of the library argv[1], which it loads as interpreters load their extensions:
 * its symbols and those of its dependencies stay private.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "cannot load the plugin: %s\n", dlerror());
    return 1;
  }
  int (*run)(int, char**) = (int (*)(int, char**))(size_t)dlsym(plugin, "plugin_main");
  return run != NULL ? run(1, argv) : 1;
}
