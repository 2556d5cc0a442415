# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests of huddle.Communicator: every collective and type against NumPy."""
import array
import os

import numpy as np
import pytest
from ranks import run

import huddle

SIZES = (1, 2, 3)
REAL = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
        np.float64, np.longdouble]
COMPLEX = [np.complex64, np.complex128, np.clongdouble]
INTEGER = REAL[:8]
UFUNCS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum, "logical_and": np.logical_and,
          "logical_or": np.logical_or, "logical_xor": np.logical_xor, "bitwise_and": np.bitwise_and,
          "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
COUNTS = (0, 1, 7, 3000)


def types_of(op):
    if op in ("sum", "product"):
        return REAL + COMPLEX
    if op in ("min", "max"):
        return REAL
    return INTEGER + [np.bool_] if op.startswith("logical") else INTEGER


def values(rank, count, dtype):
    """Small whole numbers, so that every order of a sum or a product of them has the same exact result."""
    return ((np.arange(count) * 7 + rank * 3) % 4).astype(dtype)


def expected(op, inputs):
    total = inputs[0]
    for following in inputs[1:]:
        total = UFUNCS[op](total, following)
    return total.astype(inputs[0].dtype)


def check_reductions(comm):
    for op in UFUNCS:
        for dtype in types_of(op):
            for count in COUNTS:
                check_reduction(comm, op, [values(rank, count, dtype) for rank in range(comm.size)])


def check_reduction(comm, op, inputs):
    mine, total, root = inputs[comm.rank], expected(op, inputs), comm.size - 1
    out = np.zeros_like(mine)
    assert comm.allreduce(mine, out, op) is out
    np.testing.assert_array_equal(out, total)
    out = mine.copy()
    comm.allreduce(out, op=huddle.Operator[op.upper()])
    np.testing.assert_array_equal(out, total)
    out = mine.copy()
    comm.reduce(mine, out if comm.rank == root else None, op, root)
    np.testing.assert_array_equal(out, total if comm.rank == root else mine)
    comm.scan(mine, out, op)
    np.testing.assert_array_equal(out, expected(op, inputs[:comm.rank + 1]))
    out = mine.copy()
    comm.exscan(mine, out, op)
    np.testing.assert_array_equal(out, expected(op, inputs[:comm.rank]) if comm.rank else mine)
    check_reduce_scatter(comm, op, inputs)


