// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/model/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/error.h"

namespace huddle::protocols::model {
namespace {

std::vector<double> capacities(const Figures& figures) {
  std::vector<double> gb_per_s;
  for (const Figures::Resource& one : figures.resources()) gb_per_s.push_back(one.gb_per_s);
  return gb_per_s;
}

// A turn takes well below a microsecond, so reports are made at least a thousand times per second.
constexpr unsigned turns_between_reports = 1024;

constexpr Side nearest{Side::Where::own_cache, 0, {}};

}  // namespace

Run::Run(const Job& job, const machine::CostModel& model)
    : job_(job),
      figures_(model, job.pus, job.path),
      holdings_(figures_),
      sharing_(capacities(figures_)),
      fibers_(figures_.ranks()),
      ranks_(job.pus.size()),
      lines_(job.pus.size()),
      lines_between_(job.pus.size() * job.pus.size()) {}

Outcome Run::run() {
  for (int rank = 0; rank < ranks(); ++rank) ready_.insert({0, rank});
  const context::Fibers::Body body = [this](int rank) { return live(rank); };
  fibers_.run(next(), body);
  if (error_) std::rethrow_exception(error_);
  return outcome();
}

int Run::live(int rank) {
  of(rank).has_begun = true;
  if (!error_) {
    try {
      SimulatedContext world(*this, rank);
      job_.body(world);
      finish_work(rank);
    } catch (const Abandoned&) {
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  of(rank).has_ended = true;
  return next();
}

// After a failure, returns a rank that has started and must unwind its stack.
int Run::next_to_leave() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].has_begun && !ranks_[rank].has_ended) return static_cast<int>(rank);
  }
  return context::Fibers::host;
}

void Run::report_progress(double now_ns) {
  if (!job_.progress || ++turns_ % turns_between_reports != 0) return;
  job_.progress(meetings_, now_ns - origin_ns_);
}

int Run::next() {
  while (!error_) {
    double ready_ns = Sharing::never;
    if (!ready_.empty()) {
      ready_ns = ready_.begin()->first;
      report_progress(ready_ns);
    }
    if (const double end_ns = sharing_.next_end_ns();
        end_ns < Sharing::never && end_ns <= ready_ns) {
      const int rank = sharing_.finish_next();
      of(rank).clock_ns = end_ns;
      ready_.insert({end_ns, rank});
    } else if (!ready_.empty()) {
      const int rank = ready_.begin()->second;
      ready_.erase(ready_.begin());
      return rank;
    } else if (next_to_leave() == context::Fibers::host) {
      return context::Fibers::host;
    } else {
      error_ = std::make_exception_ptr(FailureError(stalled_text()));
    }
  }
  return next_to_leave();
}

void Run::give_way() {
  fibers_.switch_to(next());
  if (error_) throw Abandoned{};
}

void Run::catch_up(int rank) {
  const std::pair<double, int> mine{of(rank).clock_ns, rank};
  const bool is_behind =
      (ready_.empty() || mine < *ready_.begin()) && mine.first < sharing_.next_end_ns();
  if (is_behind) return;
  ready_.insert(mine);
  give_way();
}

void Run::finish_work(int rank) {
  Rank& me = of(rank);
  if (me.work.alone_ns > 0) {
    catch_up(rank);
    const double begin_ns = me.clock_ns;
    sharing_.begin(rank, begin_ns, std::max(1.0, me.work.bytes), me.work.alone_ns, me.work.loads);
    give_way();
    if (job_.traced) {
      spans_.push_back({rank, Span::Kind::copy, begin_ns, me.clock_ns,
                        static_cast<std::size_t>(me.work.bytes), rank});
    }
    // The CPU does not speculate across a copy that takes this long.
    if (me.clock_ns - begin_ns > figures_.shortest_way_ns()) me.looks_since_ns.reset();
  }
  me.work.alone_ns = me.work.bytes = 0;
  me.work.loads.clear();
}

void Run::meet(int rank) {
  finish_work(rank);
  catch_up(rank);
  if (++met_ == ranks()) {
    met_ = 0;
    ++meetings_;
    double last_ns = 0;
    for (const Rank& one : ranks_) last_ns = std::max(last_ns, one.clock_ns);
    origin_ns_ = last_ns;
    begin_report();
    for (int one = 0; one < ranks(); ++one) {
      of(one).clock_ns = last_ns;
      of(one).looks_since_ns.reset();
      ready_.insert({last_ns, one});
    }
  }
  give_way();
}

void Run::begin_report() {
  sharing_.clear_passed();
  lines_between_.assign(lines_between_.size(), 0);
  spans_.clear();
}

