// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whole files: read with an error that says what is wrong, written all or nothing.
#pragma once

#include <stdlib.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace huddle {

// Repeats a system call as long as a signal interrupts it, and returns its result.
template <class SystemCall>
auto uninterrupted(SystemCall call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// A file descriptor that is closed at the end of its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    const FileDescriptor old(std::exchange(number_, std::exchange(other.number_, -1)));
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  // Closes it now. Returns whether that went well: network file systems report a full disk here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

  // Leaves it open for another owner.
  void release() { number_ = -1; }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Whether a word is the path of a TOML file: it has a slash in it or ends in .toml. Any other word
// is a name, under which a file is looked for.
bool is_toml_path(std::string_view word);

// The largest file of huddle's own (a machine of 1,024 cores, every pair) has some 10 MB.
inline constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

// The path that stands for standard input.
inline constexpr std::string_view standard_input = "-";

// What to call a file in messages: its path, or "standard input".
std::string input_name(const std::string& path);

// Reads a regular file, a pipe, or standard input if the path is "-". Throws InputError that names
// the file.
std::string read_text(const std::string& path, std::size_t most_bytes = most_file_bytes);

// A regular file is written beside its place and renamed over it, so that nobody ever sees half of
// it, and a link keeps pointing at it; anything else (a pipe, /dev/null) is written into. Makes
// missing folders. Throws FailureError that names the file.
void write_text(std::string_view text, const std::string& path);

// A new folder, removed with its content at the end of this object.
class TemporaryFolder {
 public:
  // The folder is called `prefix` and six random characters. Sets `error` if it cannot be made, and
  // does nothing if it is set already.
  TemporaryFolder(const std::filesystem::path& prefix, std::error_code& error) {
    if (error) return;
    std::string name = prefix.string() + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      error = {errno, std::generic_category()};
    } else {
      path_ = name;
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace huddle