def check_reduce_scatter(comm, op, inputs):
    mine, total = inputs[comm.rank], expected(op, inputs)
    counts = [len(mine) // (comm.size + 1)] * comm.size
    counts[0] += len(mine) - sum(counts)
    out = np.zeros(counts[comm.rank], mine.dtype)
    comm.reduce_scatter(mine, out, counts, op)
    start = sum(counts[:comm.rank])
    np.testing.assert_array_equal(out, total[start:start + len(out)])
    block = len(mine) // comm.size
    out = np.zeros(block, mine.dtype)
    comm.reduce_scatter(mine[:block * comm.size].copy(), out, op=op)
    np.testing.assert_array_equal(out, total[comm.rank * block:(comm.rank + 1) * block])


def check_equal_blocks(comm):
    for dtype in REAL + COMPLEX + [np.bool_]:
        for count in COUNTS:
            inputs = [values(rank, count, dtype) for rank in range(comm.size)]
            mine, root = inputs[comm.rank], comm.size - 1
            out = np.zeros(comm.size * count, dtype)
            comm.allgather(mine, out)
            np.testing.assert_array_equal(out, np.concatenate(inputs))
            comm.allgather(None, out)
            np.testing.assert_array_equal(out, np.concatenate(inputs))
            gathered = np.zeros_like(out)
            comm.gather(mine, gathered if comm.rank == root else None, root)
            assert comm.rank != root or (gathered == np.concatenate(inputs)).all()
            block = np.zeros_like(mine)
            comm.scatter(out if comm.rank == root else None, block, root)
            np.testing.assert_array_equal(block, mine)
            np.testing.assert_array_equal(comm.bcast(mine.copy(), root), inputs[root])


def check_alltoall(comm):
    inputs = [np.arange(comm.size * 5, dtype=np.float32).reshape(comm.size, 5) + 100 * rank
              for rank in range(comm.size)]
    wanted = np.stack([given[comm.rank] for given in inputs])
    out = np.zeros_like(wanted)
    comm.alltoall(inputs[comm.rank], out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(comm.alltoall(inputs[comm.rank].copy()), wanted)


def check_unequal_blocks(comm):
    counts = [3 * rank + 1 for rank in range(comm.size)]
    inputs = [values(rank, counts[rank], np.float64) + rank for rank in range(comm.size)]
    offsets = [sum(counts[:rank]) + rank for rank in range(comm.size)]  # one free element between the blocks
    spread = np.full(sum(counts) + comm.size, -1.0)
    for given, offset in zip(inputs, offsets):
        spread[offset:offset + len(given)] = given
    mine = inputs[comm.rank]
    out = np.full_like(spread, -1.0)
    comm.allgatherv(mine, out, counts, offsets)
    np.testing.assert_array_equal(out, spread)
    dense = np.zeros(sum(counts))
    comm.gatherv(mine, dense if comm.rank == 0 else None, counts)
    assert comm.rank != 0 or (dense == np.concatenate(inputs)).all()
    block = np.zeros_like(mine)
    comm.scatterv(spread if comm.rank == 0 else None, block, counts, offsets)
    np.testing.assert_array_equal(block, mine)


def check_alltoallv(comm):
    sizes = [[(source + 2 * target) % 4 for target in range(comm.size)] for source in range(comm.size)]
    blocks = [[np.full(sizes[source][target], 10 * source + target, np.int32) for target in range(comm.size)]
              for source in range(comm.size)]
    receive = [sizes[source][comm.rank] for source in range(comm.size)]
    out = np.zeros(sum(receive), np.int32)
    comm.alltoallv(np.concatenate(blocks[comm.rank]), sizes[comm.rank], out, receive)
    np.testing.assert_array_equal(out, np.concatenate([blocks[source][comm.rank] for source in range(comm.size)]))


def check_split(comm):
    half = comm.split(comm.rank % 2, -comm.rank)
    same = [rank for rank in range(comm.size) if rank % 2 == comm.rank % 2][::-1]
    assert (half.size, half.rank) == (len(same), same.index(comm.rank))
    total = np.array([comm.rank])
    half.allreduce(total)
    assert total[0] == sum(same)
    assert (comm.split(None if comm.rank else 0) is None) == (comm.rank > 0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("check", [check_reductions, check_equal_blocks, check_alltoall, check_unequal_blocks,
                                   check_alltoallv, check_split])
def test_results_equal_those_of_numpy(check, size):
    run(check, size)


def check_other_objects(comm):
    data = array.array("d", [1.0, 2.0])
    comm.allreduce(data)
    assert data.tolist() == [2.0, 4.0]
    block = bytearray(6)
    comm.allgather(bytes([comm.rank] * 3), block)
    assert block == b"\0\0\0\1\1\1"
    comm.bcast(b"from rank 0" if comm.rank == 0 else (text := bytearray(11)))
    assert comm.rank == 0 or text == b"from rank 0"


def test_objects_with_the_buffer_protocol_need_no_numpy():
    run(check_other_objects)


class OnlyDLPack:
    """A tensor of another library."""

    def __init__(self, data):
        self._data = data
        self.device = 1

    def __dlpack__(self):
        return self._data.__dlpack__()

    def __dlpack_device__(self):
        return self.device, 0


def check_dlpack(comm):
    data = np.arange(12.0).reshape(3, 4)
    comm.allreduce(OnlyDLPack(data))
    np.testing.assert_array_equal(data, 2 * np.arange(12.0).reshape(3, 4))
    with pytest.raises(ValueError, match="not contiguous"):
        comm.allreduce(OnlyDLPack(data[:, ::2]))
    for device in (3, 11):  # memory of the host that is pinned for CUDA or ROCm
        pinned = OnlyDLPack(np.ones(2))
        pinned.device = device
        comm.allreduce(pinned, data.ravel()[:2])
        assert (data.ravel()[:2] == 2).all()
    pinned.device = 2
    with pytest.raises(TypeError, match="device type 2"):
        comm.allreduce(pinned)


def test_dlpack_tensors_are_used_in_place():
    run(check_dlpack)


def as_bfloat16(numbers):
    return (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def check_bfloat16(comm):
    data = as_bfloat16([1.5, -2.0, 3.0])
    comm.allreduce(data, dtype="bfloat16")
    np.testing.assert_array_equal(data, as_bfloat16([3.0, -4.0, 6.0]))


def test_bfloat16_is_named_by_dtype():
    run(check_bfloat16)


def check_equal_types(comm):
    """The same type has several names in the buffer protocol and DLPack."""
    names = [("l", "q"), ("<i8", "q"), ("L", "Q"), ("=d", "<f8")] if np.dtype("l").itemsize == 8 else [("=d", "<f8")]
    for first, second in names:
        out = np.zeros(2, second)
        comm.allreduce(np.ones(2, first), out)
        assert (out == 2).all()
    out = np.zeros(3, np.float32)
    comm.allreduce(OnlyDLPack(np.ones(3, np.float32)), out)
    assert (out == 2).all()
    gathered = np.zeros(4, "q")
    comm.allgather(np.full(2, comm.rank, "l"), gathered)
    assert gathered.tolist() == [0, 0, 1, 1]


def test_equal_types_with_different_formats_are_accepted():
    run(check_equal_types)


def check_names_of_types(comm):
    for dtype in ("float32", np.float32, np.dtype("float32"), huddle.Type.FLOAT, "FLOAT"):
        data = bytearray(np.ones(3, np.float32))
        comm.allreduce(data, dtype=dtype)
        assert np.frombuffer(data, np.float32).tolist() == [2.0] * 3
    for dtype in REAL + COMPLEX + [np.bool_]:
        data = np.ones(3, dtype)
        comm.allreduce(data, op="logical_or" if dtype is np.bool_ else "sum", dtype=data.dtype)
        assert (data == np.full(3, 2).astype(dtype)).all()


def test_names_of_numpy_describe_types():
    run(check_names_of_types)


def check_unequal_types(comm):
    integers, numbers, swapped = np.zeros(4, np.int64), np.zeros(4), np.zeros(4, ">f8")
    half, counts = integers[:2], [2, 2]
    for error, words, call in (
            (TypeError, "format 'l' and output of 'd'", lambda: comm.allgather(half, numbers)),
            (TypeError, "format '>d' and output of 'd'", lambda: comm.allgather(swapped[:2], numbers)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.allgatherv(half, numbers, counts)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.alltoall(integers, numbers)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.alltoallv(integers, counts, numbers, counts)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.gather(half, numbers, comm.rank)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.gatherv(half, numbers, counts, root=comm.rank)),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.scatter(integers, numbers[:2], comm.rank)),
            (TypeError, "format 'l' and output of 'd'",
             lambda: comm.scatterv(integers, numbers[:2], counts, root=comm.rank)),
            (TypeError, "byte order", lambda: comm.allreduce(swapped)),
            (TypeError, "byte order", lambda: comm.allreduce(swapped, dtype="double")),
            (ValueError, "12 bytes, which is not a multiple of 8",
             lambda: comm.allreduce(bytearray(12), dtype="double")),
            (TypeError, "no element type 'decimal'", lambda: comm.allreduce(numbers, dtype="decimal")),
            (TypeError, "no element type", lambda: comm.allreduce(numbers, dtype=float)),
            (TypeError, "no element type", lambda: comm.allreduce(numbers, dtype=99))):
        with pytest.raises(error, match=words):
            call()
            pytest.fail(f"nothing was raised that contains: {words}")


def test_unequal_types_raise_before_any_communication():
    run(check_unequal_types)


def check_errors(comm):
    numbers = np.zeros(4)
    read_only = np.zeros(4)
    read_only.flags.writeable = False
    for error, words, call in (
            (TypeError, "input: a list has neither", lambda: comm.allreduce([1, 2])),
            (TypeError, "format 'l' and output of 'd'", lambda: comm.allreduce(np.zeros(4, np.int64), numbers)),
            (TypeError, "elements of format '4s'", lambda: comm.allreduce(np.zeros(4, "S4"))),
            (TypeError, "elements of 8 bytes cannot be of type FLOAT", lambda: comm.allreduce(numbers, dtype="float")),
            (ValueError, "not contiguous", lambda: comm.allreduce(np.zeros((4, 4))[:, 1])),
            (ValueError, "read-only", lambda: comm.allreduce(read_only)),
            (ValueError, "read-only", lambda: comm.allgather(numbers, bytes(64))),
            (ValueError, "output has 24 bytes; this call needs 32", lambda: comm.allreduce(numbers, np.zeros(3))),
            (ValueError, "cannot share equally", lambda: comm.allgather(None, np.zeros(3))),
            (ValueError, "one number per rank", lambda: comm.allgatherv(numbers, numbers, [4])),
            (ValueError, "reach beyond it", lambda: comm.allgatherv(numbers, numbers, [4, 4])),
            (ValueError, "output has 8 bytes; this call needs 48",
             lambda: comm.scatterv(np.arange(12.0), numbers[:1], [6, 6], root=comm.rank)),
            (ValueError, "input has 32 bytes; this call needs 8",
             lambda: comm.gatherv(numbers, numbers[:2], [1, 1], root=comm.rank)),
            (ValueError, "sends 2 elements to itself and receives 1",
             lambda: comm.alltoallv(numbers, [2, 2], np.zeros(2), [1, 1])),
            (ValueError, "no operator 'average'", lambda: comm.allreduce(numbers, op="average")),
            (ValueError, "root", lambda: comm.bcast(numbers, 2)),
            (ValueError, "min is not for elements of type", lambda: comm.allreduce(np.zeros(2, complex), op="min"))):
        with pytest.raises(error, match=words):
            call()
            pytest.fail(f"nothing was raised that contains: {words}")
    comm.allreduce(read_only, numbers)  # the communicator still works
    comm.free()
    with pytest.raises(huddle.Misused, match="has been freed"):
        comm.barrier()


def test_invalid_arguments_raise_before_any_communication():
    run(check_errors)


def check_lost_peer(comm):
    comm.barrier()
    if comm.rank == 1:
        os._exit(0)  # without freeing the communicator
    with pytest.raises(huddle.PeerLost, match="rank 1"):
        comm.barrier()


def test_lost_peer_raises():
    run(check_lost_peer)


def check_timeout(comm):
    comm.set_timeout(0.1)
    comm.barrier()
    met = comm.split(0)  # the ranks meet here while their first communicator times out
    if comm.rank == 1:
        met.barrier()
        comm.barrier()  # rank 0 has done its part of this call
    with pytest.raises(huddle.PeerLost, match="within 100 ms"):
        comm.barrier()
    if comm.rank == 0:
        met.barrier()
    met.barrier()  # rank 0 frees the communicator after this rank has seen the timeout


def check_unusual_timeouts(comm):
    comm.set_timeout(float("inf"))
    comm.set_timeout(1e9)
    for wrong in (-1, float("nan")):
        with pytest.raises(huddle.Misused, match="at least 0"):
            comm.set_timeout(wrong)
    comm.split(0, timeout=float("inf")).barrier()
    met = comm.split(0)
    comm.set_timeout(0.0003)
    if comm.rank == 0:
        with pytest.raises(huddle.PeerLost, match="within 1 ms"):
            comm.barrier()
    met.barrier()


def test_short_and_infinite_timeouts_are_accepted():
    run(check_unusual_timeouts)


def test_late_rank_raises_on_all_ranks():
    run(check_timeout)
