/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Takes a name of this library out of sight again. A program may ask by a weak symbol whether its
 * MPI has a function (mpi4py does), and the preloaded library must not answer for the MPI.
 */
#ifndef HUDDLE_MPI_STUB_HIDE_H
#define HUDDLE_MPI_STUB_HIDE_H

/* From here on nobody who is loaded finds this function of ours by its name. Where the system does
 * not allow it the name stays. */
void huddle_hide(void (*function)(void));

#endif
