/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the huddle contributors
 *
 * Starts a program of the portable folder. These programs come with their own C library, which only
 * its own loader can load, and the absolute path of that loader is not known when they are linked.
 * Therefore NAME is this static program, and it runs NAME.program, the real one, by the loader. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { words_before = 7, longest_path = 2 * PATH_MAX };

static const char loader_name[] = "/system/loader";

static void fail(const char* what) {
  perror(what);
  exit(127);
}

/* Removes the last component of the path. Returns 0 if there is only one. */
static int up(char* path) {
  char* const slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
  return slash != NULL;
}

/* Finds the closest parent folder that contains the loader. */
static void find_root(const char* self, char* root, char* loader) {
  strcpy(root, self);
  while (up(root)) {
    snprintf(loader, longest_path, "%s%s", root, loader_name);
    if (access(loader, X_OK) == 0) return;
  }
  fail(self);
}

int main(int argc, char** argv) {
  char self[PATH_MAX];
  char root[PATH_MAX];
  char folder[PATH_MAX];
  char loader[longest_path];
  char program[longest_path];
  char libraries[longest_path];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) fail("/proc/self/exe");
  self[length] = '\0';
  find_root(self, root, loader);
  strcpy(folder, self);
  up(folder);
  snprintf(program, sizeof program, "%s.program", self);
  snprintf(libraries, sizeof libraries, "%s/system:%s/../lib", root, folder);

  char** const words = calloc((size_t)argc + words_before + 1, sizeof *words);
  if (words == NULL) fail(self);
  char* const before[words_before] = {loader,    "--inhibit-cache", "--library-path", libraries,
                                      "--argv0", argv[0],           program};
  memcpy(words, before, sizeof before);
  for (int i = 1; i < argc; ++i) words[words_before + i - 1] = argv[i];
  execv(loader, words);
  fail(loader);
}
