/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * How the stub tells a back end of a collective that the MPI has just carried out or begun. All
 * forms of an operation begin with the same arguments, so that words are enough.
 */
#ifndef HUDDLE_PROFILE_STUB_NOTE_H
#define HUDDLE_PROFILE_STUB_NOTE_H

/* `call` is "MPI_Ibcast_c" and the like; `words` are its arguments, integers, handles and pointers
 * alike, and `count` is how many. */
#define HUDDLE_NOTE_NAME "huddle_note"
typedef void huddle_note_function(const char* call, const long* words, int count);

#endif
