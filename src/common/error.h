// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's exceptions. Problems that a user can fix are thrown as an Error whose message is one
// sentence. The command line converts it to an exit status, the C interface to a huddle_status.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace huddle {

// The exit statuses of all commands; equal to the values of huddle_status.
enum class ExitCode : int { fine = 0, failure = 1, usage = 2, bad_input = 3 };

class Error : public std::exception {
 public:
  // Does not throw: if there is no memory for the message, what() returns a text that states so.
  Error(ExitCode code, std::string_view message) noexcept;
  ExitCode code() const { return code_; }
  const char* what() const noexcept override;

 private:
  ExitCode code_;
  std::shared_ptr<const std::string> message_;  // null if its allocation failed
};

// An operation of the operating system, a file system or another process failed.
class FailureError : public Error {
 public:
  explicit FailureError(std::string_view message) noexcept : Error(ExitCode::failure, message) {}
};

// A command or an interface was called incorrectly.
class UsageError : public Error {
 public:
  explicit UsageError(std::string_view message) noexcept : Error(ExitCode::usage, message) {}
};

// A file or a setting is invalid.
class InputError : public Error {
 public:
  explicit InputError(std::string_view message) noexcept : Error(ExitCode::bad_input, message) {}
};

}  // namespace huddle
