// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The two addresses that a program names in a call, whatever the call is, and the same call with
// another in its place.
#pragma once

#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

template <class Call>
constexpr bool is_reduction = requires(const Call& call) {
  call.op;
};

template <class Call>
const void* input_of(const Call& call) {
  if constexpr (requires { call.input.address; }) {
    return call.input.address;
  } else {
    return call.input;
  }
}

template <class Call>
const void* output_of(const Call& call) {
  if constexpr (requires { call.output.address; }) {
    return call.output.address;
  } else {
    return call.output;
  }
}

template <class Call>
Call with_input(Call call, void* input) {
  if constexpr (requires { call.input.address; }) {
    call.input.address = input;
  } else {
    call.input = input;
  }
  return call;
}

template <class Call>
Call with_output(Call call, void* output) {
  if constexpr (requires { call.output.address; }) {
    call.output.address = output;
  } else {
    call.output = output;
  }
  return call;
}

}  // namespace huddle::mpi
