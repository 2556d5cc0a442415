/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Simulates Level Zero's loader with two drivers, each of which knows one address.
 */
#include <stdint.h>

enum { success = 0, uninitialized = 0x78000001, invalid = 0x78000004 };
enum { context_structure = 0xd, properties_structure = 0x17 };

struct context_wish {
  int structure;
  const void* next;
  uint32_t flags;
};
struct properties {
  int structure;
  void* next;
  int type;
  uint64_t id;
  uint64_t page_bytes;
};

static int has_started;
static const void* known[2];
static int types[2];
static int contexts[2];

void fake_start(void) { has_started = 1; }
void fake_set(int driver, const void* address, int type) {
  known[driver] = address;
  types[driver] = type;
}

int zeDriverGet(uint32_t* count, void** drivers) {
  if (!has_started) return uninitialized;
  for (uint32_t i = 0; i < 2 && i < *count; ++i) drivers[i] = &known[i];
  *count = 2;
  return success;
}
int zeContextCreate(void* driver, const struct context_wish* request, void** context) {
  if (request->structure != context_structure) return invalid;
  *context = &contexts[(const void**)driver - known];
  return success;
}
int zeMemGetAllocProperties(void* context, const void* address, struct properties* properties,
                            void** device) {
  const int driver = (int)((int*)context - contexts);
  if (properties->structure != properties_structure) return invalid;
  properties->type = address == known[driver] ? types[driver] : 0;
  *device = 0;
  return success;
}
