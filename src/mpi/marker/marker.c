/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * An empty library that marks a position in the loader's list: libraries that are loaded later
 * follow it. See LibraryLoadMonitor in devices.h.
 */
extern const char huddle_marker;
const char huddle_marker = 0;
