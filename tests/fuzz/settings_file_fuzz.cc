// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Arbitrary bytes as a configuration file are either resolved to settings, or cause an InputError.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/error.h"
#include "common/settings/settings.h"

namespace {

// huddle::settings reads files only, so that the bytes are put into a memfd.
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
    // The expected result for a damaged file.
  }
  return 0;
}
