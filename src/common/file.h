// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Owners of file descriptors and temporary folders; functions that read and write whole files.
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

// Owns a file descriptor and closes it on destruction.
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

  // Closes the descriptor now. Returns whether that succeeded: a network file system may report a
  // full disk only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

  // Gives up ownership without closing it.
  void release() { number_ = -1; }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Returns a descriptor of the same file whose number is not that of a standard stream, which the
// program may have closed. Otherwise its output would be written to the file. Returns one that is
// not open, and sets errno, if none is left.
FileDescriptor above_standard_streams(FileDescriptor file);

// Returns whether a file of this size would exceed RLIMIT_FSIZE: the kernel would end the process
// with SIGXFSZ instead of returning an error.
bool exceeds_file_size_limit(std::size_t bytes);

// Returns whether a word is the path of a TOML file: it contains a slash or ends in .toml. Any
// other word is a name that is searched for in known folders.
bool is_toml_path(std::string_view word);

// Limit for huddle's own files. The largest, a machine file with every pair of 1,024 cores, has
// about 10 MB.
inline constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

// The path that stands for standard input.
inline constexpr std::string_view standard_input = "-";

// Returns the name of a file for messages: its path, or "standard input".
std::string input_name(const std::string& path);

// Reads a file, a pipe, or standard input for "-". Throws an InputError that names the file.
std::string read_text(const std::string& path, std::size_t most_bytes = most_file_bytes);

// Writes the text to a file. A regular file is replaced atomically: the text goes to a temporary
// file in the same folder, which is renamed, so that readers never see a partial file. A symbolic
// link keeps its target. Any other file (a pipe, /dev/null) is written directly. Creates missing
// folders. Throws a FailureError that names the file.
void write_text(std::string_view text, const std::string& path);

// Creates missing folders. Throws a FailureError if write_text() to this file would fail because of
// the path or its permissions. Does not change an existing file.
void check_writable(const std::string& path);

// A new folder that is removed with its contents by the destructor.
class TemporaryFolder {
 public:
  // Creates a folder whose name is `prefix`, a hyphen and six random characters. Sets `error` if
  // that fails. Does nothing if `error` is already set.
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
