# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Loads libhuddle.so and declares its functions as include/huddle/huddle.h does."""
import ctypes
import functools
import os
import pathlib

from .errors import LibraryNotFound, error_of

# Before 1.0 a minor version may break programs, so it is part of the name.
LIBRARY_NAME = "libhuddle.so.0.1"
INTERFACE = "0.1"
# Path of the library, for a build that is not installed. It does not begin with HUDDLE_, because `huddle run` warns
# of such variables that are not settings.
PATH_VARIABLE = "LIBHUDDLE"


class Message(ctypes.Structure):
    """huddle_message"""
    _fields_ = [("text", ctypes.c_char * 512)]

    def __str__(self):
        return self.text.decode("utf-8", "replace")


class Settings(ctypes.Structure):
    """huddle_settings"""
    _fields_ = [("size", ctypes.c_size_t), ("machine_file", ctypes.c_char_p), ("cap_bytes", ctypes.c_size_t),
                ("queue_bytes", ctypes.c_size_t), ("progress", ctypes.c_void_p), ("progress_arg", ctypes.c_void_p),
                ("heap_bytes", ctypes.c_size_t)]


GatherFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Bootstrap(ctypes.Structure):
    """huddle_bootstrap"""
    _fields_ = [("rank", ctypes.c_int), ("ranks", ctypes.c_int), ("allgather", GatherFunction),
                ("arg", ctypes.c_void_p)]


class Block(ctypes.Structure):
    """huddle_block"""
    _fields_ = [("offset", ctypes.c_ssize_t), ("bytes", ctypes.c_size_t)]


_POINTER, _INT, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p
_HANDLE, _MESSAGE, _BLOCKS = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Message), ctypes.POINTER(Block)
# Name without `huddle_`, then the type of the result and those of the arguments.
_FUNCTIONS = {
    "version": (_TEXT,),
    "context_create": (_INT, ctypes.POINTER(Settings), _HANDLE, _MESSAGE),
    "context_free": (None, _POINTER),
    "rendezvous_at_path": (_INT, _TEXT, _INT, _INT, _INT, _HANDLE, _MESSAGE),
    "rendezvous_bootstrap": (Bootstrap, _POINTER),
    "rendezvous_free": (None, _POINTER),
    "team_create": (_INT, _POINTER, ctypes.POINTER(Bootstrap), _HANDLE, _MESSAGE),
    "team_free": (None, _POINTER),
    "team_rank": (_INT, _POINTER),
    "team_ranks": (_INT, _POINTER),
    "team_message": (_TEXT, _POINTER),
    "team_set_timeout": (_INT, _POINTER, _INT),
    "type_bytes": (_SIZE, _INT),
    "barrier": (_INT, _POINTER),
    "bcast": (_INT, _POINTER, _POINTER, _SIZE, _INT),
    "reduce": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT, _INT, _INT),
    "allreduce": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT, _INT),
    "allgather": (_INT, _POINTER, _POINTER, _POINTER, _SIZE),
    "allgatherv": (_INT, _POINTER, _POINTER, _POINTER, _BLOCKS),
    "alltoall": (_INT, _POINTER, _POINTER, _POINTER, _SIZE),
    "alltoallv": (_INT, _POINTER, _POINTER, _BLOCKS, _POINTER, _BLOCKS),
    "gather": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT),
    "gatherv": (_INT, _POINTER, _POINTER, _SIZE, _POINTER, _BLOCKS, _INT),
    "scatter": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT),
    "scatterv": (_INT, _POINTER, _POINTER, _BLOCKS, _POINTER, _SIZE, _INT),
    "reduce_scatter_block": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT, _INT),
    "reduce_scatter": (_INT, _POINTER, _POINTER, _POINTER, ctypes.POINTER(_SIZE), _INT, _INT),
    "scan": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT, _INT),
    "exscan": (_INT, _POINTER, _POINTER, _POINTER, _SIZE, _INT, _INT),
    "explain": (_INT, _POINTER, _INT, _SIZE, _SIZE, _INT, _POINTER, _SIZE, ctypes.POINTER(_SIZE)),
}


def candidates():
    """Returns where the library may be, in the order of the search: $LIBHUDDLE alone if it is set, the folder `lib`
    of this package, the `lib` folders of the prefix that this package is installed in, and the loader's path."""
    if os.environ.get(PATH_VARIABLE):
        return [os.environ[PATH_VARIABLE]]
    here = pathlib.Path(__file__).resolve().parent
    around = [here / "lib", *(prefix / "lib" for prefix in list(here.parents)[1:4])]
    paths = [folder / LIBRARY_NAME for folder in around]
    paths += [path for folder in around[1:] for path in sorted(folder.glob(f"*-linux-gnu/{LIBRARY_NAME}"))]
    return [str(path) for path in paths if path.exists()] + [LIBRARY_NAME]


def _open():
    failures = []
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            failures.append(str(error))
    raise LibraryNotFound(f"cannot load libhuddle: {'; '.join(failures)}. Install huddle, or set {PATH_VARIABLE} to "
                          f"the path of {LIBRARY_NAME}")


@functools.lru_cache(maxsize=None)
def library():
    """Returns the loaded library. Its functions release the GIL while they run. Throws LibraryNotFound."""
    loaded = _open()
    loaded.huddle_version.restype = ctypes.c_char_p
    version = loaded.huddle_version().decode()
    if version.rpartition(".")[0] != INTERFACE:
        raise LibraryNotFound(f"{loaded._name} has version {version}; this package needs {INTERFACE}")
    for name, (result, *arguments) in _FUNCTIONS.items():
        if not hasattr(loaded, f"huddle_{name}"):
            raise LibraryNotFound(f"{loaded._name} has no huddle_{name}: it is older than this package")
        function = getattr(loaded, f"huddle_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


def make_handle(function, *arguments):
    """Calls a function that creates a handle, and returns the handle. Throws what its status stands for."""
    handle, message = ctypes.c_void_p(), Message()
    status = function(*arguments, ctypes.byref(handle), ctypes.byref(message))
    if status != 0:
        raise error_of(status, str(message))
    return handle.value


@functools.lru_cache(maxsize=None)
def process_context():
    """Returns the context that all communicators of this process share. It exists until the process ends."""
    settings = Settings(size=ctypes.sizeof(Settings))
    return make_handle(library().huddle_context_create, ctypes.byref(settings))


# A forked child must not use the context of its parent; it creates its own one.
os.register_at_fork(after_in_child=process_context.cache_clear)
