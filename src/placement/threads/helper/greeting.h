/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* The protocol between the preloaded helper (C) and the agent (C++). */
#pragma once

/* The environment variable with the name of the agent's abstract socket. */
#define HUDDLE_AGENT_VARIABLE "_HUDDLE_AGENT"

/* From linux/userfaultfd.h; missing in the headers of older distributions. */
#define HUDDLE_UFFD_USER_MODE_ONLY 1   /* since Linux 5.11 */
#define HUDDLE_UFFD_WP_ASYNC (1 << 15) /* since Linux 6.7 */

/* Sent with the descriptor as ancillary data, if it could be opened. */
struct huddle_greeting {
  int error; /* errno if it could not be opened */
};
