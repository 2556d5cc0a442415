// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A thread that is cancelled, or that calls pthread_exit, unwinds its stack as an exception does.
// Whoever catches everything has to pass that on: the process is ended otherwise.
#pragma once

#include <cxxabi.h>

namespace huddle {

#if defined(__GLIBCXX__)
using ThreadEnd = abi::__forced_unwind;
#else
class ThreadEnd {};  // not known as a type, so never caught
#endif

}  // namespace huddle
