// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/devices.h"

#include <dlfcn.h>
#include <link.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/libraries.h"

namespace huddle::mpi {
namespace {

constexpr auto among = memory::OneSidedFence::Among::threads;

}  // namespace

LibraryLoadMonitor::LibraryLoadMonitor(std::string marker)
    : marker_(std::move(marker)), fence_(among, memory::OneSidedFence::is_supported(among)) {}

LibraryLoadMonitor::~LibraryLoadMonitor() {
  if (handle_ != nullptr) dlclose(handle_);
}

// Reloading the marker moves it to the end of the loader's list. Waits while another thread loads a
// library, because dlopen() takes the loader's lock.
void LibraryLoadMonitor::catch_up(const std::function<void()>& wait_for_lookers) {
  if (is_missing_) return;
  if (last_.exchange(nullptr) != nullptr) {
    fence_.rare_side();
    wait_for_lookers();
  }
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = dlopen(marker_.c_str(), RTLD_NOW | RTLD_LOCAL);
  link_map* last = nullptr;
  is_missing_ = handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &last) != 0;
  last_.store(last, std::memory_order_release);
}

// The few functions and constants of each driver that huddle needs, declared as in the driver's
// documentation, so that the build needs none of their headers.

namespace {

// The success code of all three drivers.
constexpr int driver_success = 0;

class Cuda : public DeviceDriver {
 public:
  bool look_up_all(void* handle) { return look_up(handle, "cuPointerGetAttribute", get_); }

  // CUDA returns an error for unregistered host memory.
  bool holds(const void* address) const override {
    unsigned type = 0;
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    if (get_(&type, memory_type, number) != driver_success) return false;
    unsigned managed = 0;
    return type != host || (get_(&managed, is_managed, number) == driver_success && managed != 0);
  }

 private:
  static constexpr int memory_type = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  static constexpr int is_managed = 8;   // CU_POINTER_ATTRIBUTE_IS_MANAGED
  static constexpr unsigned host = 1;    // CU_MEMORYTYPE_HOST

  int (*get_)(void* data, int attribute, unsigned long long address) = nullptr;
};

class Hip : public DeviceDriver {
 public:
  bool look_up_all(void* handle) {
    return look_up(handle, "hipPointerGetAttributes", get_) &&
           look_up(handle, "hipRuntimeGetVersion", version_) &&
           look_up(handle, "hipPeekAtLastError", peek_) &&
           look_up(handle, "hipGetLastError", take_error_);
  }

  bool holds(const void* address) const override {
    const int error_before = peek_();
    Attributes attributes{};
    if (get_(&attributes, address) == driver_success) return is_device(attributes);
    // Clears an error that this query caused, so that the program does not find it.
    if (error_before == driver_success) take_error_();
    return false;
  }

 private:
  // hipPointerAttribute_t
  struct Attributes {
    int type;
    int device;
    void* device_address;
    void* host_address;
    int is_managed;
    unsigned flags;
    std::array<std::uint64_t, 8> of_later_versions;
  };

  // ROCm 6 renumbered hipMemoryType.
  bool is_device(const Attributes& attributes) const {
    constexpr int first_with_new_types = 60'000'000;
    constexpr int old_host = 0;
    constexpr int unregistered = 0;
    constexpr int new_host = 1;
    int version = 0;
    const bool is_new = version_(&version) == driver_success && version >= first_with_new_types;
    const bool is_host = is_new ? attributes.type == unregistered || attributes.type == new_host
                                : attributes.type == old_host;
    return !is_host || attributes.is_managed != 0;
  }

  int (*get_)(Attributes*, const void* address) = nullptr;
  int (*version_)(int*) = nullptr;
  int (*peek_)() = nullptr;
  int (*take_error_)() = nullptr;
};

// Queries use contexts of huddle's own: the driver knows all memory of the process in any context.
class LevelZero : public DeviceDriver {
 public:
  bool look_up_all(void* handle) {
    return look_up(handle, "zeDriverGet", drivers_) &&
           look_up(handle, "zeContextCreate", create_context_) &&
           look_up(handle, "zeMemGetAllocProperties", get_);
  }

