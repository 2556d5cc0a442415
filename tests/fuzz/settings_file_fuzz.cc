// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parser of configuration files: any input is resolved to settings or throws InputError.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/error.h"
#include "common/settings/settings.h"

namespace {

// The settings module reads only files, so the input goes into a file in memory.
class MemoryFile {
 public:
  void hold(const std::uint8_t* data, std::size_t size) const {
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_ = memfd_create("settings", 0);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.hold(data, size);
  huddle::settings::Sources sources;
  sources.user_file = file.path();
  try {
    huddle::settings::resolve(sources);
  } catch (const huddle::InputError&) {
    // The only valid response to a damaged file.
  }
  return 0;
}
