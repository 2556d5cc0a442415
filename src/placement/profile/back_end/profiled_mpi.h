// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The MPI functions that a profile wraps or calls, under their PMPI names, and the decoding of
// collective calls. Functions that the MPI does not have are null; programs that use this MPI do
// not call them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "abi.h"

namespace huddle::profile {

using namespace huddle::mpi;

// Signatures of the wrapped calls for counts of type int (N = int) and MPI_Count (N = Count).
template <class N>
using Send = int(const void*, N, Datatype, int to, int tag, Comm);
template <class N>
using SendRequest = int(const void*, N, Datatype, int to, int tag, Comm, Request*);
template <class N>
using Sendrecv = int(const void*, N, Datatype, int to, int tag, void*, N, Datatype, int from,
                     int tag_from, Comm, Status*);
template <class N>
using SendrecvReplace = int(void*, N, Datatype, int to, int tag, int from, int tag_from, Comm,
                            Status*);
template <class N>
using Isendrecv = int(const void*, N, Datatype, int to, int tag, void*, N, Datatype, int from,
                      int tag_from, Comm, Request*);
template <class N>
using IsendrecvReplace = int(void*, N, Datatype, int to, int tag, int from, int tag_from, Comm,
                             Request*);
using PsendInit = int(const void*, int partitions, Count, Datatype, int to, int tag, Comm, Info,
                      Request*);

template <class N>
using Put = int(const void*, N, Datatype, int target, Aint, N, Datatype, Win);
template <class N>
using Rput = int(const void*, N, Datatype, int target, Aint, N, Datatype, Win, Request*);
template <class N>
using Get = int(void*, N, Datatype, int target, Aint, N, Datatype, Win);
template <class N>
using Rget = int(void*, N, Datatype, int target, Aint, N, Datatype, Win, Request*);
template <class N>
using Accumulate = int(const void*, N, Datatype, int target, Aint, N, Datatype, Op, Win);
template <class N>
using Raccumulate = int(const void*, N, Datatype, int target, Aint, N, Datatype, Op, Win, Request*);
template <class N>
using GetAccumulate = int(const void*, N, Datatype, void*, N, Datatype, int target, Aint, N,
                          Datatype, Op, Win);
template <class N>
using RgetAccumulate = int(const void*, N, Datatype, void*, N, Datatype, int target, Aint, N,
                           Datatype, Op, Win, Request*);

// Functions that exist for both types of counts.
template <class N>
struct Sends {
  Send<N>*send, *bsend, *ssend, *rsend;
  SendRequest<N>*isend, *ibsend, *issend, *irsend;
  SendRequest<N>*send_init, *bsend_init, *ssend_init, *rsend_init;
  Sendrecv<N>* sendrecv;
  SendrecvReplace<N>* sendrecv_replace;
  Isendrecv<N>* isendrecv;
  IsendrecvReplace<N>* isendrecv_replace;
  Put<N>* put;
  Rput<N>* rput;
  Get<N>* get;
  Rget<N>* rget;
  Accumulate<N>* accumulate;
  Raccumulate<N>* raccumulate;
  GetAccumulate<N>* get_accumulate;
  RgetAccumulate<N>* rget_accumulate;
};

struct Mpi {
  explicit Mpi(Find find);

  Sends<int> small;
  Sends<Count> large;
  PsendInit* psend_init;
  int (*start)(Request*);
  int (*startall)(int, Request*);
  int (*request_free)(Request*);
  int (*fetch_and_op)(const void*, void*, Datatype, int, Aint, Op, Win);
  int (*compare_and_swap)(const void*, const void*, void*, Datatype, int, Aint, Win);

  int (*init)(int*, char***);
  int (*init_thread)(int*, char***, int, int*);
  int (*finalize)();
  int (*session_init)(Info, Errhandler, Session*);
  int (*session_finalize)(Session*);
  int (*pcontrol)(int, ...);

