# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tensors and operators of PyTorch in the terms of libhuddle."""
import ctypes

import torch
from torch.distributed import ReduceOp

from ..element_types import Operator, Type
from ..errors import Misused
from ..library import Block

TYPES = {torch.int8: Type.INT8, torch.int16: Type.INT16, torch.int32: Type.INT32, torch.int64: Type.INT64,
         torch.uint8: Type.UINT8, torch.bool: Type.BOOL, torch.float16: Type.FLOAT16, torch.bfloat16: Type.BFLOAT16,
         torch.float32: Type.FLOAT, torch.float64: Type.DOUBLE, torch.complex64: Type.COMPLEX_FLOAT,
         torch.complex128: Type.COMPLEX_DOUBLE}
_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
_COMPLEX = (torch.complex64, torch.complex128)
_ARITHMETIC = {ReduceOp.SUM: Operator.SUM, ReduceOp.PRODUCT: Operator.PRODUCT}
_ORDER = {ReduceOp.MIN: Operator.MIN, ReduceOp.MAX: Operator.MAX}
_BITWISE = {ReduceOp.BAND: Operator.BITWISE_AND, ReduceOp.BOR: Operator.BITWISE_OR, ReduceOp.BXOR: Operator.BITWISE_XOR}
# A sum of truth values is true if one of them is, and a product if all are.
_OF_BOOL = {ReduceOp.SUM: Operator.LOGICAL_OR, ReduceOp.PRODUCT: Operator.LOGICAL_AND,
            ReduceOp.MIN: Operator.LOGICAL_AND, ReduceOp.MAX: Operator.LOGICAL_OR, ReduceOp.BAND: Operator.LOGICAL_AND,
            ReduceOp.BOR: Operator.LOGICAL_OR, ReduceOp.BXOR: Operator.LOGICAL_XOR}


def _operators_of(dtype):
    """Returns the operators that a type has, by the hash of the ReduceOp: equal ones are of two classes, which some
    versions of PyTorch do not compare in a dictionary."""
    if dtype is torch.bool:
        table = _OF_BOOL
    elif dtype in _COMPLEX:
        table = dict(_ARITHMETIC)
    elif dtype in _INTEGERS:
        table = {**_ARITHMETIC, **_ORDER, **_BITWISE}
    else:
        table = {**_ARITHMETIC, **_ORDER}
    if dtype.is_floating_point or dtype in _COMPLEX:
        table[ReduceOp.AVG] = Operator.SUM  # and a division; see is_average()
    return {hash(op): operator for op, operator in table.items()}


_OPERATORS = {dtype: _operators_of(dtype) for dtype in TYPES}
_AVERAGE = hash(ReduceOp.AVG)


def is_local(tensor):
    """Returns whether libhuddle can access the tensor's memory."""
    return tensor.device.type == "cpu" and tensor.layout is torch.strided


def operator_for(tensor, op):
    """Returns the Operator that reduces such tensors by a ReduceOp; None if libhuddle cannot."""
    operators = _OPERATORS.get(tensor.dtype)
    return operators.get(hash(op)) if operators is not None and is_local(tensor) else None


def is_average(op):
    """Returns whether the sum has to be divided by the number of ranks."""
    return hash(op) == _AVERAGE


def bytes_of(tensor):
    """Returns the size of the tensor's elements in bytes."""
    return tensor.numel() * tensor.element_size()


def are_local_and_equal(tensors, like):
    """Returns whether all tensors have the type and number of elements of `like`, and memory that libhuddle can
    access."""
    count, dtype = like.numel(), like.dtype
    return is_local(like) and all(tensor.numel() == count and tensor.dtype is dtype and is_local(tensor)
                                  for tensor in tensors)


def blocks_of(tensors):
    """Returns the address of the first tensor, and the other ones as blocks relative to it.
    Requires: they are contiguous."""
    base = next((tensor.data_ptr() for tensor in tensors if tensor.numel()), 0)
    entries = ((tensor.data_ptr() - base if tensor.numel() else 0, bytes_of(tensor)) for tensor in tensors)
    return base or None, (Block * len(tensors))(*entries)


def split_blocks(tensor, name, rows, size, are_rows):
    """Returns the blocks of a contiguous copy of `tensor`, one for each of `size` ranks: consecutive numbers of rows if
    `rows` is not empty, else equal ones, of whole rows if `are_rows`. Throws Misused."""
    length = tensor.shape[0] if are_rows and tensor.shape else tensor.numel()
    numbers = list(rows) or [length // size] * size
    unit = "rows" if are_rows else "elements"
    if len(numbers) != size or min(numbers) < 0:
        raise Misused(f"pass one split size per rank, at least 0 each, for the {name}; they are {numbers}")
    if sum(numbers) != length:
        raise Misused(f"the {name} has {length} {unit}, but its split sizes add up to {sum(numbers)}" if rows else
                      f"the {name} has {length} {unit}, which {size} ranks cannot share equally")
    unit_bytes = bytes_of(tensor) // length if length else 0
    starts = [sum(numbers[:i]) * unit_bytes for i in range(size)]
    return (Block * size)(*((start, number * unit_bytes) for start, number in zip(starts, numbers)))


def require_equal_own_blocks(sent, received):
    """Throws Misused unless a rank receives from itself the number of bytes that it sends to itself."""
    if sent != received:
        raise Misused(f"the block that this rank sends to itself has {sent} bytes, but it receives {received} bytes "
                      "from itself; both sizes must be equal")


def sizes_of(numbers):
    """Returns an array of size_t."""
    return (ctypes.c_size_t * len(numbers))(*numbers)


class Writable:
    """Contiguous tensors with the elements of the given ones, and the way back after the call."""

    def __init__(self, tensors, reads=True):
        self.given = tensors
        self.dense = [tensor if tensor.is_contiguous() else
                      (tensor.contiguous() if reads else torch.empty_like(
                          tensor, memory_format=torch.contiguous_format)) for tensor in tensors]

    def store(self):
        """Copies the elements back into tensors that are not contiguous."""
        for dense, given in zip(self.dense, self.given):
            if dense is not given:
                given.copy_(dense)
