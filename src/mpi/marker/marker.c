/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A library with nothing in it: what was loaded after it comes behind it in the loader's list. See
 * load_watch.h.
 */
extern const char huddle_marker;
const char huddle_marker = 0;