  int (*query_thread)(int*);
  int (*comm_rank)(Comm, int*);
  int (*comm_size)(Comm, int*);
  int (*comm_get_parent)(Comm*);
  int (*comm_test_inter)(Comm, int*);
  int (*comm_group)(Comm, Group*);
  int (*comm_remote_group)(Comm, Group*);
  int (*comm_free)(Comm*);
  int (*comm_disconnect)(Comm*);
  int (*topo_test)(Comm, int*);
  int (*cartdim_get)(Comm, int*);
  int (*cart_shift)(Comm, int, int, int*, int*);
  int (*graph_neighbors_count)(Comm, int, int*);
  int (*graph_neighbors)(Comm, int, int, int*);
  int (*dist_graph_neighbors_count)(Comm, int*, int*, int*);
  int (*dist_graph_neighbors)(Comm, int, int*, int*, int, int*, int*);
  int (*win_get_group)(Win, Group*);
  int (*win_free)(Win*);
  int (*group_rank)(Group, int*);
  int (*group_size)(Group, int*);
  int (*group_translate_ranks)(Group, int, const int*, Group, int*);
  int (*group_free)(Group*);
  int (*group_from_session_pset)(Session, const char*, Group*);
  int (*type_size_x)(Datatype, Count*);
};

// Sizes of datatypes in bytes. Sizes of predefined types are cached. Types created by the program
// are not, because they may be freed and their handles reused.
class TypeSizes {
 public:
  TypeSizes(const Mpi& mpi, Find find) : mpi_(mpi) {
    for (const Predefined& type : datatypes) {
      predefined_.insert(number_of(handle<Datatype>(type, find)));
    }
  }

  // Requires: the MPI has just accepted a call with `type`.
  std::uint64_t bytes_of(Datatype type) {
    const std::uintptr_t number = number_of(type);
    Entry& entry = entries_[(number ^ (number >> 8U)) % entries_.size()];
    return entry.number == number && number != 0 ? entry.bytes : ask(type, entry);
  }

 private:
  struct Entry {
    std::uintptr_t number = 0;
    std::uint64_t bytes = 0;
  };

  // A handle is a pointer or an int.
  static std::uintptr_t number_of(Datatype type) {
    std::uintptr_t number = 0;
    std::memcpy(&number, &type, sizeof(Datatype));
    return number;
  }
  std::uint64_t ask(Datatype type, Entry& entry) {
    Count bytes = 0;
    if (mpi_.type_size_x(type, &bytes) != success || bytes < 0) return 0;
    if (predefined_.contains(number_of(type))) {
      entry = {number_of(type), static_cast<std::uint64_t>(bytes)};
    }
    return static_cast<std::uint64_t>(bytes);
  }

  const Mpi& mpi_;
  std::unordered_set<std::uintptr_t> predefined_;
  std::array<Entry, 64> entries_{};
};

// The form of a collective that the stub reports: the operation and its variant. All forms of an
// operation begin with the same arguments.
struct CollectiveForm {
  std::string operation;  // "Bcast"
  bool is_large = false;  // counts are MPI_Count
  bool is_persistent = false;
};

// Caches the parsed form of each call, by the address of its name in the stub.
class CollectiveForms {
 public:
  const CollectiveForm& of(const char* call) {
    const auto found = forms_.find(call);
    return found != forms_.end() ? found->second : forms_.emplace(call, parsed(call)).first->second;
  }
  // Parses the name of a call: "MPI_Ibcast_c" is a Bcast with large counts.
  static CollectiveForm parsed(std::string_view call);

 private:
  std::unordered_map<const char*, CollectiveForm> forms_;
};

// Converts an argument word back to a pointer or a handle.
template <class Pointer>
Pointer pointer_in(long word) {
  return pointer_of<Pointer>(static_cast<std::uintptr_t>(word));
}
template <class Handle>
Handle handle_in(long word) {
  if constexpr (std::is_integral_v<Handle>) {
    return static_cast<Handle>(word);
  } else {
    return pointer_in<Handle>(word);
  }
}

class CollectiveCall {
 public:
  CollectiveCall(const CollectiveForm& form, const long* words) : form_(form), words_(words) {}

  std::string_view operation() const { return form_.operation; }
  // Returns the count at argument `at`, or its element `rank` if the argument is an array. Only the
  // lower half of an int's word is defined.
  Count count(int at) const {
    return form_.is_large ? static_cast<Count>(words_[at]) : static_cast<int>(words_[at]);
  }
  Count count(int at, int rank) const {
    return form_.is_large ? pointer_in<const Count*>(words_[at])[rank]
                          : pointer_in<const int*>(words_[at])[rank];
  }
  int number(int at) const { return static_cast<int>(words_[at]); }
  Datatype type(int at) const { return handle_in<Datatype>(words_[at]); }
  Datatype type(int at, int rank) const { return pointer_in<const Datatype*>(words_[at])[rank]; }
  Comm comm(int at) const { return handle_in<Comm>(words_[at]); }
  bool is_in_place() const { return pointer_in<const void*>(words_[0]) == in_place(); }

 private:
  const CollectiveForm& form_;
  const long* words_;
};

}  // namespace huddle::profile