Run::Line& Run::line(context::Address flag) {
  auto& lines = lines_[static_cast<std::size_t>(flag.owner())];
  const auto [known, is_new] = lines.try_emplace(flag.offset / CacheContents::line_bytes);
  if (is_new) {
    known->second.values.fill(job_.first);
    known->second.has.resize(ranks_.size());
  }
  return known->second;
}

Run::Line* Run::line_around(context::Address place, std::size_t bytes) {
  if (place.region() != context::Region::shared) return nullptr;
  if (place.offset % CacheContents::line_bytes + bytes > CacheContents::line_bytes) return nullptr;
  auto& lines = lines_[static_cast<std::size_t>(place.owner())];
  const auto known = lines.find(place.offset / CacheContents::line_bytes);
  return known == lines.end() ? nullptr : &known->second;
}

// Returns when a store can request the line, and occupies a buffer from then until all other ranks
// have given up the line. Returns `now_ns` if no other rank has it. Further stores to a line that
// is on its way need no other request.
double Run::requested_ns(int rank, Line& line, double now_ns) {
  if (line.writer == rank && now_ns < line.arrives_ns) return line.owned_ns;
  double held_ns = 0;
  for (int other = 0; other < ranks(); ++other) {
    if (other != rank && line.has[static_cast<std::size_t>(other)] != 0) {
      held_ns = std::max(held_ns, figures_.way(other, rank).shared_ns);
    }
  }
  if (held_ns == 0) return now_ns;
  std::multiset<double>& ends = of(rank).stores_end_ns;
  double start_ns = now_ns;
  if (static_cast<int>(ends.size()) >= figures_.outstanding_misses()) {
    start_ns = std::max(now_ns, *ends.begin());
    ends.erase(ends.begin());
  }
  line.arrives_ns = start_ns + held_ns;
  ends.insert(line.arrives_ns);
  return start_ns;
}

// No rank waits for its stores: the time until others see them is part of the line's latency. They
// wait for a buffer, however, and a rank that obtains a line from another writer has to wait for
// it.
void Run::take_over(int rank, Line& line) {
  const double now = now_ns(rank);
  const bool is_own = line.writer == rank;
  const double start_ns = requested_ns(rank, line, now);
  line.written_ns = std::max(now, start_ns);
  if (!is_own && line.writer >= 0) {
    if (line.has[static_cast<std::size_t>(rank)] == 0) count_lines(line.writer, rank, 1);
    line.written_ns = std::max(line.written_ns, line.writable_ns);
    line.writable_ns = line.written_ns + figures_.way(line.writer, rank).writer_step_ns;
    line.writer_before = line.writer;
  }
  line.owned_ns = start_ns;
  line.writer = rank;
  std::fill(line.has.begin(), line.has.end(), 0);
  line.has[static_cast<std::size_t>(rank)] = 1;
}

double Run::fetch_ns(int rank, Line& line, double asked_ns) {
  char& has = line.has[static_cast<std::size_t>(rank)];
  if (has != 0 || line.writer < 0) return asked_ns;
  has = 1;
  count_lines(line.writer, rank, 1);
  const Figures::Way& way = figures_.way(line.writer, rank);
  const double served_ns = std::max({asked_ns, line.written_ns, line.readable_ns});
  line.readable_ns = served_ns + way.reader_step_ns;
  return served_ns + (line.writer_before == rank ? way.shared_ns : way.line_ns);
}

void Run::look_at(int rank, Line& line) {
  if (line.has[static_cast<std::size_t>(rank)] != 0 || line.writer < 0) return;
  Rank& me = of(rank);
  const double now = now_ns(rank);
  double least_ns = now;
  if (me.looks_since_ns) {
    least_ns += figures_.way(line.writer, rank).load_step_ns;
  } else {
    me.looks_since_ns = now;
  }
  const double had_ns = std::max(least_ns, fetch_ns(rank, line, *me.looks_since_ns));
  (me.work.alone_ns > 0 ? me.work.alone_ns : me.clock_ns) += had_ns - now;
}

context::Sequence Run::look(int rank, context::Address flag) {
  Line& it = line(flag);
  look_at(rank, it);
  return it.values[slot(flag)];
}

void Run::put(int rank, context::Address flag, context::Sequence value) {
  finish_work(rank);
  catch_up(rank);
  Line& it = line(flag);
  take_over(rank, it);
  it.values[slot(flag)] = value;
  wake(it);
}

context::Sequence Run::change(int rank, context::Address flag, context::Sequence amount) {
  finish_work(rank);
  catch_up(rank);
  Line& it = line(flag);
  const context::Sequence before = it.values[slot(flag)];
  const int from = it.writer < 0 ? rank : it.writer;
  take_over(rank, it);
  it.values[slot(flag)] = before + amount;
  wake(it);
  of(rank).clock_ns = it.written_ns + figures_.way(from, rank).line_ns;
  of(rank).looks_since_ns.reset();
  return before;
}

