// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for tests that load libraries at run time.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace huddle::mpi {

inline const std::string marker_file = HUDDLE_BINARY_DIR "/lib/huddle/libhuddle_marker.so";

inline std::string fake_driver(const std::string& file) {
  return HUDDLE_BINARY_DIR "/tests/mpi/drivers/" + file;
}

class Library {
 public:
  explicit Library(const std::string& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

// Runs the test in a child process, so that later tests do not find the loaded libraries.
inline void in_child(const std::function<void()>& test) {
  EXPECT_EXIT(
      {
        test();
        _exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace huddle::mpi
