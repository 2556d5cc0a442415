/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Simulates ROCm's runtime: tests set its version and the properties of an address.
 */
#include <string.h>

struct attributes {
  int type;
  int device;
  void* device_address;
  void* host_address;
  int is_managed;
  unsigned flags;
};

static int version;
static struct attributes known; /* of the only known address */
static const void* known_address;
static int last_error;

void fake_set(int new_version, const void* address, int type, int is_managed) {
  version = new_version;
  known_address = address;
  memset(&known, 0, sizeof known);
  known.type = type;
  known.is_managed = is_managed;
}
void fake_fail(int error) { last_error = error; }

int hipPointerGetAttributes(struct attributes* attributes, const void* address) {
  if (address != known_address) return last_error = 1;
  *attributes = known;
  return 0;
}
int hipRuntimeGetVersion(int* number) {
  *number = version;
  return 0;
}
int hipPeekAtLastError(void) { return last_error; }
int hipGetLastError(void) {
  const int error = last_error;
  last_error = 0;
  return error;
}
