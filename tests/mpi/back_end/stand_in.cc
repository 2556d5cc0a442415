// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "stand_in.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace huddle::mpi::stand_in {
namespace {

constexpr int ranks = 2;
// Smaller values are predefined handles.
constexpr std::uintptr_t first_made = 0x10000;

template <class Handle>
std::uintptr_t number_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// All objects of one kind, with their attributes.
template <class Handle, class Delete>
class Objects {
 public:
  Handle make() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return pointer_of<Handle>(next_ += first_made);
    const Handle handle = free_.back();
    free_.pop_back();
    return handle;
  }

  // Calls the callbacks without the lock; the object exists until they have returned.
  void free(Handle handle) {
    for (const auto& [keyval, value] : take_attributes(handle)) {
      deletes_[static_cast<std::size_t>(keyval)].first(
          handle, keyval, value, deletes_[static_cast<std::size_t>(keyval)].second);
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(handle);
  }

  int create_keyval(Delete deletes, void* extra) {
    const std::lock_guard lock(mutex_);
    const int keyval = ++keyvals_;
    deletes_[static_cast<std::size_t>(keyval)] = {deletes, extra};
    return keyval;
  }

  void set(Handle handle, int keyval, void* value) {
    const std::lock_guard lock(mutex_);
    attributes_[{handle, keyval}] = value;
  }

  bool get(Handle handle, int keyval, void* value) {
    const std::lock_guard lock(mutex_);
    const auto found = attributes_.find({handle, keyval});
    if (found == attributes_.end()) return false;
    *static_cast<void**>(value) = found->second;
    return true;
  }

 private:
  std::vector<std::pair<int, void*>> take_attributes(Handle handle) {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<int, void*>> taken;
    for (auto at = attributes_.begin(); at != attributes_.end();) {
      if (at->first.first == handle) {
        taken.emplace_back(at->first.second, at->second);
        at = attributes_.erase(at);
      } else {
        ++at;
      }
    }
    return taken;
  }

  std::mutex mutex_;  // guards the members below
  std::uintptr_t next_ = 0;
  std::vector<Handle> free_;
  int keyvals_ = 0;
  std::array<std::pair<Delete, void*>, 64> deletes_{};
  std::map<std::pair<Handle, int>, void*> attributes_;
};

Objects<Comm, DeleteFunction>& communicators() {
  static Objects<Comm, DeleteFunction> all;
  return all;
}

Objects<Datatype, TypeDeleteFunction>& types() {
  static Objects<Datatype, TypeDeleteFunction> all;
  return all;
}

bool is_named(Datatype type) { return number_of(type) < first_made; }

// The handle of a derived type encodes its size.
std::size_t bytes_of(Datatype type) {
  return is_named(type) ? named_bytes : number_of(type) / first_made * named_bytes;
}

int comm_test_inter(Comm, int* flag) {
  *flag = 0;
  return success;
}
int comm_rank(Comm, int* rank) {
  *rank = 0;
  return success;
}
int comm_size(Comm, int* size) {
  *size = ranks;
  return success;
}
int comm_create_keyval(CopyFunction, DeleteFunction deletes, int* keyval, void* extra) {
  *keyval = communicators().create_keyval(deletes, extra);
  return success;
}
int comm_set_attr(Comm comm, int keyval, void* value) {
  communicators().set(comm, keyval, value);
  return success;
}
int comm_get_attr(Comm comm, int keyval, void* value, int* found) {
  *found = communicators().get(comm, keyval, value) ? 1 : 0;
  return success;
}

// Yields so that threads overlap here even on few cores.
int type_size_x(Datatype type, Count* bytes) {
  std::this_thread::yield();
  *bytes = static_cast<Count>(bytes_of(type));
  return success;
}
int type_get_extent(Datatype type, Aint* lower_bound, Aint* extent) {
  *lower_bound = 0;
  *extent = static_cast<Aint>(bytes_of(type));
  return success;
}
int type_get_envelope(Datatype type, int* integers, int* addresses, int* inner, int* combiner) {
  *integers = *addresses = 0;
  *inner = is_named(type) ? 0 : 1;
  *combiner = is_named(type) ? combiner_named : combiner_contiguous;
  return success;
}
int type_get_contents(Datatype, int, int, int, int*, Aint*, Datatype* inner) {
  *inner = handle<Datatype>(datatypes.front(), find);
  return success;
}
int type_create_keyval(TypeCopyFunction, TypeDeleteFunction deletes, int* keyval, void* extra) {
  *keyval = types().create_keyval(deletes, extra);
  return success;
}
int type_set_attr(Datatype type, int keyval, void* value) {
  types().set(type, keyval, value);
  return success;
}
int type_get_attr(Datatype type, int keyval, void* value, int* found) {
  *found = types().get(type, keyval, value) ? 1 : 0;
  return success;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* find(const char* name) {
  static const std::map<std::string_view, void*> functions = {
      {"PMPI_Comm_test_inter", address_of(comm_test_inter)},
      {"PMPI_Comm_rank", address_of(comm_rank)},
      {"PMPI_Comm_size", address_of(comm_size)},
      {"PMPI_Comm_create_keyval", address_of(comm_create_keyval)},
      {"PMPI_Comm_set_attr", address_of(comm_set_attr)},
      {"PMPI_Comm_get_attr", address_of(comm_get_attr)},
      {"PMPI_Type_size_x", address_of(type_size_x)},
      {"PMPI_Type_get_extent", address_of(type_get_extent)},
      {"PMPI_Type_get_true_extent", address_of(type_get_extent)},
      {"PMPI_Type_get_envelope", address_of(type_get_envelope)},
      {"PMPI_Type_get_contents", address_of(type_get_contents)},
      {"PMPI_Type_create_keyval", address_of(type_create_keyval)},
      {"PMPI_Type_set_attr", address_of(type_set_attr)},
      {"PMPI_Type_get_attr", address_of(type_get_attr)},
  };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

Comm new_communicator() { return communicators().make(); }
void free_communicator(Comm comm) { communicators().free(comm); }

Datatype new_type() { return types().make(); }
void free_type(Datatype type) { types().free(type); }

}  // namespace huddle::mpi::stand_in
