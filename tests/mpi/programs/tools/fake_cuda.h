/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * What the stand-in for CUDA's driver has for tests, beside what the driver has.
 */
#ifndef HUDDLE_TESTS_FAKE_CUDA_H
#define HUDDLE_TESTS_FAKE_CUDA_H

#include <stddef.h>

enum fake_kind { fake_device, fake_managed, fake_host };

int cuInit(unsigned flags);
/* Never freed. From one thread at a time. */
void* fake_block(size_t bytes, enum fake_kind kind);
/* Between host memory and such a block. */
void fake_write(void* to, const void* from, size_t bytes);
void fake_read(void* to, const void* from, size_t bytes);
/* How often anybody asked what an address is. */
long fake_questions(void);

#endif
