// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A collective as the stub tells of it: which operation in which form, and its arguments as words.
// All forms of an operation begin with the same ones.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "placement/profile/back_end/mpi.h"

namespace huddle::profile {

struct CollectiveForm {
  std::string operation;  // "Bcast"
  bool is_large = false;  // counts are MPI_Count
  bool is_persistent = false;
};

// By the names of the stub, each of which is told apart once.
class CollectiveForms {
 public:
  const CollectiveForm& of(const char* call) {
    const auto found = forms_.find(call);
    return found != forms_.end() ? found->second : forms_.emplace(call, parsed(call)).first->second;
  }
  // "MPI_Ibcast_c" -> Bcast, large
  static CollectiveForm parsed(std::string_view call);

 private:
  std::unordered_map<const char*, CollectiveForm> forms_;
};

// A pointer or a handle that came as a word.
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
  // Of the argument at this place, and of the array there. Only the lower half of an int's word
  // means anything.
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
