// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/model/simulated_context.h"

#include <algorithm>

#include "simulate/protocols/model/run.h"

namespace huddle::protocols::model {

using memory::CopyKernel;

int SimulatedContext::ranks() const { return run_.ranks(); }

void SimulatedContext::caller_wrote(context::Address place, std::size_t bytes) {
  run_.own(rank_, place, bytes);
}
void SimulatedContext::caller_read(context::Address place, std::size_t bytes) {
  run_.caller_read(rank_, place, bytes);
}
void SimulatedContext::meet() { run_.meet(rank_); }

context::Sequence SimulatedContext::load(context::Address flag) { return run_.look(rank_, flag); }
void SimulatedContext::store(context::Address flag, context::Sequence value) {
  run_.put(rank_, flag, value);
}
context::Sequence SimulatedContext::fetch_add(context::Address flag, context::Sequence amount) {
  return run_.change(rank_, flag, amount);
}

context::Sequence SimulatedContext::wait(context::Address flag, context::Until until) {
  const context::AwaitedFlag one{flag, until};
  run_.await(rank_, {&one, 1});
  return run_.look(rank_, flag);
}
int SimulatedContext::wait_any(std::span<const context::AwaitedFlag> awaited) {
  return run_.await(rank_, awaited);
}
void SimulatedContext::wait_all(std::span<const context::Address> flags, context::Until until) {
  for (const context::Address flag : flags) wait(flag, until);
}

// The prefetch takes no time of its own, because the rank does other work in the meantime.
void SimulatedContext::prefetch_write(context::Address place, std::size_t bytes) {
  run_.own(rank_, place, bytes);
}

void SimulatedContext::copy(context::Address to, context::Address from, std::size_t bytes,
                            CopyKernel kernel) {
  run_.copy(rank_, to, from, bytes, kernel, false);
}
void SimulatedContext::copy_and_own(context::Address to, context::Address from, std::size_t bytes) {
  run_.copy(rank_, to, from, bytes, CopyKernel::plain, true);
}
void SimulatedContext::own(context::Address place, std::size_t bytes) {
  run_.own(rank_, place, bytes);
}

// A reduction takes as long as the copy of its data: arithmetic takes no time.
void SimulatedContext::reduce(context::Address to, context::Address left, context::Address right,
                              std::size_t count, const memory::Reduction& reduction) {
  run_.copy(rank_, to, right, count * reduction.element_bytes, CopyKernel::plain, false, left);
}

bool SimulatedContext::expose(context::Address at, context::Address what) {
  run_.expose(rank_, at, what);
  return run_.lets_reach();
}
std::optional<context::Address> SimulatedContext::map_exposed(context::Address at) {
  if (!run_.lets_reach()) return std::nullopt;
  return run_.exposed(rank_, at);
}
single_copy::ErrorNumber SimulatedContext::pull(context::Address to, context::Address at,
                                                std::size_t offset, std::size_t bytes) {
  run_.copy_by_path(rank_, to, run_.exposed(rank_, at) + offset, bytes);
  return single_copy::fine;
}
single_copy::ErrorNumber SimulatedContext::push(context::Address at, std::size_t offset,
                                                context::Address from, std::size_t bytes) {
  run_.copy_by_path(rank_, run_.exposed(rank_, at) + offset, from, bytes);
  return single_copy::fine;
}

double Outcome::all_ns() const { return *std::max_element(ns.begin(), ns.end()); }

double Outcome::busy_share(const Resource& resource) const {
  const double all = all_ns();
  return all > 0 ? resource.passed_bytes / (resource.gb_per_s * all) : 0;
}

const Outcome::Resource* Outcome::busiest() const {
  const auto most = std::max_element(
      resources.begin(), resources.end(),
      [&](const Resource& a, const Resource& b) { return busy_share(a) < busy_share(b); });
  return most == resources.end() ? nullptr : &*most;
}

Outcome run(const Job& job, const machine::CostModel& model) { return Run(job, model).run(); }

}  // namespace huddle::protocols::model
