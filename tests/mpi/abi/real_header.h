// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Included by the program that real_header_test.py generates. Includes a real MPI's header and
// huddle's abi.h, compares the types of both, and checks behavior that abi.h describes. The program
// defines REAL_HEADER and has abi.h's folder in its include path.
#pragma once

#include <dlfcn.h>
#include REAL_HEADER

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include "abi.h"

namespace ours = huddle::mpi;

template <class Ours, class UnderlyingMpi>
constexpr bool is_same_kind = sizeof(Ours) == sizeof(UnderlyingMpi) &&
                              alignof(Ours) == alignof(UnderlyingMpi) &&
                              std::is_pointer_v<Ours> == std::is_pointer_v<UnderlyingMpi>;

static_assert(is_same_kind<ours::Comm, MPI_Comm>);
static_assert(is_same_kind<ours::Datatype, MPI_Datatype>);
static_assert(is_same_kind<ours::Op, MPI_Op>);
static_assert(is_same_kind<ours::Info, MPI_Info>);
static_assert(is_same_kind<ours::Request, MPI_Request>);
static_assert(is_same_kind<ours::Errhandler, MPI_Errhandler>);
static_assert(is_same_kind<ours::Group, MPI_Group>);
static_assert(is_same_kind<ours::Message, MPI_Message>);
static_assert(is_same_kind<ours::Win, MPI_Win>);
static_assert(is_same_kind<ours::Aint, MPI_Aint> && std::is_signed_v<MPI_Aint>);
static_assert(is_same_kind<ours::Count, MPI_Count> && std::is_signed_v<MPI_Count>);
static_assert(is_same_kind<ours::CopyFunction, MPI_Comm_copy_attr_function*>);
#if MPI_VERSION >= 4
static_assert(is_same_kind<ours::Session, MPI_Session>);
#endif

static_assert(sizeof(ours::Status) == sizeof(MPI_Status));
static_assert(alignof(ours::Status) == alignof(MPI_Status));
static_assert(offsetof(ours::Status, source) == offsetof(MPI_Status, MPI_SOURCE));
static_assert(offsetof(ours::Status, tag) == offsetof(MPI_Status, MPI_TAG));
static_assert(offsetof(ours::Status, error) == offsetof(MPI_Status, MPI_ERROR));

// Returns a handle or an address as an integer.
template <class Handle>
std::uintptr_t bits(Handle handle) {
  if constexpr (std::is_integral_v<Handle>) {
    return static_cast<std::make_unsigned_t<Handle>>(handle);
  } else {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
}

// Looks up a symbol in the library only, because a back end must not need the program's copies.
inline void* find(const char* name) {
  static void* const library = [] {
    Dl_info place = {};
    void* const function = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (dladdr(function, &place) == 0) return static_cast<void*>(nullptr);
    return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return dlsym(library, name);
}

inline int differences = 0;

inline void expect_same(const char* what, std::uintptr_t our_value, std::uintptr_t real_value) {
  if (our_value == real_value) return;
  std::printf("%s is %#zx here and %#zx in the real header\n", what, our_value, real_value);
  ++differences;
}

// Compares a handle unless it is null in the real header: then the MPI was built without this type.
template <class Handle>
void expect_same_unless_null(const ours::Predefined& predefined, std::uintptr_t real_value,
                             std::uintptr_t null_value) {
  if (real_value == null_value) return;
  expect_same(predefined.name, bits(ours::handle<Handle>(predefined, find)), real_value);
}

template <class Handle, std::size_t size>
void expect_listed(const char* name, std::uintptr_t real_value, std::uintptr_t null_value,
                   const std::array<ours::Predefined, size>& list) {
  const auto is_it = [real_value](const ours::Predefined& predefined) {
    return bits(ours::handle<Handle>(predefined, find)) == real_value;
  };
  if (real_value == null_value || std::any_of(list.begin(), list.end(), is_it)) return;
  std::printf("%s is in the real header only\n", name);
  ++differences;
}

inline int class_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// Checks what abi.h states about aliased buffers, and that the null copy function works.
inline void check_behaviour() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                          MPI_ERRORS_RETURN);  // Open MPI's Allreduce raises the error there
  static_assert(ours::aliasing_is_error);
  std::array<int, 4> both = {};
  for (int count = 0; count < 4; ++count) {
    const int all = MPI_Allreduce(both.data(), both.data(), count, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    const int one = MPI_Reduce(both.data(), both.data(), count, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF);
    const bool is_refused = count >= ours::aliased_allreduce_from;
    expect_same("the error of an aliased Allreduce",
                is_refused ? ours::error_aliased_allreduce : ours::success, class_of(all));
    expect_same("the error of an aliased Reduce",
                count > 0 ? ours::error_aliased_reduce : ours::success, class_of(one));
  }

  const int refused = MPI_Alltoall(both.data(), 1, MPI_INT, both.data(), 1, MPI_INT, MPI_COMM_SELF);
  expect_same("the error of an aliased Alltoall",
              ours::aliases_are_refused ? ours::error_buffer : ours::success, class_of(refused));

  const auto copy = ours::handle<MPI_Comm_copy_attr_function*>(ours::null_copy_function, find);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, both.data());
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &duplicate);
  void* value = nullptr;
  int is_copied = 1;
  MPI_Comm_get_attr(duplicate, key, &value, &is_copied);
  expect_same("what null_copy_function copies", 0, is_copied);
  MPI_Finalize();
}
