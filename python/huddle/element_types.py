# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The types of elements and the operators of reductions, with the numbers that huddle.h gives them."""
import enum
import struct


class Type(enum.IntEnum):
    """The type of an element (huddle_type)."""
    INT8 = 0
    INT16 = 1
    INT32 = 2
    INT64 = 3
    UINT8 = 4
    UINT16 = 5
    UINT32 = 6
    UINT64 = 7
    BOOL = 8
    FLOAT16 = 9
    BFLOAT16 = 10
    FLOAT = 11
    DOUBLE = 12
    LONG_DOUBLE = 13
    COMPLEX_FLOAT = 14
    COMPLEX_DOUBLE = 15
    COMPLEX_LONG_DOUBLE = 16


class Operator(enum.IntEnum):
    """An operator of a reduction (huddle_operator)."""
    SUM = 0
    PRODUCT = 1
    MIN = 2
    MAX = 3
    LOGICAL_AND = 4
    LOGICAL_OR = 5
    LOGICAL_XOR = 6
    BITWISE_AND = 7
    BITWISE_OR = 8
    BITWISE_XOR = 9


_SIGNED = {1: Type.INT8, 2: Type.INT16, 4: Type.INT32, 8: Type.INT64}
_UNSIGNED = {1: Type.UINT8, 2: Type.UINT16, 4: Type.UINT32, 8: Type.UINT64}
_OTHERS = {"?": Type.BOOL, "e": Type.FLOAT16, "f": Type.FLOAT, "d": Type.DOUBLE, "g": Type.LONG_DOUBLE,
           "Zf": Type.COMPLEX_FLOAT, "Zd": Type.COMPLEX_DOUBLE, "Zg": Type.COMPLEX_LONG_DOUBLE}


def _formats():
    formats = dict(_OTHERS)
    formats.update({letter: _SIGNED[struct.calcsize(letter)] for letter in "bhilqn"})
    formats.update({letter: _UNSIGNED[struct.calcsize(letter)] for letter in "BHILQN"})
    for prefix in "@=<":
        # Standard sizes of "l" differ from native ones.
        sizes = {letter: struct.calcsize(("<" if prefix in "=<" else "@") + letter) for letter in "bhilqBHILQ"}
        formats.update({prefix + letter: (_SIGNED if letter.islower() else _UNSIGNED)[size]
                        for letter, size in sizes.items()})
        formats.update({prefix + letter: of for letter, of in _OTHERS.items()})
    return formats


# The types of the formats of the buffer protocol, in native byte order.
BY_FORMAT = _formats()
_DLPACK_COMPLEX = {64: Type.COMPLEX_FLOAT, 128: Type.COMPLEX_DOUBLE}
_DLPACK_FLOAT = {16: Type.FLOAT16, 32: Type.FLOAT, 64: Type.DOUBLE}


def type_of_dlpack(code, bits):
    """Returns the type that DLPack describes by a code and a number of bits; None if huddle does not have it."""
    tables = {0: {8 * size: of for size, of in _SIGNED.items()}, 1: {8 * size: of for size, of in _UNSIGNED.items()},
              2: _DLPACK_FLOAT, 4: {16: Type.BFLOAT16}, 5: _DLPACK_COMPLEX, 6: {8: Type.BOOL}}
    return tables.get(code, {}).get(bits)
