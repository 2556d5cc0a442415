# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Collectives on the memory of Python objects, without copies."""
import ctypes
import os
import secrets

from .buffers import buffer_of
from .element_types import Operator, type_named
from .errors import Misused
from .library import Block, library
from .rendezvous import gather_from_mpi4py, gather_from_store, required_place
from .team import Team

_OPERATIONS = ("barrier bcast reduce allreduce allgather allgatherv alltoall alltoallv alltoallw gather gatherv scatter "
               "scatterv reduce_scatter reduce_scatter_block scan exscan").split()
_OPERATORS = {operator.name.lower(): operator for operator in Operator}


def _operator(op):
    if isinstance(op, Operator):
        return op
    try:
        return _OPERATORS[op]
    except (KeyError, TypeError):
        raise Misused(f"there is no operator {op!r}; use one of {', '.join(_OPERATORS)}") from None


def _element_type(buffer, dtype, name):
    """Returns the type of the elements: `dtype` if it is given, such as for bfloat16 that is stored as uint16."""
    if buffer.is_swapped:
        raise TypeError(f"{name}: elements of format {buffer.described!r} do not have this machine's byte order; "
                        "convert the array first")
    if dtype is None:
        if buffer.type is None:
            raise TypeError(f"{name}: huddle cannot reduce elements of format {buffer.described!r}; pass dtype if the "
                            "format does not describe them, as for bfloat16")
        return buffer.type
    of_type = type_named(dtype)
    item_bytes = library().huddle_type_bytes(of_type)
    if buffer.item_bytes not in (1, item_bytes):
        raise TypeError(f"{name}: elements of {buffer.item_bytes} bytes cannot be of type {of_type.name}")
    if buffer.bytes % item_bytes:
        raise Misused(f"{name} has {buffer.bytes} bytes, which is not a multiple of {item_bytes}, the size of a "
                      f"{of_type.name}")
    return of_type


def _require_same_type(first, second):
    if first.of != second.of:
        raise TypeError(f"input has elements of format {first.described!r} and output of {second.described!r}")


def _require_bytes(buffer, name, wanted):
    if buffer.bytes != wanted:
        raise Misused(f"{name} has {buffer.bytes} bytes; this call needs {wanted}")


