/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/**
 * The C interface of huddle. Handles are opaque, every call returns a status, nothing here knows
 * MPI.
 */
#ifndef HUDDLE_HUDDLE_H
#define HUDDLE_HUDDLE_H

#define HUDDLE_VERSION_MAJOR 0
#define HUDDLE_VERSION_MINOR 1
#define HUDDLE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. Zero is success; the values never change their meaning. */
typedef enum huddle_status {
  HUDDLE_OK = 0,
  HUDDLE_FAILED = 1,    /**< the operation did not succeed; the machine or a peer is the reason */
  HUDDLE_MISUSED = 2,   /**< the call itself is wrong: an argument out of range, a null handle */
  HUDDLE_BAD_INPUT = 3, /**< something read from outside is damaged: a file, a setting */
} huddle_status;

/** A word for a status, never null; a static string. */
const char* huddle_status_text(huddle_status status);

/** The version of the library that is loaded, as "major.minor.patch"; a static string. */
const char* huddle_version(void);

#ifdef __cplusplus
}
#endif

#endif
