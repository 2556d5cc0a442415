/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Functions of the simulated CUDA driver for tests, in addition to those of the driver.
 */
#ifndef HUDDLE_TESTS_FAKE_CUDA_H
#define HUDDLE_TESTS_FAKE_CUDA_H

#include <stddef.h>

enum fake_kind { fake_device, fake_managed, fake_host };

int cuInit(unsigned flags);
/* Allocates a block, which is never freed. Requires: one thread at a time. */
void* fake_block(size_t bytes, enum fake_kind kind);
/* Copy from host memory to such a block, and back. */
void fake_write(void* to, const void* from, size_t bytes);
void fake_read(void* to, const void* from, size_t bytes);
/* Returns the number of queries about addresses. */
long fake_questions(void);

#endif
