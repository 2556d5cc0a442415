/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * What the preloaded helper and the agent agree on, in C for the one and C++ for the other.
 */
#pragma once

/* The name of the agent's abstract socket. */
#define HUDDLE_AGENT_VARIABLE "_HUDDLE_AGENT"

/* Of linux/userfaultfd.h, whose copy in older distributions has not got them. */
#define HUDDLE_UFFD_USER_MODE_ONLY 1   /* since Linux 5.11 */
#define HUDDLE_UFFD_WP_ASYNC (1 << 15) /* since Linux 6.7 */

/* With it comes the descriptor, where it could be opened. */
struct huddle_greeting {
  int error; /* an errno: why it could not */
};
