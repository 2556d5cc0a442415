// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Errors inside huddle. What a person can mend is thrown as an Error that says so in one sentence;
// the command line turns it into an exit status, the C interface into a huddle_status.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace huddle {

// The exit statuses of every command; the same numbers as huddle_status.
enum class ExitCode : int { fine = 0, failure = 1, usage = 2, bad_input = 3 };

class Error : public std::exception {
 public:
  // Cannot fail, so that what is thrown is what was meant to be thrown: where there is no memory
  // for the message, it says that.
  Error(ExitCode code, std::string_view message) noexcept;
  ExitCode code() const { return code_; }
  const char* what() const noexcept override;

 private:
  ExitCode code_;
  std::shared_ptr<const std::string> message_;  // null where there was no memory for it
};

// The machine, a file system or another process did not do what was asked.
class FailureError : public Error {
 public:
  explicit FailureError(std::string_view message) noexcept : Error(ExitCode::failure, message) {}
};

// The command was called wrongly.
class UsageError : public Error {
 public:
  explicit UsageError(std::string_view message) noexcept : Error(ExitCode::usage, message) {}
};

// A file or a setting that was read is damaged.
class InputError : public Error {
 public:
  explicit InputError(std::string_view message) noexcept : Error(ExitCode::bad_input, message) {}
};

}  // namespace huddle
