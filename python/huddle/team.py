# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""A team of libhuddle: its handle, the functions that create one, and calls with addresses instead of objects."""
import ctypes
import math
import os
import threading
import weakref

from .errors import Error, Misused, error_of
from .library import library, make_handle, process_context
from .rendezvous import GatherCall


_LONGEST_MS = 2**31 - 1  # the largest int, 25 days


def _milliseconds(seconds):
    """Returns a number for libhuddle: 0 for 0, and otherwise at least 1."""
    if not seconds >= 0:
        raise Misused(f"a timeout must be at least 0 seconds; it is {seconds}")
    return max(1, round(min(seconds * 1000, _LONGEST_MS))) if seconds > 0 else 0


class Team:
    """A huddle_team. Ranks call its collectives in the same order; only one thread at a time may be in a call."""

    def __init__(self, bootstrap):
        functions = library()
        self.rank = self.size = 0  # until the team exists
        self._handle = None
        self._handle = make_handle(functions.huddle_team_create, process_context(), ctypes.byref(bootstrap))
        self._functions = functions
        self._lock = threading.Lock()
        self.rank = functions.huddle_team_rank(self._handle)
        self.size = functions.huddle_team_ranks(self._handle)
        _teams.add(self)

    @classmethod
    def by_gather(cls, rank, size, allgather):
        """Creates a team of ranks that communicate by `allgather`, which receives the bytes of this rank and returns
        a list whose concatenation contains the bytes of all ranks in rank order. Collective."""
        call = GatherCall(rank, size, allgather)
        try:
            return cls(call.bootstrap)
        except Error as error:
            if call.failure is not None:
                raise call.failure from error
            raise

    @classmethod
    def by_key(cls, key, rank, size, timeout):
        """Creates a team of processes of one user that pass the same key, or of threads. Collective."""
        functions = library()
        rendezvous = make_handle(functions.huddle_rendezvous_at_path, f"/huddle-python/{key}".encode(), rank, size,
                                 _milliseconds(timeout) or 1)
        try:
            return cls(functions.huddle_rendezvous_bootstrap(rendezvous))
        finally:
            functions.huddle_rendezvous_free(rendezvous)

    def call(self, function, *arguments):
        """Runs a collective, which is an attribute of library(). Throws what its status stands for."""
        if not self._lock.acquire(blocking=False):
            raise Misused("another thread is in a call of this communicator; only one at a time may use it")
        try:
            status = function(self._handle, *arguments)
            if status != 0:
                self._fail(status)
        finally:
            self._lock.release()

    def set_timeout(self, seconds):
        """Limits how long this rank waits for others in a call; 0: no limit."""
        self.call(self._functions.huddle_team_set_timeout, 0 if seconds == math.inf else _milliseconds(seconds))

    def _fail(self, status):
        if self._handle is None:
            raise Misused("the communicator has been freed, or belongs to the parent of this forked process")
        raise error_of(status, self._functions.huddle_team_message(self._handle).decode("utf-8", "replace"))

    def free(self):
        """Frees the team. Does not wait for other ranks."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._functions.huddle_team_free(handle)

    def forget(self):
        """Makes a team of the parent unusable in a forked process, without freeing it."""
        self._handle = None

    def __del__(self):
        self.free()


_teams = weakref.WeakSet()  # those that a forked child must not use


def _forget_teams():
    for team in list(_teams):
        team.forget()


os.register_at_fork(after_in_child=_forget_teams)
