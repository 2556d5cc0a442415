// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs the built `huddle` as a user's shell would, with its own home and environment.
#pragma once

#include <string>
#include <vector>

#include "../../common/scratch.h"

namespace huddle::cli {

struct Ran {
  int status = 0;  // exit status; 128 + n after signal n
  std::string out;
  std::string err;
};

class Program {
 public:
  // Adds "NAME=value". The program gets only PATH from the test's own environment.
  Program& environment(std::string line) {
    environment_.push_back(std::move(line));
    return *this;
  }
  // Writes a file in the user's home: ".config/huddle/config.toml".
  Program& home_file(std::string_view path, std::string_view text) {
    home_.write(path, text);
    return *this;
  }
  // Sets the program's standard input, which is empty otherwise.
  Program& input(std::string_view text) {
    input_ = home_.write("stdin", text);
    return *this;
  }
  const test::Scratch& home() const { return home_; }

  Ran run(const std::vector<std::string>& arguments) const;
  // The same with stdout redirected to this file.
  Ran run_into(const std::string& path, const std::vector<std::string>& arguments) const;
  // The same with stdout in a terminal of this width.
  Ran run_in_terminal(int columns, const std::vector<std::string>& arguments) const;
  // The same with stdout in a pipe without a reader and SIGPIPE ignored by the caller.
  Ran run_into_closed_pipe(const std::vector<std::string>& arguments) const;

 private:
  Ran finish(int out, const std::vector<std::string>& arguments) const;

  test::Scratch home_;
  std::string input_ = "/dev/null";  // a file
  std::vector<std::string> environment_;
};

}  // namespace huddle::cli
