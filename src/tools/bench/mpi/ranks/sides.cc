// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/sides.h"

#include <dlfcn.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "mpi/stub/stub_interface.h"

namespace huddle::bench::ranks {
namespace {

// This state is global because the back end calls plain functions.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
void* mpi_handle = nullptr;
Functions native{};
unsigned long passed = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// A function of the MPI that counts its calls.
template <auto member>
struct Counted;
template <class... Arguments, int (*Functions::*member)(Arguments...)>
struct Counted<member> {
  static int call(Arguments... arguments) {
    ++passed;
    return (native.*member)(arguments...);
  }
};

void* find_in_mpi(const char* name) { return dlsym(mpi_handle, name); }

// Returns what the back end gets for the name of an MPI function: a counting wrapper if the
// function is measured, otherwise the MPI's own.
void* find_counted(const char* name) {
  void* found = nullptr;
  each_function([&]<auto member>(const char* suffix) {
    if (name != std::string("PMPI_") + suffix) return;
    found = reinterpret_cast<void*>(Counted<member>::call);
  });
  return found != nullptr ? found : find_in_mpi(name);
}

template <class Function>
void look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr)
    throw std::runtime_error(std::string("the MPI library has no function ") + name + "");
}

void look_up_all(void* library, const std::string& prefix, Functions& functions) {
  each_function([&]<auto member>(const char* suffix) {
    look_up(library, (prefix + suffix).c_str(), functions.*member);
  });
}

void* open_library(const std::string& path, int mode) {
  void* library = dlopen(path.c_str(), mode);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return library;
}

// Opens the first of the colon-separated files and names that the loader accepts.
void* open_first(const std::string& candidates, int mode) {
  std::istringstream in(candidates);
  std::string why = "no library was named";
  for (std::string path; std::getline(in, path, ':');) {
    void* library = dlopen(path.c_str(), mode);
    if (library != nullptr) return library;
    why = dlerror();
  }
  throw std::runtime_error(why);
}

void* open_back_end(const std::string& path, const char* mpi_path) {
  static huddle_stub_interface door{};
  door = {find_counted, mpi_path, nullptr, 0};
  void* back_end = open_library(path, RTLD_NOW | RTLD_LOCAL);
  huddle_back_end_init_function* enter = nullptr;
  look_up(back_end, HUDDLE_BACK_END_INIT_NAME, enter);
  if (enter(&door) != 0) throw std::runtime_error(path + " cannot work with this MPI");
  return back_end;
}

template <class Handle, std::size_t n>
Handle named(const std::array<mpi::Predefined, n>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const auto& one) { return one.name == name; });
  return mpi::handle<Handle>(*found, find_in_mpi);
}

// Looks up the harness's functions: `prefix`Init and `prefix`Finalize in `outermost`, and the
// others in the MPI.
Service open_service(void* outermost, const std::string& prefix) {
  Service service{};
  look_up(outermost, (prefix + "Init").c_str(), service.init);
  look_up(outermost, (prefix + "Finalize").c_str(), service.finalize);
  look_up(mpi_handle, "PMPI_Abort", service.abort);
  look_up(mpi_handle, "PMPI_Comm_rank", service.comm_rank);
  look_up(mpi_handle, "PMPI_Comm_size", service.comm_size);
  look_up(mpi_handle, "PMPI_Comm_dup", service.comm_dup);
  look_up(mpi_handle, "PMPI_Bcast", service.bcast);
  look_up(mpi_handle, "PMPI_Allreduce", service.allreduce);
  look_up(mpi_handle, "PMPI_Get_library_version", service.get_library_version);
  look_up(mpi_handle, "PMPI_Get_processor_name", service.get_processor_name);
  look_up(mpi_handle, "PMPI_Barrier", service.barrier);
  look_up(mpi_handle, "PMPI_Ibarrier", service.ibarrier);
  look_up(mpi_handle, "PMPI_Test", service.test);
  look_up(mpi_handle, "PMPI_Send", service.send);
  look_up(mpi_handle, "PMPI_Recv", service.receive);
  look_up(mpi_handle, "PMPI_Isend", service.isend);
  look_up(mpi_handle, "PMPI_Irecv", service.ireceive);
  return service;
}

}  // namespace

Sides open_sides(const std::string& mpi_path, const std::string& back_end_path) {
  // RTLD_GLOBAL because some MPIs load components that search the global scope for the MPI's
  // symbols.
  mpi_handle = open_first(mpi_path, RTLD_NOW | RTLD_GLOBAL);
  look_up_all(mpi_handle, "PMPI_", native);
  Sides sides{};
  sides.of = {native, native};
  if (back_end_path == no_back_end) {
    sides.service = open_service(mpi_handle, "PMPI_");
  } else {
    void* const back_end = open_back_end(back_end_path, mpi_path.c_str());
    look_up_all(back_end, "MPI_", sides.of[static_cast<std::size_t>(Side::huddle)]);
    sides.service = open_service(back_end, "MPI_");
    look_up(back_end, HUDDLE_CHOICES_NAME, sides.choices);
  }
  sides.world = mpi::handle<mpi::Comm>(mpi::comm_world, find_in_mpi);
  sides.byte = named<mpi::Datatype>(mpi::datatypes, "MPI_BYTE");
  sides.number = named<mpi::Datatype>(mpi::datatypes, "MPI_DOUBLE");
  sides.integer = named<mpi::Datatype>(mpi::datatypes, "MPI_INT");
  sides.word = named<mpi::Datatype>(mpi::datatypes, "MPI_UINT64_T");
  sides.sum = named<mpi::Op>(mpi::operators, "MPI_SUM");
  sides.most = named<mpi::Op>(mpi::operators, "MPI_MAX");
  sides.bit_or = named<mpi::Op>(mpi::operators, "MPI_BOR");
  return sides;
}

unsigned long passed_calls() { return passed; }

}  // namespace huddle::bench::ranks
