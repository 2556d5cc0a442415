// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Errors inside huddle. What a person can mend is thrown as an Error that says so in one sentence;
// the command line turns it into an exit status, the C interface into a huddle_status.
#pragma once

#include <stdexcept>
#include <string>

namespace huddle {

// The exit statuses of every command; the same numbers as huddle_status.
enum class ExitCode : int { fine = 0, failure = 1, usage = 2, bad_input = 3 };

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// The machine, a file system or another process did not do what was asked.
class FailureError : public Error {
 public:
  explicit FailureError(const std::string& message) : Error(ExitCode::failure, message) {}
};

// The command was called wrongly.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

// A file or a setting that was read is damaged.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

}  // namespace huddle
