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


_BY_NAME = {**{of.name.lower(): of for of in Type}, "float32": Type.FLOAT, "float64": Type.DOUBLE,
            "longdouble": Type.LONG_DOUBLE, "complex64": Type.COMPLEX_FLOAT, "complex128": Type.COMPLEX_DOUBLE,
            "clongdouble": Type.COMPLEX_LONG_DOUBLE, "bool_": Type.BOOL}
if struct.calcsize("P") == 8:  # NumPy names these types by their size in memory
    _BY_NAME.update({"float128": Type.LONG_DOUBLE, "complex256": Type.COMPLEX_LONG_DOUBLE})


def type_named(dtype):
    """Returns the Type that the argument `dtype` of a reduction describes: a Type, its number, its name, a name of
    NumPy, or a type of NumPy. Throws TypeError."""
    name = dtype
    if isinstance(dtype, type):
        # Only types of NumPy: Python's float has another size than "float".
        name = dtype.__name__ if dtype.__module__ == "numpy" else None
    elif not isinstance(dtype, (str, int)):
        name = getattr(dtype, "name", None)
    try:
        return Type(name) if isinstance(name, int) else _BY_NAME[name.lower()]
    except (AttributeError, KeyError, ValueError):
        raise TypeError(f"there is no element type {dtype!r}; use one of {', '.join(_BY_NAME)}") from None
