// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/model/model_world.h"

#include <algorithm>

#include "simulate/protocols/model/run.h"

namespace huddle::predict::model {

using memory::CopyKernel;

int ModelWorld::ranks() const { return run_.ranks(); }

void ModelWorld::caller_wrote(world::Address place, std::size_t bytes) {
  run_.own(rank_, place, bytes);
}
void ModelWorld::caller_read(world::Address place, std::size_t bytes) {
  run_.caller_read(rank_, place, bytes);
}
void ModelWorld::meet() { run_.meet(rank_); }

world::Sequence ModelWorld::load(world::Address flag) { return run_.look(rank_, flag); }
void ModelWorld::store(world::Address flag, world::Sequence value) { run_.put(rank_, flag, value); }
world::Sequence ModelWorld::fetch_add(world::Address flag, world::Sequence amount) {
  return run_.change(rank_, flag, amount);
}

world::Sequence ModelWorld::wait(world::Address flag, world::Until until) {
  const world::AwaitedFlag one{flag, until};
  run_.await(rank_, {&one, 1});
  return run_.look(rank_, flag);
}
int ModelWorld::wait_any(std::span<const world::AwaitedFlag> awaited) {
  return run_.await(rank_, awaited);
}
void ModelWorld::wait_all(std::span<const world::Address> flags, world::Until until) {
  for (const world::Address flag : flags) wait(flag, until);
}

// That goes on while the rank does something else.
void ModelWorld::prefetch_write(world::Address place, std::size_t bytes) {
  run_.own(rank_, place, bytes);
}

void ModelWorld::copy(world::Address to, world::Address from, std::size_t bytes,
                      CopyKernel kernel) {
  run_.copy(rank_, to, from, bytes, kernel, false);
}
void ModelWorld::take(world::Address to, world::Address from, std::size_t bytes) {
  run_.copy(rank_, to, from, bytes, CopyKernel::plain, true);
}
void ModelWorld::keep(world::Address place, std::size_t bytes) { run_.own(rank_, place, bytes); }

// Elements are put together while they pass: arithmetic takes nothing.
void ModelWorld::reduce(world::Address to, world::Address left, world::Address right,
                        std::size_t count, const memory::Reduction& reduction) {
  run_.copy(rank_, to, right, count * reduction.element_bytes, CopyKernel::plain, false, left);
}

bool ModelWorld::expose(world::Address at, world::Address what) {
  run_.expose(rank_, at, what);
  return run_.lets_reach();
}
std::optional<world::Address> ModelWorld::reach(world::Address at) {
  if (!run_.lets_reach()) return std::nullopt;
  return run_.exposed(rank_, at);
}
single_copy::ErrorNumber ModelWorld::pull(world::Address to, world::Address at, std::size_t offset,
                                          std::size_t bytes) {
  run_.copy_by_path(rank_, to, run_.exposed(rank_, at) + offset, bytes);
  return single_copy::fine;
}
single_copy::ErrorNumber ModelWorld::push(world::Address at, std::size_t offset,
                                          world::Address from, std::size_t bytes) {
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

}  // namespace huddle::predict::model
