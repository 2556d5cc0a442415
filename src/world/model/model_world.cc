// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/model/model_world.h"

#include <algorithm>

#include "world/model/run.h"

namespace huddle::world::model {

using memory::CopyKernel;

int ModelWorld::ranks() const { return run_.ranks(); }

void ModelWorld::caller_wrote(Place place, std::size_t bytes) { run_.own(rank_, place, bytes); }
void ModelWorld::caller_read(Place place, std::size_t bytes) {
  run_.caller_read(rank_, place, bytes);
}
void ModelWorld::meet() { run_.meet(rank_); }

Sequence ModelWorld::load(Place flag) { return run_.look(rank_, flag); }
void ModelWorld::store(Place flag, Sequence value) { run_.put(rank_, flag, value); }
Sequence ModelWorld::fetch_add(Place flag, Sequence amount) {
  return run_.change(rank_, flag, amount);
}

Sequence ModelWorld::wait(Place flag, Until until) {
  const Awaited one{flag, until};
  run_.await(rank_, {&one, 1});
  return run_.look(rank_, flag);
}
int ModelWorld::wait_any(std::span<const Awaited> awaited) { return run_.await(rank_, awaited); }
void ModelWorld::wait_all(std::span<const Place> flags, Until until) {
  for (const Place flag : flags) wait(flag, until);
}

// That goes on while the rank does something else.
void ModelWorld::prefetch_write(Place place, std::size_t bytes) { run_.own(rank_, place, bytes); }

void ModelWorld::copy(Place to, Place from, std::size_t bytes, CopyKernel kernel) {
  run_.copy(rank_, to, from, bytes, kernel, false);
}
void ModelWorld::take(Place to, Place from, std::size_t bytes) {
  run_.copy(rank_, to, from, bytes, CopyKernel::plain, true);
}
void ModelWorld::keep(Place place, std::size_t bytes) { run_.own(rank_, place, bytes); }

// Elements are put together while they pass: arithmetic takes nothing.
void ModelWorld::reduce(Place to, Place left, Place right, std::size_t count,
                        const memory::Reduction& reduction) {
  run_.copy(rank_, to, right, count * reduction.element_bytes, CopyKernel::plain, false, left);
}

bool ModelWorld::expose(Place at, Place what) {
  run_.expose(rank_, at, what);
  return run_.lets_reach();
}
std::optional<Place> ModelWorld::reach(Place at) {
  if (!run_.lets_reach()) return std::nullopt;
  return run_.exposed(rank_, at);
}
path::ErrorNumber ModelWorld::pull(Place to, Place at, std::size_t offset, std::size_t bytes) {
  run_.copy_by_path(rank_, to, run_.exposed(rank_, at) + offset, bytes);
  return path::fine;
}
path::ErrorNumber ModelWorld::push(Place at, std::size_t offset, Place from, std::size_t bytes) {
  run_.copy_by_path(rank_, run_.exposed(rank_, at) + offset, from, bytes);
  return path::fine;
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

}  // namespace huddle::world::model
