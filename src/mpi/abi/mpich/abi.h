// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ABI that MPICH 4 and 5, Debian's MPICH and Intel MPI have in common (libmpi.so.12,
// libmpich.so.12). tests/mpi/abi checks it against their mpi.h. The three abi.h headers define the
// same names; each back end includes one of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "mpi/abi/find.h"

namespace huddle::mpi {

inline constexpr std::string_view abi_name = "MPICH";

// Handles are ints whose upper bits encode the kind of object.
using Comm = int;
using Datatype = int;
using Op = int;
using Info = int;
using Request = int;
using Session = int;
using Errhandler = int;
using Group = int;
using Message = int;
using Win = int;

using Aint = std::ptrdiff_t;
using Count = long long;
using CopyFunction = int (*)(Comm, int keyval, void* extra, void* in, void* out, int* flag);
using DeleteFunction = int (*)(Comm, int keyval, void* value, void* extra);
using ErrorFunction = void (*)(Comm*, int* code, ...);
using TypeCopyFunction = int (*)(Datatype, int keyval, void* extra, void* in, void* out, int* flag);
using TypeDeleteFunction = int (*)(Datatype, int keyval, void* value, void* extra);

struct Status {
  int count_low;
  int count_high_and_cancelled;
  int source;
  int tag;
  int error;
};

inline constexpr int success = 0;
inline constexpr int error_buffer = 1;
inline constexpr int error_count = 2;
inline constexpr int error_type = 3;
inline constexpr int error_tag = 4;
inline constexpr int error_comm = 5;
inline constexpr int error_rank = 6;
inline constexpr int error_request = 19;
inline constexpr int error_root = 7;
inline constexpr int error_group = 8;
inline constexpr int error_op = 9;
inline constexpr int error_topology = 10;
inline constexpr int error_dims = 11;
inline constexpr int error_arg = 12;
inline constexpr int error_unknown = 13;
inline constexpr int error_truncate = 14;
inline constexpr int error_other = 15;
inline constexpr int error_intern = 16;
inline constexpr int error_in_status = 17;
inline constexpr int error_pending = 18;
inline constexpr int error_keyval = 48;
inline constexpr int error_no_mem = 34;
inline constexpr int error_unsupported_operation = 44;
inline constexpr int error_proc_failed = 101;  // MPIX_ERR_PROC_FAILED

inline constexpr int undefined = -32766;
inline constexpr int any_source = -2;
inline constexpr int any_tag = -1;
inline constexpr int proc_null = -1;
inline constexpr int root_itself = -3;
inline constexpr int keyval_invalid = 0x24000000;
inline constexpr int tag_upper_bound = 0x64400001;  // MPI_TAG_UB

inline constexpr int thread_single = 0;
inline constexpr int thread_funneled = 1;
inline constexpr int thread_serialized = 2;
inline constexpr int thread_multiple = 3;

inline constexpr int ident = 0;
inline constexpr int congruent = 1;
inline constexpr int similar = 2;
inline constexpr int unequal = 3;

inline constexpr int comm_type_shared = 1;

inline constexpr int cart = 2;
inline constexpr int graph = 1;
inline constexpr int dist_graph = 3;

inline constexpr int combiner_named = 1;
inline constexpr int combiner_dup = 2;
inline constexpr int combiner_contiguous = 3;
inline constexpr int combiner_vector = 4;
inline constexpr int combiner_hvector = 6;
inline constexpr int combiner_indexed = 7;
inline constexpr int combiner_hindexed = 9;
inline constexpr int combiner_indexed_block = 10;
inline constexpr int combiner_hindexed_block = 19;
inline constexpr int combiner_struct = 12;
inline constexpr int combiner_subarray = 13;
inline constexpr int combiner_darray = 14;
inline constexpr int combiner_f90_real = 15;
inline constexpr int combiner_f90_complex = 16;
inline constexpr int combiner_f90_integer = 17;
inline constexpr int combiner_resized = 18;

inline constexpr int max_library_version_string = 8192;
inline constexpr int max_error_string = 512;
inline constexpr int max_object_name = 128;
inline constexpr int max_processor_name = 128;

// Allreduce, and Reduce at its root, reject a receive buffer that equals the send buffer, unless
// the count is 0 (or the MPI is built without argument checks).
inline constexpr bool aliasing_is_error = true;
inline constexpr int aliased_allreduce_from = 1;
inline constexpr int error_aliased_allreduce = error_buffer;
inline constexpr int error_aliased_reduce = error_buffer;
// All other collectives reject equal buffers as well.
inline constexpr bool aliases_are_refused = true;

inline void* in_place() { return pointer_of<void*>(UINTPTR_MAX); }
inline Status* status_ignore() { return pointer_of<Status*>(1); }
inline constexpr std::nullptr_t bottom = nullptr;

// Predefined handles are constants.
struct Predefined {
  const char* name;
  std::uintptr_t value;
};

template <class Handle>
Handle handle(const Predefined& predefined, Find /*unused*/) {
  if constexpr (std::is_integral_v<Handle>) {
    return static_cast<Handle>(static_cast<std::uint32_t>(predefined.value));
  } else {
    return pointer_of<Handle>(predefined.value);
  }
}

inline constexpr Predefined comm_world = {"MPI_COMM_WORLD", 0x44000000};
inline constexpr Predefined comm_self = {"MPI_COMM_SELF", 0x44000001};
inline constexpr Predefined comm_null = {"MPI_COMM_NULL", 0x04000000};
inline constexpr Predefined group_null = {"MPI_GROUP_NULL", 0x08000000};
inline constexpr Predefined group_empty = {"MPI_GROUP_EMPTY", 0x48000000};
inline constexpr Predefined datatype_null = {"MPI_DATATYPE_NULL", 0x0c000000};
inline constexpr Predefined op_null = {"MPI_OP_NULL", 0x18000000};
inline constexpr Predefined info_null = {"MPI_INFO_NULL", 0x1c000000};
inline constexpr Predefined request_null = {"MPI_REQUEST_NULL", 0x2c000000};
inline constexpr Predefined errhandler_null = {"MPI_ERRHANDLER_NULL", 0x14000000};
inline constexpr Predefined message_null = {"MPI_MESSAGE_NULL", 0x2c000000};
inline constexpr Predefined message_no_proc = {"MPI_MESSAGE_NO_PROC", 0x6c000000};
inline constexpr Predefined win_null = {"MPI_WIN_NULL", 0x20000000};
inline constexpr Predefined session_null = {"MPI_SESSION_NULL", 0x38000000};
inline constexpr Predefined null_copy_function = {"MPI_COMM_NULL_COPY_FN", 0};

// A value denotes the same type in every MPI of this family that has the type. But some of these
// MPIs lack some types: MPI_LOGICAL1 to 16, MPI_INTEGER16, MPI_REAL2 and MPI_COMPLEX4 were added
// later, and a build without Fortran has no Fortran types. Querying a missing type ends the
// program, so query the MPI about a type only after a program has used it. MPI_LONG_LONG_INT and
// MPI_C_COMPLEX are aliases of types listed here; MPI_LB and MPI_UB carry no data.
inline constexpr std::array<Predefined, 70> datatypes = {{
    // C integers, characters and booleans
    {"MPI_SIGNED_CHAR", 0x4c000118},
    {"MPI_UNSIGNED_CHAR", 0x4c000102},
    {"MPI_SHORT", 0x4c000203},
    {"MPI_UNSIGNED_SHORT", 0x4c000204},
    {"MPI_INT", 0x4c000405},
    {"MPI_UNSIGNED", 0x4c000406},
    {"MPI_LONG", 0x4c000807},
    {"MPI_UNSIGNED_LONG", 0x4c000808},
    {"MPI_LONG_LONG", 0x4c000809},
    {"MPI_UNSIGNED_LONG_LONG", 0x4c000819},
    {"MPI_INT8_T", 0x4c000137},
    {"MPI_INT16_T", 0x4c000238},
    {"MPI_INT32_T", 0x4c000439},
    {"MPI_INT64_T", 0x4c00083a},
    {"MPI_UINT8_T", 0x4c00013b},
    {"MPI_UINT16_T", 0x4c00023c},
    {"MPI_UINT32_T", 0x4c00043d},
    {"MPI_UINT64_T", 0x4c00083e},
    {"MPI_CHAR", 0x4c000101},
    {"MPI_WCHAR", 0x4c00040e},
    {"MPI_C_BOOL", 0x4c00013f},
    {"MPI_CXX_BOOL", 0x4c000133},
    // C floating-point types
    {"MPI_FLOAT", 0x4c00040a},
    {"MPI_DOUBLE", 0x4c00080b},
    {"MPI_LONG_DOUBLE", 0x4c00100c},
    {"MPI_C_FLOAT_COMPLEX", 0x4c000840},
    {"MPI_C_DOUBLE_COMPLEX", 0x4c001041},
    {"MPI_C_LONG_DOUBLE_COMPLEX", 0x4c002042},
    {"MPI_CXX_FLOAT_COMPLEX", 0x4c000834},
    {"MPI_CXX_DOUBLE_COMPLEX", 0x4c001035},
    {"MPI_CXX_LONG_DOUBLE_COMPLEX", 0x4c002036},
    // MPI's own types
    {"MPI_BYTE", 0x4c00010d},
    {"MPI_PACKED", 0x4c00010f},
    {"MPI_AINT", 0x4c000843},
    {"MPI_OFFSET", 0x4c000844},
    {"MPI_COUNT", 0x4c000845},
    // Fortran types
    {"MPI_INTEGER", 0x4c00041b},
    {"MPI_INTEGER1", 0x4c00012d},
    {"MPI_INTEGER2", 0x4c00022f},
    {"MPI_INTEGER4", 0x4c000430},
    {"MPI_INTEGER8", 0x4c000831},
    {"MPI_INTEGER16", 0x4c001032},
    {"MPI_REAL", 0x4c00041c},
    {"MPI_DOUBLE_PRECISION", 0x4c00081f},
    {"MPI_REAL2", 0x4c000226},
    {"MPI_REAL4", 0x4c000427},
    {"MPI_REAL8", 0x4c000829},
    {"MPI_REAL16", 0x4c00102b},
    {"MPI_COMPLEX", 0x4c00081e},
    {"MPI_DOUBLE_COMPLEX", 0x4c001022},
    {"MPI_COMPLEX4", 0x4c00042e},
    {"MPI_COMPLEX8", 0x4c000828},
    {"MPI_COMPLEX16", 0x4c00102a},
    {"MPI_COMPLEX32", 0x4c00202c},
    {"MPI_LOGICAL", 0x4c00041d},
    {"MPI_LOGICAL1", 0x4c000147},
    {"MPI_LOGICAL2", 0x4c000248},
    {"MPI_LOGICAL4", 0x4c000449},
    {"MPI_LOGICAL8", 0x4c00084a},
    {"MPI_LOGICAL16", 0x4c00104b},
    {"MPI_CHARACTER", 0x4c00011a},
    // Pairs
    {"MPI_FLOAT_INT", 0x8c000000},
    {"MPI_DOUBLE_INT", 0x8c000001},
    {"MPI_LONG_INT", 0x8c000002},
    {"MPI_2INT", 0x4c000816},
    {"MPI_SHORT_INT", 0x8c000003},
    {"MPI_LONG_DOUBLE_INT", 0x8c000004},
    {"MPI_2INTEGER", 0x4c000820},
    {"MPI_2REAL", 0x4c000821},
    {"MPI_2DOUBLE_PRECISION", 0x4c001023},
}};

inline constexpr std::array<Predefined, 14> operators = {{
    {"MPI_SUM", 0x58000003},
    {"MPI_PROD", 0x58000004},
    {"MPI_MIN", 0x58000002},
    {"MPI_MAX", 0x58000001},
    {"MPI_LAND", 0x58000005},
    {"MPI_LOR", 0x58000007},
    {"MPI_LXOR", 0x58000009},
    {"MPI_BAND", 0x58000006},
    {"MPI_BOR", 0x58000008},
    {"MPI_BXOR", 0x5800000a},
    {"MPI_MINLOC", 0x5800000b},
    {"MPI_MAXLOC", 0x5800000c},
    {"MPI_REPLACE", 0x5800000d},
    {"MPI_NO_OP", 0x5800000e},
}};

}  // namespace huddle::mpi