// All ranks that wait for this line fetch it again, whether or not it has the expected value.
void Run::wake(Line& written) {
  std::vector<int> still;
  for (const int rank : std::exchange(written.waiting, {})) {
    Rank& one = of(rank);
    const double had_ns = fetch_ns(rank, written, written.written_ns);
    const auto held =
        std::find_if(one.awaited.begin(), one.awaited.end(),
                     [this](const context::AwaitedFlag& each) { return is_held(each); });
    if (held == one.awaited.end()) {
      still.push_back(rank);
      continue;
    }
    for (const context::AwaitedFlag& each : one.awaited) std::erase(line(each.flag).waiting, rank);
    if (job_.traced) {
      spans_.push_back({rank, Span::Kind::wait, one.clock_ns, std::max(one.clock_ns, had_ns), 0,
                        held->flag.owner()});
    }
    one.clock_ns = std::max(one.clock_ns, had_ns);
    one.awaited.clear();
    ready_.insert({one.clock_ns, rank});
  }
  written.waiting.insert(written.waiting.end(), still.begin(), still.end());
}

int Run::await(int rank, std::span<const context::AwaitedFlag> awaited) {
  const auto held = [&]() -> std::optional<int> {
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (!is_held(awaited[i])) continue;
      look_at(rank, line(awaited[i].flag));
      return static_cast<int>(i);
    }
    return std::nullopt;
  };
  if (const auto found = held()) return *found;
  finish_work(rank);
  catch_up(rank);
  if (const auto found = held()) return *found;
  Rank& me = of(rank);
  if (!me.looks_since_ns) me.looks_since_ns = me.clock_ns;
  me.awaited.assign(awaited.begin(), awaited.end());
  for (const context::AwaitedFlag& each : awaited) {
    Line& it = line(each.flag);
    (void)fetch_ns(rank, it, me.clock_ns);  // an unsuccessful check
    if (std::find(it.waiting.begin(), it.waiting.end(), rank) == it.waiting.end()) {
      it.waiting.push_back(rank);
    }
  }
  give_way();
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    if (is_held(awaited[i])) return static_cast<int>(i);
  }
  return 0;
}

void Run::add_load(int rank, int resource, double bytes) {
  auto& loads = of(rank).work.loads;
  const auto known = std::find_if(loads.begin(), loads.end(),
                                  [&](const Load& load) { return load.resource == resource; });
  if (known == loads.end()) {
    loads.push_back({resource, bytes});
  } else {
    known->bytes += bytes;
  }
}

namespace {

// Merges consecutive ranges that were found on the same side.
void join_alike(std::vector<CacheContents::Found>& found) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i].side == found[last].side) {
      found[last].bytes += found[i].bytes;
    } else {
      found[++last] = found[i];
    }
  }
  if (!found.empty()) found.resize(last + 1);
}

}  // namespace

void Run::find_read(int rank, context::Address place, std::size_t bytes,
                    std::vector<CacheContents::Found>& found) {
  found.clear();
  if (Line* flags = line_around(place, bytes)) {
    look_at(rank, *flags);
    found.push_back({bytes, nearest});
    return;
  }
  const bool is_shared = place.region() == context::Region::shared;
  holdings_.read(rank, place, bytes, found, [&](int writer, std::size_t lines) {
    if (is_shared || writer != rank) count_lines(writer, rank, lines);
  });
  join_alike(found);
}

void Run::find_written(int rank, context::Address place, std::size_t bytes,
                       memory::CopyKernel kernel, std::vector<CacheContents::Found>& found) {
  found.clear();
  if (Line* flags = line_around(place, bytes)) {
    take_over(rank, *flags);
    found.push_back({bytes, nearest});
    return;
  }
  holdings_.write(rank, place, bytes, kernel == memory::CopyKernel::nontemporal,
                  kernel == memory::CopyKernel::interleaved, found,
                  [&](int writer, std::size_t lines) { count_lines(writer, rank, lines); });
  join_alike(found);
}

// Copies the ranges in found_from_ to those in found_to_.
void Run::do_copy(int rank, int owner, memory::CopyKernel kernel) {
  Work& work = of(rank).work;
  const auto add = [&](int resource, double bytes) { add_load(rank, resource, bytes); };
  std::size_t from = 0;
  std::size_t to = 0;
  while (from < found_from_.size() && to < found_to_.size()) {
    CacheContents::Found& source = found_from_[from];
    CacheContents::Found& target = found_to_[to];
    const std::size_t bytes = std::min(source.bytes, target.bytes);
    work.alone_ns += figures_.copy_ns(rank, source.side, target.side, bytes, kernel);
    figures_.loads_of_read(rank, source.side, bytes, add);
    figures_.loads_of_write(rank, target.side, owner, bytes, kernel, add);
    source.bytes -= bytes;
    target.bytes -= bytes;
    if (source.bytes == 0) ++from;
    if (target.bytes == 0) ++to;
  }
}

