# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Collectives of huddle for Python programs, and the results of its commands.

    import huddle
    comm = huddle.Communicator.from_environment()   # under torchrun, mpirun or srun
    comm.allreduce(array)                           # a NumPy array, in place

    results = huddle.load("results.json")           # of `huddle bench`
    results.latency("allreduce")                    # a matplotlib figure

`import huddle.torch` registers the back end "huddle" of torch.distributed.
"""
from .communicator import Communicator
from .element_types import Operator, Type
from .errors import BadInput, Error, LibraryNotFound, Misused, PeerLost
from .results import BadResults, Results, load

__all__ = ["BadInput", "BadResults", "Communicator", "Error", "LibraryNotFound", "Misused", "Operator", "PeerLost",
           "Results", "Type", "load"]
__version__ = "0.1.0"
