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
import importlib

__version__ = "0.1.0"
TYPE_CHECKING = False  # type checkers assume True
if TYPE_CHECKING:
    from .communicator import Communicator
    from .element_types import Operator, Type
    from .errors import BadInput, Error, LibraryNotFound, Misused, PeerLost
    from .results import BadResults, Results, load

# The modules of the public names. They are imported on first use: a program needs only some of them.
_MODULES = {"Communicator": "communicator", "Operator": "element_types", "Type": "element_types",
            **dict.fromkeys(("BadInput", "Error", "LibraryNotFound", "Misused", "PeerLost"), "errors"),
            **dict.fromkeys(("BadResults", "Results", "load"), "results")}

__all__ = ["BadInput", "BadResults", "Communicator", "Error", "LibraryNotFound", "Misused", "Operator", "PeerLost",
           "Results", "Type", "load"]


def __getattr__(name):
    if name in _MODULES:
        return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    if name in _MODULES.values():
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'huddle' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