void Run::copy(int rank, context::Address to, context::Address from, std::size_t bytes,
               memory::CopyKernel kernel, bool takes, std::optional<context::Address> left) {
  if (bytes == 0) return;
  if (left && *left != to && *left != from) {
    find_read(rank, *left, bytes, found_left_);
    for (const CacheContents::Found& one : found_left_) {
      if (one.side.where == Side::Where::own_cache) continue;
      of(rank).work.alone_ns += figures_.copy_ns(rank, one.side, nearest, one.bytes, kernel);
      figures_.loads_of_read(rank, one.side, one.bytes,
                             [&](int resource, double n) { add_load(rank, resource, n); });
    }
  }
  find_read(rank, from, bytes, found_from_);
  if (takes) {
    for (CacheContents::Found& one : found_from_)
      one.side.manner = machine::HandoffKind::read_and_own;
    own(rank, from, bytes);
  }
  find_written(rank, to, bytes, kernel, found_to_);
  do_copy(rank, to.owner(), kernel);
  of(rank).work.bytes += static_cast<double>(bytes);
}

void Run::copy_by_path(int rank, context::Address to, context::Address from, std::size_t bytes) {
  if (bytes == 0) return;
  const double alone_ns = figures_.path_ns(bytes);
  if (!std::isfinite(alone_ns)) {
    throw FailureError(fmt::format("the machine file has no figure for a copy by '{}'", job_.path));
  }
  find_read(rank, from, bytes, found_from_);
  find_written(rank, to, bytes, memory::CopyKernel::plain, found_to_);
  Work& work = of(rank).work;
  const double before_ns = work.alone_ns;
  do_copy(rank, to.owner(), memory::CopyKernel::plain);
  work.alone_ns = before_ns + alone_ns;
  work.bytes += static_cast<double>(bytes);
  if (figures_.path_resource() >= 0) {
    add_load(rank, figures_.path_resource(), figures_.path_load_bytes(bytes));
  }
}

void Run::own(int rank, context::Address place, std::size_t bytes) {
  if (Line* flags = line_around(place, bytes)) {
    take_over(rank, *flags);
  } else {
    holdings_.own(rank, place, bytes);
  }
}

void Run::caller_read(int rank, context::Address place, std::size_t bytes) {
  found_left_.clear();
  holdings_.read(rank, place, bytes, found_left_, [](int, std::size_t) {});
}

void Run::expose(int rank, context::Address at, context::Address what) {
  take_over(rank, line(at));
  exposed_[{at.owner(), at.offset}] = what;
}

context::Address Run::exposed(int rank, context::Address at) {
  look_at(rank, line(at));
  const auto known = exposed_.find({at.owner(), at.offset});
  if (known == exposed_.end()) throw UsageError("a rank wants what nobody exposes");
  return known->second;
}

std::string Run::stalled_text() {
  std::string text = "all ranks are blocked:";
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& one = ranks_[rank];
    if (one.has_ended) continue;
    if (one.awaited.empty()) {
      text += fmt::format("{} rank {} waits for all to begin a call", rank == 0 ? "" : ";", rank);
      continue;
    }
    for (const context::AwaitedFlag& each : one.awaited) {
      text += fmt::format("{} rank {} waits for {} at {} of rank {}'s memory, which holds {}",
                          text.back() == ':' ? "" : ";", rank, each.until.value, each.flag.offset,
                          each.flag.owner(), line(each.flag).values[slot(each.flag)]);
    }
  }
  return text;
}

Outcome Run::outcome() {
  Outcome result;
  for (const Rank& one : ranks_) result.ns.push_back(one.clock_ns - origin_ns_);
  result.lines_between = lines_between_;
  result.levels = figures_.levels();
  result.lines_by_level.resize(result.levels.size());
  for (int from = 0; from < ranks(); ++from) {
    for (int to = 0; to < ranks(); ++to) {
      if (from == to) continue;
      result.lines_by_level[static_cast<std::size_t>(figures_.way(from, to).level)] +=
          result.lines(from, to);
    }
  }
  for (std::size_t i = 0; i < figures_.resources().size(); ++i) {
    const Figures::Resource& one = figures_.resources()[i];
    result.resources.push_back(
        {one.name, one.gb_per_s, sharing_.passed_bytes()[i], one.is_controller});
  }
  result.not_derived = figures_.not_derived();
  result.spans = std::move(spans_);
  for (Span& span : result.spans) {
    span.begin_ns -= origin_ns_;
    span.end_ns -= origin_ns_;
  }
  return result;
}

}  // namespace huddle::protocols::model
