// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The first step of making a team: each rank takes the memory that the next ones need, and they
// greet each other. Whoever got none says so there, and then nobody goes on; a rank that failed
// later, before it has told the others anything, would be waited for.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "runtime/team/agreed_configuration.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/context.h"
#include "runtime/team/joining.h"

namespace huddle::team {

struct Preparation {
  Preparation(Peers& peers, const Bootstrap& bootstrap);

  AgreementBuffers agreement;
  Joining joining;
};

// Collective. All ranks throw the same FailureError or none does. Keeps a reference to the
// bootstrap.
std::unique_ptr<Preparation> prepared(Context& context, const Bootstrap& bootstrap);

// The same step of a rank that cannot take the next ones: all throw.
[[noreturn]] void decline(const Bootstrap& bootstrap);
// The same where the only step is that of ranks of a known group.
[[noreturn]] void decline_in_known_group(const Bootstrap& bootstrap);

// A team, or something that has one, from these arguments, in memory of its own: where there is
// none for it, the others hear that, too, by what declines.
template <class T, class Decline, class... Arguments>
std::unique_ptr<T> make_or(Decline decline, Arguments&&... arguments) {
  void* const room = ::operator new(sizeof(T), std::nothrow);
  if (room == nullptr) decline();
  try {
    return std::unique_ptr<T>(new (room) T(std::forward<Arguments>(arguments)...));
  } catch (...) {
    ::operator delete(room);
    throw;
  }
}
template <class T, class... Arguments>
std::unique_ptr<T> make_or_decline(const Bootstrap& bootstrap, Arguments&&... arguments) {
  return make_or<T>([&] { decline(bootstrap); }, std::forward<Arguments>(arguments)...);
}

}  // namespace huddle::team
