# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The address, size and element type of the caller's data, without a copy: objects with the buffer protocol (NumPy
arrays, bytearray, array.array, memoryview, mmap, ...) and CPU tensors that export DLPack."""
import ctypes
import sys

from .element_types import BY_FORMAT, type_of_dlpack


_FOREIGN_ORDERS = (">", "!") if sys.byteorder == "little" else ("<",)


class Buffer:
    """The memory of one object, which stays valid as long as this exists."""
    __slots__ = ("address", "bytes", "item_bytes", "type", "described", "_keeps")

    def __init__(self, address, size, item_bytes, of_type, described, keeps):
        self.address = address
        self.bytes = size
        self.item_bytes = item_bytes
        self.type = of_type  # None if huddle cannot reduce elements of this type
        self.described = described
        self._keeps = keeps

    @property
    def of(self):
        """Equal for buffers with equal elements: the type, or the format if huddle does not know the type."""
        return self.described if self.type is None else self.type

    @property
    def is_swapped(self):
        """True if the elements have another byte order than this machine. DLPack has only that of the machine."""
        return self.described[:1] in _FOREIGN_ORDERS


class _PyBuffer(ctypes.Structure):
    """Py_buffer"""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None


class _Exported:
    """A buffer that an object exports for reading."""

    def __init__(self, exporter):
        self.view = _PyBuffer()
        _get_buffer(exporter, ctypes.byref(self.view), 0)

    def __del__(self):
        _release_buffer(ctypes.byref(self.view))


def _read_only_address(view):
    exported = _Exported(view)
    return exported.view.buf, exported


def buffer_of(data, name, writable):
    """Returns the Buffer of `data`, the argument called `name`. Throws TypeError if the object has no memory that
    huddle can access, and ValueError if it is not contiguous, or read-only although the call writes to it."""
    try:
        view = memoryview(data)
    except TypeError:
        return _dlpack_buffer(data, name)
    if not view.c_contiguous:
        raise ValueError(f"{name}: the array is not contiguous (in C order); pass a contiguous copy")
    if view.readonly:
        if writable:
            raise ValueError(f"{name}: the buffer is read-only, but the call writes to it")
        address, keeps = _read_only_address(view) if view.nbytes else (None, view)
    elif view.nbytes:
        keeps = ctypes.c_char.from_buffer(view)
        address = ctypes.addressof(keeps)
    else:
        address, keeps = None, view
    described = view.format
    return Buffer(address, view.nbytes, view.itemsize, BY_FORMAT.get(described), described, keeps)


class _DLTensor(ctypes.Structure):
    """The first fields of DLManagedTensor, which begins with a DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_pointer.restype = ctypes.c_void_p
_HOST_DEVICES = (1, 3, 11)  # memory of the CPU, and the same pinned for CUDA or ROCm


def _is_contiguous(shape, strides):
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def _capsule_of(data, name):
    if not hasattr(data, "__dlpack__"):
        raise TypeError(f"{name}: a {type(data).__name__} has neither the buffer protocol nor __dlpack__; pass a NumPy "
                        "array, a bytearray or a CPU tensor")
    device, _ = data.__dlpack_device__()
    if device not in _HOST_DEVICES:
        raise TypeError(f"{name}: the tensor is on device type {int(device)} of DLPack; huddle needs a CPU tensor")
    return data.__dlpack__()


def _dlpack_buffer(data, name):
    capsule = _capsule_of(data, name)  # frees its tensor when it is collected, because nothing consumes it
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    shape = tensor.shape[:tensor.ndim]
    if tensor.strides and not _is_contiguous(shape, tensor.strides[:tensor.ndim]) and 0 not in shape:
        raise ValueError(f"{name}: the tensor is not contiguous; pass a contiguous copy")
    count = 1
    for length in shape:
        count *= length
    item_bytes = (tensor.bits * tensor.lanes + 7) // 8
    of_type = type_of_dlpack(tensor.code, tensor.bits) if tensor.lanes == 1 else None
    address = tensor.data + tensor.byte_offset if count else None
    return Buffer(address, count * item_bytes, item_bytes, of_type, f"DLPack {tensor.code}:{tensor.bits}", capsule)
