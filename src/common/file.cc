// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/error.h"

namespace huddle {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw InputError(fmt::format("cannot read {}: {}", input_name(path), std::strerror(error)));
}

[[noreturn]] void cannot_write(const std::string& path, const std::string& reason) {
  throw FailureError(fmt::format("cannot write {}: {}", path, reason));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_into(std::string_view text, const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || !write_all(file.number(), text) || !file.close()) {
    cannot_write(path, std::strerror(errno));
  }
}

bool write_new(std::string_view text, const std::string& path) {
  if (exceeds_file_size_limit(text.size())) {
    errno = EFBIG;
    return false;
  }
  constexpr mode_t readable_by_all = 0644;
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable_by_all));
  return file.is_open() && write_all(file.number(), text) && ::fsync(file.number()) == 0 &&
         file.close();
}

std::string name_beside(const std::string& path) {
  return fmt::format("{}.{}.part", path, ::getpid());
}

void replace(std::string_view text, const std::string& path) {
  const std::string beside = name_beside(path);
  if (write_new(text, beside) && ::rename(beside.c_str(), path.c_str()) == 0) return;
  const std::string reason = std::strerror(errno);
  ::unlink(beside.c_str());
  cannot_write(path, reason);
}

// Returns whether files of this type are replaced by a new file.
bool is_replaced(fs::file_type type) {
  return type == fs::file_type::not_found || type == fs::file_type::regular;
}

struct WriteTarget {
  std::string file;  // without symbolic links
  fs::file_type type;
};

// Creates missing folders.
WriteTarget write_target(const std::string& path) {
  std::error_code error;
  fs::path target(path);
  if (fs::symlink_status(target, error).type() == fs::file_type::symlink) {
    target = fs::weakly_canonical(target, error);
    if (error) cannot_write(path, error.message());
  }
  const fs::file_type type = fs::status(target, error).type();
  if (!is_replaced(type)) return {target.string(), type};
  error.clear();
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  if (error) cannot_write(path, error.message());
  return {target.string(), type};
}

}  // namespace

bool exceeds_file_size_limit(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  return bytes > limit.rlim_cur;
}

FileDescriptor above_standard_streams(FileDescriptor file) {
  if (!file.is_open() || file.number() > STDERR_FILENO) return file;
  return FileDescriptor(::fcntl(file.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

bool is_toml_path(std::string_view word) {
  return word.find('/') != std::string_view::npos || word.ends_with(".toml");
}

std::string input_name(const std::string& path) {
  return path == standard_input ? "standard input" : path;
}

std::string read_text(const std::string& path, std::size_t most_bytes) {
  const FileDescriptor file(path == standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                                   : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) cannot_read(path, errno);
  std::string text;
  struct stat status {};
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    text.reserve(std::min(static_cast<std::size_t>(status.st_size), most_bytes));
  }
  std::array<char, 65536> piece{};
  while (true) {
    const ssize_t got = ::read(file.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) {
      throw InputError(
          fmt::format("{}: larger than {} MiB, the maximum for files that huddle reads",
                      input_name(path), most_bytes >> 20));
    }
  }
}

void write_text(std::string_view text, const std::string& path) {
  const WriteTarget target = write_target(path);
  if (is_replaced(target.type)) {
    replace(text, target.file);
  } else {
    write_into(text, target.file);
  }
}

void check_writable(const std::string& path) {
  const WriteTarget target = write_target(path);
  if (target.type == fs::file_type::directory) cannot_write(path, std::strerror(EISDIR));
  if (!is_replaced(target.type)) {
    // Opening it could block, as for a pipe without a reader.
    if (::access(target.file.c_str(), W_OK) != 0) cannot_write(path, std::strerror(errno));
    return;
  }
  const std::string beside = name_beside(target.file);
  if (!write_new("", beside)) cannot_write(path, std::strerror(errno));
  ::unlink(beside.c_str());
}

}  // namespace huddle
