// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The ABI of Open MPI 4.1 and 5.0 (libmpi.so.40). tests/mpi/abi checks it against their mpi.h. The
// three abi.h headers define the same names; each back end includes one of them.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpi/abi/find.h"

namespace huddle::mpi {

inline constexpr std::string_view abi_name = "Open MPI";

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
using Count = long long;
using CopyFunction = int (*)(Comm, int keyval, void* extra, void* in, void* out, int* flag);
using DeleteFunction = int (*)(Comm, int keyval, void* value, void* extra);
using ErrorFunction = void (*)(Comm*, int* code, ...);
using TypeCopyFunction = int (*)(Datatype, int keyval, void* extra, void* in, void* out, int* flag);
using TypeDeleteFunction = int (*)(Datatype, int keyval, void* value, void* extra);

struct Status {
  int source;
  int tag;
  int error;
  int cancelled;
  std::size_t bytes;
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
inline constexpr int error_in_status = 18;
inline constexpr int error_pending = 19;
inline constexpr int error_keyval = 36;
inline constexpr int error_no_mem = 39;
inline constexpr int error_unsupported_operation = 52;
// Open MPI 4 has no error class for a failed process; Open MPI 5 adds one.
inline constexpr int error_proc_failed = error_other;

inline constexpr int undefined = -32766;
inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;
inline constexpr int proc_null = -2;
inline constexpr int root_itself = -4;
inline constexpr int keyval_invalid = -1;
inline constexpr int tag_upper_bound = 0;  // MPI_TAG_UB

inline constexpr int thread_single = 0;
inline constexpr int thread_funneled = 1;
inline constexpr int thread_serialized = 2;
inline constexpr int thread_multiple = 3;

inline constexpr int ident = 0;
inline constexpr int congruent = 1;
inline constexpr int similar = 2;
inline constexpr int unequal = 3;

inline constexpr int comm_type_shared = 0;

inline constexpr int cart = 1;
inline constexpr int graph = 2;
inline constexpr int dist_graph = 3;

inline constexpr int combiner_named = 0;
inline constexpr int combiner_dup = 1;
inline constexpr int combiner_contiguous = 2;
inline constexpr int combiner_vector = 3;
inline constexpr int combiner_hvector = 5;
inline constexpr int combiner_indexed = 6;
inline constexpr int combiner_hindexed = 8;
inline constexpr int combiner_indexed_block = 9;
inline constexpr int combiner_hindexed_block = 18;
inline constexpr int combiner_struct = 11;
inline constexpr int combiner_subarray = 12;
inline constexpr int combiner_darray = 13;
inline constexpr int combiner_f90_real = 14;
inline constexpr int combiner_f90_complex = 15;
inline constexpr int combiner_f90_integer = 16;
inline constexpr int combiner_resized = 17;

inline constexpr int max_library_version_string = 256;
inline constexpr int max_error_string = 256;
inline constexpr int max_object_name = 64;
inline constexpr int max_processor_name = 256;

// At its root, Reduce rejects a receive buffer that equals the send buffer, unless the count is 0;
// Allreduce does so if the count is at least 2. The two return different error classes.
inline constexpr bool aliasing_is_error = true;
inline constexpr int aliased_allreduce_from = 2;
inline constexpr int error_aliased_allreduce = error_buffer;
inline constexpr int error_aliased_reduce = error_arg;
// The other collectives treat equal buffers as in-place.
inline constexpr bool aliases_are_refused = false;

inline void* in_place() { return pointer_of<void*>(1); }
inline Status* status_ignore() { return nullptr; }
inline constexpr std::nullptr_t bottom = nullptr;

// Predefined handles are the addresses of objects that the library exports.
struct Predefined {
  const char* name;
  const char* symbol;
};

// Returns the address of such an object. A program that is linked with the MPI contains copies of
// these objects (copy relocations), which the library then uses instead of its own. So this
// searches the global scope first, and the MPI itself only if it was loaded privately.
inline void* object_of(const char* symbol, Find find) {
  void* const meant_by_all = dlsym(RTLD_DEFAULT, symbol);
  return meant_by_all != nullptr ? meant_by_all : find(symbol);
}

// Returns null if the library has no such object: Open MPI 4 lacks some that Open MPI 5 has.
template <class Handle>
Handle handle(const Predefined& predefined, Find find) {
  return reinterpret_cast<Handle>(object_of(predefined.symbol, find));
}

inline constexpr Predefined comm_world = {"MPI_COMM_WORLD", "ompi_mpi_comm_world"};
inline constexpr Predefined comm_self = {"MPI_COMM_SELF", "ompi_mpi_comm_self"};
inline constexpr Predefined comm_null = {"MPI_COMM_NULL", "ompi_mpi_comm_null"};
inline constexpr Predefined group_null = {"MPI_GROUP_NULL", "ompi_mpi_group_null"};
inline constexpr Predefined group_empty = {"MPI_GROUP_EMPTY", "ompi_mpi_group_empty"};
inline constexpr Predefined datatype_null = {"MPI_DATATYPE_NULL", "ompi_mpi_datatype_null"};
inline constexpr Predefined op_null = {"MPI_OP_NULL", "ompi_mpi_op_null"};
inline constexpr Predefined info_null = {"MPI_INFO_NULL", "ompi_mpi_info_null"};
inline constexpr Predefined request_null = {"MPI_REQUEST_NULL", "ompi_request_null"};
inline constexpr Predefined errhandler_null = {"MPI_ERRHANDLER_NULL", "ompi_mpi_errhandler_null"};
inline constexpr Predefined message_null = {"MPI_MESSAGE_NULL", "ompi_message_null"};
inline constexpr Predefined message_no_proc = {"MPI_MESSAGE_NO_PROC", "ompi_message_no_proc"};
inline constexpr Predefined win_null = {"MPI_WIN_NULL", "ompi_mpi_win_null"};
inline constexpr Predefined session_null = {"MPI_SESSION_NULL", "ompi_mpi_instance_null"};
inline constexpr Predefined null_copy_function = {"MPI_COMM_NULL_COPY_FN",
                                                  "OMPI_C_MPI_COMM_NULL_COPY_FN"};

// Some datatypes exist without being usable (MPI_REAL2 if the compiler had no such type), so query
// the MPI about a type only after a program has used it. MPI_LONG_LONG_INT and MPI_C_COMPLEX are
// aliases of types listed here; MPI_LB and MPI_UB carry no data.
inline constexpr std::array<Predefined, 71> datatypes = {{
    // C integers, characters and booleans
    {"MPI_SIGNED_CHAR", "ompi_mpi_signed_char"},
    {"MPI_UNSIGNED_CHAR", "ompi_mpi_unsigned_char"},
    {"MPI_SHORT", "ompi_mpi_short"},
    {"MPI_UNSIGNED_SHORT", "ompi_mpi_unsigned_short"},
    {"MPI_INT", "ompi_mpi_int"},
    {"MPI_UNSIGNED", "ompi_mpi_unsigned"},
    {"MPI_LONG", "ompi_mpi_long"},
    {"MPI_UNSIGNED_LONG", "ompi_mpi_unsigned_long"},
    {"MPI_LONG_LONG", "ompi_mpi_long_long_int"},
    {"MPI_UNSIGNED_LONG_LONG", "ompi_mpi_unsigned_long_long"},
    {"MPI_INT8_T", "ompi_mpi_int8_t"},
    {"MPI_INT16_T", "ompi_mpi_int16_t"},
    {"MPI_INT32_T", "ompi_mpi_int32_t"},
    {"MPI_INT64_T", "ompi_mpi_int64_t"},
    {"MPI_UINT8_T", "ompi_mpi_uint8_t"},
    {"MPI_UINT16_T", "ompi_mpi_uint16_t"},
    {"MPI_UINT32_T", "ompi_mpi_uint32_t"},
    {"MPI_UINT64_T", "ompi_mpi_uint64_t"},
    {"MPI_CHAR", "ompi_mpi_char"},
    {"MPI_WCHAR", "ompi_mpi_wchar"},
    {"MPI_C_BOOL", "ompi_mpi_c_bool"},
    {"MPI_CXX_BOOL", "ompi_mpi_cxx_bool"},
    // C floating-point types
    {"MPI_FLOAT", "ompi_mpi_float"},
    {"MPI_DOUBLE", "ompi_mpi_double"},
    {"MPI_LONG_DOUBLE", "ompi_mpi_long_double"},
    {"MPI_C_FLOAT_COMPLEX", "ompi_mpi_c_float_complex"},
    {"MPI_C_DOUBLE_COMPLEX", "ompi_mpi_c_double_complex"},
    {"MPI_C_LONG_DOUBLE_COMPLEX", "ompi_mpi_c_long_double_complex"},
    {"MPI_CXX_FLOAT_COMPLEX", "ompi_mpi_cxx_cplex"},
    {"MPI_CXX_DOUBLE_COMPLEX", "ompi_mpi_cxx_dblcplex"},
    {"MPI_CXX_LONG_DOUBLE_COMPLEX", "ompi_mpi_cxx_ldblcplex"},
    // MPI's own types
    {"MPI_BYTE", "ompi_mpi_byte"},
    {"MPI_PACKED", "ompi_mpi_packed"},
    {"MPI_AINT", "ompi_mpi_aint"},
    {"MPI_OFFSET", "ompi_mpi_offset"},
    {"MPI_COUNT", "ompi_mpi_count"},
    // Fortran types
    {"MPI_INTEGER", "ompi_mpi_integer"},
    {"MPI_INTEGER1", "ompi_mpi_integer1"},
    {"MPI_INTEGER2", "ompi_mpi_integer2"},
    {"MPI_INTEGER4", "ompi_mpi_integer4"},
    {"MPI_INTEGER8", "ompi_mpi_integer8"},
    {"MPI_INTEGER16", "ompi_mpi_integer16"},
    {"MPI_REAL", "ompi_mpi_real"},
    {"MPI_DOUBLE_PRECISION", "ompi_mpi_dblprec"},
    {"MPI_REAL2", "ompi_mpi_real2"},
    {"MPI_REAL4", "ompi_mpi_real4"},
    {"MPI_REAL8", "ompi_mpi_real8"},
    {"MPI_REAL16", "ompi_mpi_real16"},
    {"MPI_COMPLEX", "ompi_mpi_cplex"},
    {"MPI_DOUBLE_COMPLEX", "ompi_mpi_dblcplex"},
    {"MPI_COMPLEX4", "ompi_mpi_complex4"},
    {"MPI_COMPLEX8", "ompi_mpi_complex8"},
    {"MPI_COMPLEX16", "ompi_mpi_complex16"},
    {"MPI_COMPLEX32", "ompi_mpi_complex32"},
    {"MPI_LOGICAL", "ompi_mpi_logical"},
    {"MPI_LOGICAL1", "ompi_mpi_logical1"},
    {"MPI_LOGICAL2", "ompi_mpi_logical2"},
    {"MPI_LOGICAL4", "ompi_mpi_logical4"},
    {"MPI_LOGICAL8", "ompi_mpi_logical8"},
    {"MPI_CHARACTER", "ompi_mpi_character"},
    // Pairs
    {"MPI_FLOAT_INT", "ompi_mpi_float_int"},
    {"MPI_DOUBLE_INT", "ompi_mpi_double_int"},
    {"MPI_LONG_INT", "ompi_mpi_long_int"},
    {"MPI_2INT", "ompi_mpi_2int"},
    {"MPI_SHORT_INT", "ompi_mpi_short_int"},
    {"MPI_LONG_DOUBLE_INT", "ompi_mpi_longdbl_int"},
    {"MPI_2INTEGER", "ompi_mpi_2integer"},
    {"MPI_2REAL", "ompi_mpi_2real"},
    {"MPI_2DOUBLE_PRECISION", "ompi_mpi_2dblprec"},
    {"MPI_2COMPLEX", "ompi_mpi_2cplex"},
    {"MPI_2DOUBLE_COMPLEX", "ompi_mpi_2dblcplex"},
}};

inline constexpr std::array<Predefined, 14> operators = {{
    {"MPI_SUM", "ompi_mpi_op_sum"},
    {"MPI_PROD", "ompi_mpi_op_prod"},
    {"MPI_MIN", "ompi_mpi_op_min"},
    {"MPI_MAX", "ompi_mpi_op_max"},
    {"MPI_LAND", "ompi_mpi_op_land"},
    {"MPI_LOR", "ompi_mpi_op_lor"},
    {"MPI_LXOR", "ompi_mpi_op_lxor"},
    {"MPI_BAND", "ompi_mpi_op_band"},
    {"MPI_BOR", "ompi_mpi_op_bor"},
    {"MPI_BXOR", "ompi_mpi_op_bxor"},
    {"MPI_MINLOC", "ompi_mpi_op_minloc"},
    {"MPI_MAXLOC", "ompi_mpi_op_maxloc"},
    {"MPI_REPLACE", "ompi_mpi_op_replace"},
    {"MPI_NO_OP", "ompi_mpi_op_no_op"},
}};

}  // namespace huddle::mpi
