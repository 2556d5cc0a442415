# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The exceptions of huddle's collectives. Each failing status of the C interface has one."""


class Error(RuntimeError):
    """A call failed on all ranks, for example for lack of memory. The communicator remains usable."""


class Misused(Error, ValueError):
    """An argument is invalid, or differs from that of another rank."""


class BadInput(Error):
    """A machine file or a setting is invalid."""


class PeerLost(Error):
    """A rank has died, has freed the communicator, or has not arrived in time. The communicator is unusable."""


class LibraryNotFound(Error, ImportError):
    """libhuddle is not installed, or has another version than this package."""


_BY_STATUS = {2: Misused, 3: BadInput, 4: PeerLost}


def error_of(status, reason):
    """Returns the exception for a status of the C interface other than HUDDLE_OK."""
    return _BY_STATUS.get(status, Error)(reason or f"huddle failed with status {status}")
