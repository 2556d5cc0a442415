// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The standard ABI of MPI 5 (libmpi_abi.so.1). tests/mpi/abi checks it against the mpi_abi.h of
// MPICH and Intel MPI. The three abi.h headers define the same names; each back end includes one of
// them.
//
// None of the three defines MPI_ERRORS_RETURN: its value in MPICH 5.0.2 (0x143) is MPI_ERRORS_ABORT
// in Intel MPI 2021.19, and vice versa for 0x142. huddle instead creates error handlers that only
// record the error, which works in every MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpi/abi/find.h"

namespace huddle::mpi {

inline constexpr std::string_view abi_name = "MPI standard ABI";

// Handles point to opaque objects.
using Comm = struct CommObject*;
using Datatype = struct DatatypeObject*;
using Op = struct OpObject*;
using Info = struct InfoObject*;
using Request = struct RequestObject*;
using Session = struct SessionObject*;
using Errhandler = struct ErrhandlerObject*;
using Group = struct GroupObject*;
using Message = struct MessageObject*;
using Win = struct WinObject*;

using Aint = std::ptrdiff_t;
using Count = std::int64_t;
using CopyFunction = int (*)(Comm, int keyval, void* extra, void* in, void* out, int* flag);
using DeleteFunction = int (*)(Comm, int keyval, void* value, void* extra);
using ErrorFunction = void (*)(Comm*, int* code, ...);
using TypeCopyFunction = int (*)(Datatype, int keyval, void* extra, void* in, void* out, int* flag);
using TypeDeleteFunction = int (*)(Datatype, int keyval, void* value, void* extra);

struct Status {
  int source;
  int tag;
  int error;
  std::array<int, 5> reserved;
};

inline constexpr int success = 0;
inline constexpr int error_buffer = 1;
inline constexpr int error_count = 2;
inline constexpr int error_type = 3;
inline constexpr int error_tag = 4;
inline constexpr int error_comm = 5;
inline constexpr int error_rank = 6;
inline constexpr int error_request = 7;
inline constexpr int error_root = 8;
inline constexpr int error_group = 9;
inline constexpr int error_op = 10;
inline constexpr int error_topology = 11;
inline constexpr int error_dims = 12;
inline constexpr int error_arg = 13;
inline constexpr int error_unknown = 14;
inline constexpr int error_truncate = 15;
inline constexpr int error_other = 16;
inline constexpr int error_intern = 17;
inline constexpr int error_in_status = 19;
inline constexpr int error_pending = 18;
inline constexpr int error_keyval = 36;
inline constexpr int error_no_mem = 39;
inline constexpr int error_unsupported_operation = 55;
inline constexpr int error_proc_failed = 58;  // MPI_ERR_PROC_ABORTED

inline constexpr int undefined = -32766;
inline constexpr int any_source = -1;
inline constexpr int any_tag = -2;
inline constexpr int proc_null = -3;
inline constexpr int root_itself = -4;
inline constexpr int keyval_invalid = 0;
inline constexpr int tag_upper_bound = 501;  // MPI_TAG_UB

inline constexpr int thread_single = 0;
inline constexpr int thread_funneled = 1024;
inline constexpr int thread_serialized = 2048;
inline constexpr int thread_multiple = 4096;

inline constexpr int ident = 201;
inline constexpr int congruent = 202;
inline constexpr int similar = 203;
inline constexpr int unequal = 204;

inline constexpr int comm_type_shared = 221;

inline constexpr int cart = 211;
inline constexpr int graph = 212;
inline constexpr int dist_graph = 213;

inline constexpr int combiner_named = 101;
inline constexpr int combiner_dup = 102;
inline constexpr int combiner_contiguous = 103;
inline constexpr int combiner_vector = 104;
inline constexpr int combiner_hvector = 105;
inline constexpr int combiner_indexed = 106;
inline constexpr int combiner_hindexed = 107;
inline constexpr int combiner_indexed_block = 108;
inline constexpr int combiner_hindexed_block = 109;
inline constexpr int combiner_struct = 110;
inline constexpr int combiner_subarray = 111;
inline constexpr int combiner_darray = 112;
inline constexpr int combiner_f90_real = 113;
inline constexpr int combiner_f90_complex = 114;
inline constexpr int combiner_f90_integer = 115;
inline constexpr int combiner_resized = 116;

inline constexpr int max_library_version_string = 8192;
inline constexpr int max_error_string = 512;
inline constexpr int max_object_name = 128;
inline constexpr int max_processor_name = 256;

// Allreduce, and Reduce at its root, reject a receive buffer that equals the send buffer, unless
// the count is 0 (or the MPI is built without argument checks).
inline constexpr bool aliasing_is_error = true;
inline constexpr int aliased_allreduce_from = 1;
inline constexpr int error_aliased_allreduce = error_buffer;
inline constexpr int error_aliased_reduce = error_buffer;
// All other collectives reject equal buffers as well.
inline constexpr bool aliases_are_refused = true;

inline void* in_place() { return pointer_of<void*>(1); }
inline Status* status_ignore() { return nullptr; }
inline constexpr std::nullptr_t bottom = nullptr;

// Predefined handles are small constants.
struct Predefined {
  const char* name;
  std::uintptr_t value;
};

template <class Handle>
Handle handle(const Predefined& predefined, Find /*unused*/) {
  return pointer_of<Handle>(predefined.value);
}

inline constexpr Predefined comm_world = {"MPI_COMM_WORLD", 0x101};
inline constexpr Predefined comm_self = {"MPI_COMM_SELF", 0x102};
inline constexpr Predefined comm_null = {"MPI_COMM_NULL", 0x100};
inline constexpr Predefined group_null = {"MPI_GROUP_NULL", 0x108};
inline constexpr Predefined group_empty = {"MPI_GROUP_EMPTY", 0x109};
inline constexpr Predefined datatype_null = {"MPI_DATATYPE_NULL", 0x200};
inline constexpr Predefined op_null = {"MPI_OP_NULL", 0x020};
inline constexpr Predefined info_null = {"MPI_INFO_NULL", 0x130};
inline constexpr Predefined request_null = {"MPI_REQUEST_NULL", 0x180};
inline constexpr Predefined errhandler_null = {"MPI_ERRHANDLER_NULL", 0x140};
inline constexpr Predefined message_null = {"MPI_MESSAGE_NULL", 0x128};
inline constexpr Predefined message_no_proc = {"MPI_MESSAGE_NO_PROC", 0x129};
inline constexpr Predefined win_null = {"MPI_WIN_NULL", 0x110};
inline constexpr Predefined session_null = {"MPI_SESSION_NULL", 0x120};
inline constexpr Predefined null_copy_function = {"MPI_COMM_NULL_COPY_FN", 0};

// An MPI may lack some of these: Intel's lacks MPI_LOGICAL16, MPI_INTEGER16, MPI_REAL2 and
// MPI_COMPLEX4, and querying it about a missing type ends the program. So query the MPI about a
// type only after a program has used it. MPI_LONG_LONG_INT and MPI_C_COMPLEX are aliases of types
// listed here.
inline constexpr std::array<Predefined, 70> datatypes = {{
    // C integers, characters and booleans
    {"MPI_SIGNED_CHAR", 0x244},
    {"MPI_UNSIGNED_CHAR", 0x245},
    {"MPI_SHORT", 0x208},
    {"MPI_UNSIGNED_SHORT", 0x20c},
    {"MPI_INT", 0x209},
    {"MPI_UNSIGNED", 0x20d},
    {"MPI_LONG", 0x20a},
    {"MPI_UNSIGNED_LONG", 0x20e},
    {"MPI_LONG_LONG", 0x20b},
    {"MPI_UNSIGNED_LONG_LONG", 0x20f},
    {"MPI_INT8_T", 0x240},
    {"MPI_INT16_T", 0x248},
    {"MPI_INT32_T", 0x250},
    {"MPI_INT64_T", 0x258},
    {"MPI_UINT8_T", 0x241},
    {"MPI_UINT16_T", 0x249},
    {"MPI_UINT32_T", 0x251},
    {"MPI_UINT64_T", 0x259},
    {"MPI_CHAR", 0x243},
    {"MPI_WCHAR", 0x23c},
    {"MPI_C_BOOL", 0x238},
    {"MPI_CXX_BOOL", 0x239},
    // C floating-point types
    {"MPI_FLOAT", 0x210},
    {"MPI_DOUBLE", 0x214},
    {"MPI_LONG_DOUBLE", 0x220},
    {"MPI_C_FLOAT_COMPLEX", 0x212},
    {"MPI_C_DOUBLE_COMPLEX", 0x216},
    {"MPI_C_LONG_DOUBLE_COMPLEX", 0x224},
    {"MPI_CXX_FLOAT_COMPLEX", 0x213},
    {"MPI_CXX_DOUBLE_COMPLEX", 0x217},
    {"MPI_CXX_LONG_DOUBLE_COMPLEX", 0x225},
    // MPI's own types
    {"MPI_BYTE", 0x247},
    {"MPI_PACKED", 0x207},
    {"MPI_AINT", 0x201},
    {"MPI_OFFSET", 0x203},
    {"MPI_COUNT", 0x202},
    // Fortran types
    {"MPI_INTEGER", 0x219},
    {"MPI_INTEGER1", 0x2c1},
    {"MPI_INTEGER2", 0x2c9},
    {"MPI_INTEGER4", 0x2d1},
    {"MPI_INTEGER8", 0x2d9},
    {"MPI_INTEGER16", 0x2e1},
    {"MPI_REAL", 0x21a},
    {"MPI_DOUBLE_PRECISION", 0x21c},
    {"MPI_REAL2", 0x2ca},
    {"MPI_REAL4", 0x2d2},
    {"MPI_REAL8", 0x2da},
    {"MPI_REAL16", 0x2e2},
    {"MPI_COMPLEX", 0x21b},
    {"MPI_DOUBLE_COMPLEX", 0x21d},
    {"MPI_COMPLEX4", 0x2d3},
    {"MPI_COMPLEX8", 0x2db},
    {"MPI_COMPLEX16", 0x2e3},
    {"MPI_COMPLEX32", 0x2eb},
    {"MPI_LOGICAL", 0x218},
    {"MPI_LOGICAL1", 0x2c0},
    {"MPI_LOGICAL2", 0x2c8},
    {"MPI_LOGICAL4", 0x2d0},
    {"MPI_LOGICAL8", 0x2d8},
    {"MPI_LOGICAL16", 0x2e0},
    {"MPI_CHARACTER", 0x21e},
    // Pairs
    {"MPI_FLOAT_INT", 0x228},
    {"MPI_DOUBLE_INT", 0x229},
    {"MPI_LONG_INT", 0x22a},
    {"MPI_2INT", 0x22b},
    {"MPI_SHORT_INT", 0x22c},
    {"MPI_LONG_DOUBLE_INT", 0x22d},
    {"MPI_2INTEGER", 0x232},
    {"MPI_2REAL", 0x230},
    {"MPI_2DOUBLE_PRECISION", 0x231},
}};

inline constexpr std::array<Predefined, 14> operators = {{
    {"MPI_SUM", 0x021},
    {"MPI_PROD", 0x024},
    {"MPI_MIN", 0x022},
    {"MPI_MAX", 0x023},
    {"MPI_LAND", 0x030},
    {"MPI_LOR", 0x031},
    {"MPI_LXOR", 0x032},
    {"MPI_BAND", 0x028},
    {"MPI_BOR", 0x029},
    {"MPI_BXOR", 0x02a},
    {"MPI_MINLOC", 0x038},
    {"MPI_MAXLOC", 0x039},
    {"MPI_REPLACE", 0x03c},
    {"MPI_NO_OP", 0x03d},
}};

}  // namespace huddle::mpi
