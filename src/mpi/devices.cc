// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/devices.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace huddle::mpi {
namespace {

struct Loaded {
  unsigned long long loads = 0;  // so far
  unsigned long long known = 0;
  std::vector<std::string> paths;
};

// One library after the other; ends where nothing was loaded since last time.
int note_library(dl_phdr_info* info, std::size_t /*bytes*/, void* all) {
  auto& loaded = *static_cast<Loaded*>(all);
  loaded.loads = info->dlpi_adds;
  if (loaded.loads == loaded.known) return 1;
  loaded.paths.emplace_back(info->dlpi_name);
  return 0;
}

// "/usr/lib/libcuda.so.1" is libcuda.
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

// What is loaded after the first step is news next time, what was before is found in the second.
void Devices::look_again(LibraryLoadMonitor::Looking& looking) {
  const std::lock_guard lock(mutex_);
  if (!watch_.has_news(looking)) return;  // somebody else was here first
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
      // Null where somebody has just unloaded it.
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
