# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Finds the ranks of a communicator: the variables that launchers set, and allgathers over other libraries by which
libhuddle creates a team."""
import collections
import ctypes
import os

from .errors import Error
from .library import Bootstrap, GatherFunction

Place = collections.namedtuple("Place", "rank size local_size nodes key by")

_STEP_NAMES = ("SLURM_JOB_ID", "SLURM_STEP_ID")
# Variables that launchers set, the innermost launcher first: the rank, the size, the number of ranks on this machine,
# and those that together identify the job.
_LAUNCHERS = (
    ("torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID",
                                                            "TORCHELASTIC_RESTART_COUNT")),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     ("PMIX_NAMESPACE", "PMIX_SERVER_URI2", "PMIX_SERVER_URI4", "PMIX_SERVER_URI41")),
    ("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", ("PALS_APID", "PMI_PORT")),
    ("Slurm", "SLURM_PROCID", "SLURM_NTASKS", None, _STEP_NAMES),
)


def _number(environment, name):
    value = environment.get(name, "") if name else ""
    return int(value) if value.isdigit() else None


def place_in(environment):
    """Returns the Place that a launcher gave this process, with an empty key if no variable identifies the job; None
    without a launcher."""
    for by, rank_name, size_name, local_name, key_names in _LAUNCHERS:
        rank, size = _number(environment, rank_name), _number(environment, size_name)
        if rank is None or size is None or by == "MPICH" and _is_pmi_of_slurm(environment):
            continue
        values = [environment.get(name, "") for name in key_names]
        nodes = _number(environment, "SLURM_STEP_NUM_NODES") or _number(environment, "SLURM_NNODES") \
            if by == "Slurm" else None
        return Place(rank, size, _number(environment, local_name), nodes, "/".join(values) if any(values) else "", by)
    return None


def _is_pmi_of_slurm(environment):
    """Returns whether `srun --mpi=pmi2` has set the variables of MPICH's launcher, which also sets MPI_LOCALNRANKS."""
    return "MPI_LOCALNRANKS" not in environment and all(environment.get(name) for name in _STEP_NAMES) and all(
        environment.get(slurm) == environment.get(pmi)
        for slurm, pmi in (("SLURM_PROCID", "PMI_RANK"), ("SLURM_NTASKS", "PMI_SIZE")))


def required_place(key=None):
    """Returns the Place of this process, with `key` instead of the launcher's if it is given. Throws Error."""
    place = place_in(os.environ)
    if place is None:
        raise Error("no launcher has set this process's rank and size (torchrun, mpirun or srun does); call "
                    "Communicator.connect(key, rank, size) instead")
    if place.local_size is not None and place.local_size != place.size:
        raise Error(f"{place.local_size} of {place.size} ranks are on this machine; a communicator contains ranks of "
                    "one machine, so create it from a store or an mpi4py communicator of these ranks")
    if place.nodes is not None and place.nodes > 1:
        raise Error(f"the {place.size} ranks are on {place.nodes} nodes; a communicator contains ranks of one machine, "
                    "so create it from a store or an mpi4py communicator of these ranks")
    if not key and not place.key:
        raise Error(f"no variable of {place.by} identifies the job; pass a key that is the same on all ranks and "
                    "different for each job on this machine")
    return place._replace(key=key or place.key)


def gather_from_store(store, rank, size, prefix):
    """Returns an allgather over a torch.distributed.Store. Keys begin with `prefix`, and are not used twice."""
    state = {"calls": 0}

    def allgather(mine):
        call = f"{prefix}/{state['calls']}"
        state["calls"] += 1
        # The value of a store cannot be empty, hence one more byte.
        store.set(f"{call}/{rank}", b"+" + mine)
        return [bytes(store.get(f"{call}/{peer}"))[1:] for peer in range(size)]

    return allgather


def gather_from_mpi4py(communicator):
    """Returns an allgather over an mpi4py communicator."""
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel

    def allgather(mine):
        everything = bytearray(len(mine) * communicator.size)
        communicator.Allgather([bytearray(mine), MPI.BYTE], [everything, MPI.BYTE])
        return [everything]

    return allgather


class GatherCall:
    """A huddle_bootstrap that calls a Python function. Keep it until the team exists."""

    def __init__(self, rank, size, allgather):
        self.failure = None  # what the function threw
        self._allgather = allgather
        self._function = GatherFunction(self._call)
        self.bootstrap = Bootstrap(rank, size, self._function, None)
        self._size = size

    def _call(self, _, mine, size, everything):
        try:
            gathered = b"".join(self._allgather(ctypes.string_at(mine, size)))
            if len(gathered) != size * self._size:
                raise ValueError(f"the allgather returned {len(gathered)} bytes instead of {size * self._size}")
            ctypes.memmove(everything, gathered, len(gathered))
            return 0
        except BaseException as error:  # pylint: disable=broad-exception-caught
            self.failure = error  # cannot pass through the C function; the caller of team_create throws it
            return 1
