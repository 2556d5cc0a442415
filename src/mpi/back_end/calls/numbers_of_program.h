// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An array of a program's: of int or, in the forms for large counts, of something larger.
#pragma once

namespace huddle::mpi {

template <class Wide>
class ProgramNumbers {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): what a program gives is one or the other
  ProgramNumbers(const int* narrow) : narrow_(narrow) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  ProgramNumbers(const Wide* wide) : wide_(wide), is_wide_(true) {}

  bool is_there() const { return narrow_ != nullptr || wide_ != nullptr; }
  Wide operator[](int i) const { return is_wide_ ? wide_[i] : narrow_[i]; }
  // As they came.
  bool is_wide() const { return is_wide_; }
  const int* narrow() const { return narrow_; }
  const Wide* wide() const { return wide_; }

 private:
  const int* narrow_ = nullptr;
  const Wide* wide_ = nullptr;
  bool is_wide_ = false;
};

}  // namespace huddle::mpi
