/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* The function through which the stub reports a collective that the MPI has executed or started.
 * All forms of an operation begin with the same arguments, so that a list of words is sufficient.
 */
#ifndef HUDDLE_PROFILE_STUB_NOTE_H
#define HUDDLE_PROFILE_STUB_NOTE_H

/* `call` is the name, for example "MPI_Ibcast_c"; `words` contains its `count` arguments: integers,
 * handles and pointers. */
#define HUDDLE_NOTE_NAME "huddle_note"
typedef void huddle_note_function(const char* call, const long* words, int count);

#endif