class Communicator:
    """A group of processes, or threads, on one machine that call collectives together.

    All ranks call the same methods in the same order, with equal sizes, types, operators and roots. Arguments called
    `input` and `output` are NumPy arrays, other objects with the buffer protocol, or CPU tensors that export DLPack.
    They must be contiguous; they are neither copied nor converted. Other Python threads run during a call, but only
    one thread at a time may use a communicator."""

    def __init__(self, team):
        """For the functions that create a communicator: connect(), from_environment(), from_mpi4py(), from_store()."""
        self._team = team
        self._lib = library()

    # ---- creation ----

    @classmethod
    def connect(cls, key, rank, size, timeout=60.0):
        """Returns a communicator of processes of one user, or of threads, that pass the same key. Collective: waits at
        most `timeout` seconds for all ranks."""
        return cls(Team.by_key(key, rank, size, timeout))

    @classmethod
    def from_environment(cls, key=None, timeout=60.0):
        """Returns a communicator of the processes that a launcher has started: torchrun, Open MPI, MPICH or Slurm.
        `key` identifies the job if no variable of the launcher does. Collective."""
        place = required_place(key)
        return cls.connect(place.key, place.rank, place.size, timeout)

    @classmethod
    def from_mpi4py(cls, comm):
        """Returns a communicator of the ranks of an mpi4py communicator. They must be on one machine:
        comm.Split_type(MPI.COMM_TYPE_SHARED) returns the communicator of these. Collective."""
        return cls(Team.by_gather(comm.rank, comm.size, gather_from_mpi4py(comm)))

    @classmethod
    def from_store(cls, store, rank, size, prefix="huddle"):
        """Returns a communicator of ranks that share a torch.distributed.Store. `prefix` must not have been used with
        this store before. Collective."""
        return cls(Team.by_gather(rank, size, gather_from_store(store, rank, size, prefix)))

    @classmethod
    def from_allgather(cls, rank, size, allgather):
        """Returns a communicator of ranks that can communicate already. allgather(mine: bytes) returns the list of the
        bytes of all ranks, in rank order. It is only called by this function. Collective."""
        return cls(Team.by_gather(rank, size, allgather))

    def split(self, color, key=0, timeout=60.0):
        """Returns a communicator of the ranks with the same color, ordered by key and then by rank; None if the color
        is None. Collective."""
        token = bytearray(secrets.token_bytes(16))
        self.bcast(token)
        mine = (ctypes.c_int64 * 3)(color is not None, color or 0, key)
        everything = (ctypes.c_int64 * (3 * self.size))()
        self.allgather(mine, everything)
        if color is None:
            return None
        entries = [(everything[3 * rank + 2], rank) for rank in range(self.size)
                   if everything[3 * rank] and everything[3 * rank + 1] == color]
        place = sorted(entries).index((key, self.rank))
        return Communicator.connect(f"{token.hex()}/{color}", place, len(entries), timeout)

    # ---- properties ----

    @property
    def rank(self):
        """This process's rank, from 0."""
        return self._team.rank

    @property
    def size(self):
        """The number of ranks."""
        return self._team.size

    def set_timeout(self, seconds):
        """Limits how long this rank waits for others in a call, which then throws PeerLost; 0: no limit. After that
        no rank can use the communicator. Not collective. A limit is at least 1 ms; infinity is no limit."""
        self._team.set_timeout(seconds)

    def free(self):
        """Frees the communicator without waiting for other ranks. `with` and the garbage collector do so as well."""
        self._team.free()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def __repr__(self):
        return f"<huddle.Communicator: rank {self.rank} of {self.size}, process {os.getpid()}>"

    # ---- collectives ----

    def barrier(self):
        """Returns after all ranks have called it."""
        self._team.call(self._lib.huddle_barrier)

    def bcast(self, buffer, root=0):
        """Copies the root's buffer to the buffers of all other ranks."""
        data = buffer_of(buffer, "buffer", self.rank != root)
        self._team.call(self._lib.huddle_bcast, data.address, data.bytes, root)
        return buffer

    def reduce(self, input, output=None, op=Operator.SUM, root=0, dtype=None):
        """Combines the inputs of all ranks into the root's output. Without an output the result replaces the root's
        input; other ranks need no output."""
        given, to = self._reduction(input, output, self.rank == root)
        self._team.call(self._lib.huddle_reduce, given.address, to.address, *_shape(given, dtype), _operator(op), root)
        return input if output is None else output

    def allreduce(self, input, output=None, op=Operator.SUM, dtype=None):
        """Combines the inputs of all ranks into the output of each. Without an output the result replaces the input."""
        given, to = self._reduction(input, output, True)
        self._team.call(self._lib.huddle_allreduce, given.address, to.address, *_shape(given, dtype), _operator(op))
        return input if output is None else output

    def scan(self, input, output=None, op=Operator.SUM, dtype=None):
        """Combines the inputs of the ranks up to and including this one."""
        given, to = self._reduction(input, output, True)
        self._team.call(self._lib.huddle_scan, given.address, to.address, *_shape(given, dtype), _operator(op))
        return input if output is None else output

    def exscan(self, input, output=None, op=Operator.SUM, dtype=None):
        """Combines the inputs of the ranks before this one. The output of rank 0 stays as it is."""
        given, to = self._reduction(input, output, True)
        self._team.call(self._lib.huddle_exscan, given.address, to.address, *_shape(given, dtype), _operator(op))
        return input if output is None else output

    def reduce_scatter(self, input, output, counts=None, op=Operator.SUM, dtype=None):
        """Combines the inputs of all ranks and gives each rank its block of the result: counts[rank] elements, or an
        equal number for each rank."""
        given, to = buffer_of(input, "input", False), buffer_of(output, "output", True)
        _require_same_type(given, to)
        count, of_type = _shape(given, dtype)
        unit = given.bytes // count if count else 0
        if counts is None:
            _require_bytes(given, "input", to.bytes * self.size)
            self._team.call(self._lib.huddle_reduce_scatter_block, given.address, to.address, count // self.size,
                            of_type, _operator(op))
            return output
        numbers = self._per_rank(counts, "counts")
        _require_bytes(given, "input", sum(numbers) * unit)
        _require_bytes(to, "output", numbers[self.rank] * unit)
        self._team.call(self._lib.huddle_reduce_scatter, given.address, to.address,
                        (ctypes.c_size_t * self.size)(*numbers), of_type, _operator(op))
        return output

    def allgather(self, input, output):
        """Gathers the inputs of all ranks in the output of each, in rank order. If the input is None, each rank's own
        block of the output is its input."""
        to = buffer_of(output, "output", True)
        block = to.bytes // self.size
        address = self._own_block(input, to, block, "output")
        self._team.call(self._lib.huddle_allgather, address, to.address, block)
        return output

    def allgatherv(self, input, output, counts, offsets=None):
        """The same with counts[rank] elements from each rank, at offsets[rank] elements of the output: one after the
        other if there are no offsets."""
        given, to = buffer_of(input, "input", False), buffer_of(output, "output", True)
        blocks = self._blocks(to, "output", counts, offsets)
        _require_same_type(given, to)
        _require_bytes(given, "input", blocks[self.rank].bytes)
        self._team.call(self._lib.huddle_allgatherv, given.address, to.address, blocks)
        return output

    def alltoall(self, input, output=None):
        """Sends a block of the input to each rank and receives one from each, in rank order. Without an output the
        blocks that arrive replace the input, on all ranks."""
        given, to = self._in_and_out(input, output, True)
        _require_same_type(given, to)
        _require_bytes(to, "output", given.bytes)
        self._require_multiple(given, "input")
        self._team.call(self._lib.huddle_alltoall, given.address, to.address, given.bytes // self.size)
        return input if output is None else output

    def alltoallv(self, input, send_counts, output, receive_counts, send_offsets=None, receive_offsets=None):
        """The same with any number of elements for each pair of ranks. Counts and offsets are in elements."""
        given, to = buffer_of(input, "input", False), buffer_of(output, "output", True)
        _require_same_type(given, to)
        outgoing = self._blocks(given, "input", send_counts, send_offsets)
        incoming = self._blocks(to, "output", receive_counts, receive_offsets)
        sent, received = outgoing[self.rank].bytes, incoming[self.rank].bytes
        if sent != received:
            raise Misused(f"this rank sends {sent // given.item_bytes} elements to itself and receives "
                          f"{received // to.item_bytes}; both counts must be equal")
        self._team.call(self._lib.huddle_alltoallv, given.address, outgoing, to.address, incoming)
        return output

    def gather(self, input, output=None, root=0):
        """Gathers the inputs of all ranks in the root's output, in rank order."""
        given = buffer_of(input, "input", False)
        to = buffer_of(self._required(output, "output"), "output", True) if self.rank == root else None
        if to is not None:
            _require_same_type(given, to)
            _require_bytes(to, "output", given.bytes * self.size)
        self._team.call(self._lib.huddle_gather, given.address, to and to.address, given.bytes, root)
        return output

    def gatherv(self, input, output=None, counts=None, offsets=None, root=0):
        """The same with counts[rank] elements from each rank, at offsets[rank] elements of the root's output."""
        given, to, blocks = buffer_of(input, "input", False), None, None
        if self.rank == root:
            to = buffer_of(self._required(output, "output"), "output", True)
            _require_same_type(given, to)
            blocks = self._blocks(to, "output", counts, offsets)
            _require_bytes(given, "input", blocks[root].bytes)
        self._team.call(self._lib.huddle_gatherv, given.address, given.bytes, to and to.address, blocks, root)
        return output

    def scatter(self, input, output, root=0):
        """Sends a block of the root's input to the output of each rank, in rank order."""
        to = buffer_of(output, "output", True)
        given = buffer_of(self._required(input, "input"), "input", False) if self.rank == root else None
        if given is not None:
            _require_same_type(given, to)
            _require_bytes(given, "input", to.bytes * self.size)
        self._team.call(self._lib.huddle_scatter, given and given.address, to.address, to.bytes, root)
        return output

    def scatterv(self, input, output, counts=None, offsets=None, root=0):
        """The same with counts[rank] elements for each rank, from offsets[rank] elements of the root's input."""
        to, given, blocks = buffer_of(output, "output", True), None, None
        if self.rank == root:
            given = buffer_of(self._required(input, "input"), "input", False)
            _require_same_type(given, to)
            blocks = self._blocks(given, "input", counts, offsets)
            _require_bytes(to, "output", blocks[root].bytes)
        self._team.call(self._lib.huddle_scatterv, given and given.address, blocks, to.address, to.bytes, root)
        return output

    def explain(self, operation, size=0, item_bytes=1, json=False):
        """Returns which algorithm would run for an operation such as "allreduce" with `size` bytes per rank, and the
        predicted time of each. Not collective."""
        if operation not in _OPERATIONS:
            raise Misused(f"there is no operation {operation!r}; use one of {', '.join(_OPERATIONS)}")
        number, needed = _OPERATIONS.index(operation), ctypes.c_size_t()
        arguments = (number, size // item_bytes, item_bytes, int(json))
        self._team.call(self._lib.huddle_explain, *arguments, None, 0, ctypes.byref(needed))
        text = ctypes.create_string_buffer(needed.value)
        self._team.call(self._lib.huddle_explain, *arguments, text, needed.value, None)
        return text.value.decode()

    # ---- checks ----

    def _in_and_out(self, input, output, gets_result):
        if output is None:
            both = buffer_of(input, "input", gets_result)
            return both, both
        given = buffer_of(input, "input", False)
        return given, buffer_of(output, "output", True)

    def _reduction(self, input, output, gets_result):
        given, to = self._in_and_out(input, output if gets_result else None, gets_result)
        if to is not given:
            _require_bytes(to, "output", given.bytes)
            _require_same_type(given, to)
        return given, to

    def _own_block(self, input, to, block, name):
        self._require_multiple(to, name)
        if input is None:
            return (to.address or 0) + self.rank * block
        given = buffer_of(input, "input", False)
        _require_same_type(given, to)
        _require_bytes(given, "input", block)
        return given.address

    def _require_multiple(self, buffer, name):
        count = buffer.bytes // buffer.item_bytes
        if count % self.size:
            raise Misused(f"{name} has {count} elements, which {self.size} ranks cannot share equally")

    @staticmethod
    def _required(data, name):
        if data is None:
            raise Misused(f"the root needs an {name}")
        return data

    def _per_rank(self, numbers, name):
        given = [int(number) for number in self._required(numbers, name)]
        if len(given) != self.size or min(given) < 0:
            raise Misused(f"{name} must contain one number per rank, at least 0 each; it is {given}")
        return given

    def _blocks(self, buffer, name, counts, offsets):
        """Returns the blocks that the counts and offsets describe, which must be inside the buffer."""
        numbers = self._per_rank(counts, "counts")
        starts = [sum(numbers[:rank]) for rank in range(self.size)] if offsets is None else \
            self._per_rank(offsets, "offsets")
        unit = buffer.item_bytes
        if any(count and (start + count) * unit > buffer.bytes for start, count in zip(starts, numbers)):
            raise Misused(f"{name} has {buffer.bytes // unit} elements; the counts and offsets reach beyond it")
        return (Block * self.size)(*((start * unit, count * unit) for start, count in zip(starts, numbers)))


def _shape(buffer, dtype):
    """Returns the number and the type of the elements of a reduction."""
    of_type = _element_type(buffer, dtype, "input")
    return buffer.bytes // (buffer.item_bytes if dtype is None else library().huddle_type_bytes(of_type)), of_type
