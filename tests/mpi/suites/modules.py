# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Divides the modules of mpi4py's tests into parts."""
import dataclasses

MPIS = ("openmpi-4", "openmpi-5", "mpich-5", "intel")
RANKS = (1, 2, 3, 5)
# Patterns of the modules to include and to exclude. Spawned processes take seconds to start under
# Open MPI if they share cores.
SPAWN = "test_(spawn|dynproc)"
COLLECTIVE = "test_(cco_(buf|obj|vec)|comm|op|msg|pack|threads|session|err|exc)"
MEMORY = "test_(io|file|rma|win|util)"
MODULES = {
    "collectives": (COLLECTIVE, SPAWN),
    "memory": (MEMORY, SPAWN),
    "others": ("test_", f"{SPAWN}|{COLLECTIVE}|{MEMORY}"),
    "spawn": (SPAWN, "^$"),
}
# Parts whose outcome varies without huddle, and why: nothing can be compared with them.
UNSTEADY = {("openmpi-4", "spawn"): "while spawned processes come up Open MPI 4 stands still now and then, "
                                    "the parent in PMIx_Lookup, they in PMIx_Init"}


@dataclasses.dataclass(frozen=True)
class Part:
    mpi: str
    ranks: int
    modules: str  # a key of MODULES

    def __str__(self):
        return f"{self.mpi} {self.ranks} {self.modules}"


def all_parts(mpis, ranks_of_jobs=RANKS):
    return [Part(mpi, ranks, modules) for modules in MODULES for mpi in mpis for ranks in ranks_of_jobs
            if (mpi, modules) not in UNSTEADY]