  bool holds(const void* address) const override {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) make_contexts();
    for (std::size_t i = 0; i < count_; ++i) {
      Properties properties{properties_structure, nullptr, 0, 0, 0};
      void* device = nullptr;
      if (get_(contexts_[i], address, &properties, &device) == driver_success &&
          (properties.type == device_type || properties.type == shared_type)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr int context_structure = 0xd;      // ZE_STRUCTURE_TYPE_CONTEXT_DESC
  static constexpr int properties_structure = 0x17;  // ..._MEMORY_ALLOCATION_PROPERTIES
  static constexpr int device_type = 2;              // ZE_MEMORY_TYPE_DEVICE
  static constexpr int shared_type = 3;              // ZE_MEMORY_TYPE_SHARED

  // ze_context_desc_t and ze_memory_allocation_properties_t
  struct ContextRequest {
    int structure;
    const void* next;
    std::uint32_t flags;
  };
  struct Properties {
    int structure;
    void* next;
    int type;
    std::uint64_t id;
    std::uint64_t page_bytes;
  };

  // Creates one context per driver. Creates none before the program has initialized Level Zero.
  void make_contexts() const {
    std::array<void*, most_drivers> drivers{};
    std::uint32_t found = most_drivers;
    if (drivers_(&found, drivers.data()) != driver_success) return;
    for (std::uint32_t i = 0; i < found && i < most_drivers; ++i) {
      const ContextRequest request{context_structure, nullptr, 0};
      if (create_context_(drivers[i], &request, &contexts_[count_]) == driver_success) ++count_;
    }
  }

  static constexpr std::size_t most_drivers = 8;

  int (*drivers_)(std::uint32_t* count, void** drivers) = nullptr;
  int (*create_context_)(void* driver, const ContextRequest*, void** context) = nullptr;
  int (*get_)(void* context, const void* address, Properties*, void** device) = nullptr;
  mutable std::mutex mutex_;  // guards the two members below
  mutable std::array<void*, most_drivers> contexts_{};
  mutable std::size_t count_ = 0;
};

template <class Driver>
std::unique_ptr<DeviceDriver> made(void* handle) {
  auto driver = std::make_unique<Driver>();
  return driver->look_up_all(handle) ? std::move(driver) : nullptr;
}

}  // namespace

std::unique_ptr<DeviceDriver> cuda_driver(void* handle) { return made<Cuda>(handle); }
std::unique_ptr<DeviceDriver> hip_driver(void* handle) { return made<Hip>(handle); }
std::unique_ptr<DeviceDriver> level_zero_driver(void* handle) { return made<LevelZero>(handle); }

namespace {

struct Loaded {
  unsigned long long loads = 0;  // number of libraries that the process has loaded so far
  unsigned long long known = 0;
  std::vector<std::string> paths;
};

// Callback for one library. Stops the iteration if nothing was loaded since the last time.
int note_library(dl_phdr_info* info, std::size_t /*bytes*/, void* all) {
  auto& loaded = *static_cast<Loaded*>(all);
  loaded.loads = info->dlpi_adds;
  if (loaded.loads == loaded.known) return 1;
  loaded.paths.emplace_back(info->dlpi_name);
  return 0;
}

// Returns whether the file is LIBRARY.so or LIBRARY.so.N, as in "/usr/lib/libcuda.so.1".
bool is_of(std::string_view path, std::string_view library) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with(library) && name.substr(library.size()).starts_with(".so");
}

}  // namespace

Devices::Devices(std::string marker, std::function<void()> wait_for_lookers)
    : wait_for_lookers_(std::move(wait_for_lookers)), watch_(std::move(marker)) {}

bool Devices::hold(const void* address) const {
  return std::any_of(drivers_.begin(), drivers_.end(), [address](const Driver& one) {
    const DeviceDriver* const driver = one.driver.load(std::memory_order_acquire);
    return driver != nullptr && driver->holds(address);
  });
}

// Calls catch_up() first: a library that is loaded after it is detected at the next call, and one
// that was loaded before it is found by look_for_drivers().
void Devices::look_again(LibraryLoadMonitor::Looking& looking) {
  const std::lock_guard lock(mutex_);
  if (!watch_.has_news(looking)) return;  // another thread was faster
  watch_.catch_up(wait_for_lookers_);
  look_for_drivers();
}

void Devices::look_for_drivers() {
  Loaded loaded{.known = loads_, .paths = {}};
  dl_iterate_phdr(note_library, &loaded);
  loads_ = loaded.loads;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (const std::string& path : loaded.paths) {
      if (drivers_[i].owned || !is_of(path, kinds[i].library)) continue;
      // Null if another thread has just unloaded the library.
      void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr) continue;
      drivers_[i].owned = kinds[i].make(handle);
      if (!drivers_[i].owned) {
        dlclose(handle);
        continue;
      }
      drivers_[i].driver.store(drivers_[i].owned.get(), std::memory_order_release);
      have_driver_.store(true, std::memory_order_relaxed);
    }
  }
}

}  // namespace huddle::mpi
