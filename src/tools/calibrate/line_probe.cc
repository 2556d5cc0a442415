// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/line_probe.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tools/calibrate/flag.h"

namespace huddle::calibrate {
namespace {

// Some 10 us a sample: the clock's 25 ns vanish in it, and a preemption still stands out.
constexpr Count round_trips_a_sample = 100;

struct OwnLines {
  Flag ping_flag;
  Flag pong_flag;
  std::atomic<Count>& ping() { return ping_flag.value; }
  std::atomic<Count>& pong() { return pong_flag.value; }
};

struct alignas(apart_bytes) SharedLine {
  std::atomic<Count> ping_word{0};
  std::atomic<Count> pong_word{0};
  std::atomic<Count>& ping() { return ping_word; }
  std::atomic<Count>& pong() { return pong_word; }
};

// Calls one batch after the other until there are enough; the first batch warms up and is dropped.
template <class RoundTrip>
std::vector<double> time_batches(const Extent& extent, const Budget& budget, Count batch,
                                 RoundTrip round_trip) {
  std::vector<double> samples;
  Count count = 0;
  for (Count i = 0; i < batch; ++i) round_trip(++count);
  const Progress progress(extent, budget);
  while (progress.wants_more(samples.size())) {
    const double start = now_ns();
    for (Count i = 0; i < batch; ++i) round_trip(++count);
    samples.push_back((now_ns() - start) / batch);
  }
  round_trip(quit);
  return samples;
}

void answer(const std::atomic<Count>& heard, std::atomic<Count>& said) {
  for (Count count = 1;; ++count) {
    const Count seen = await(heard, count);
    publish(said, seen);
    if (seen == quit) return;
  }
}

template <class Lines>
Samples time_ping_pong(Crew& crew, int a, int b, const Extent& extent, const Budget& budget) {
  const Placed<Lines> lines(crew, a);
  Samples samples;
  const std::array<int, 2> pus = {a, b};
  samples.threads = crew.run(pus, [&](std::size_t who) {
    if (who == 1) return answer(lines->ping(), lines->pong());
    samples.ns = time_batches(extent, budget, round_trips_a_sample, [&](Count count) {
      publish(lines->ping(), count);
      await(lines->pong(), count);
    });
  });
  for (double& sample : samples.ns) sample /= 2;
  return samples;
}

// What the readers of one flag need: an acknowledgement each, and when each of them saw it.
struct alignas(apart_bytes) Reader {
  std::atomic<Count> seen{0};
  double when_ns = 0;
};

void read_flag(const Flag& flag, Reader& reader) {
  for (Count count = 1;; ++count) {
    const Count seen = await(flag.value, count);
    reader.when_ns = now_ns();
    publish(reader.seen, seen);
    if (seen == quit) return;
  }
}

// One flag that calls, and flags that answer from one line.
struct Calls {
  Flag call;
  alignas(apart_bytes) std::array<std::atomic<Count>, most_packed_flags> packed{};
};

double last_reader_ns(std::span<const Reader> readers, Count count) {
  double last = 0;
  for (const Reader& reader : readers) {
    await(reader.seen, count);
    last = std::max(last, reader.when_ns);
  }
  return last;
}

// Every reader spins on the flag again before the next store: a reader that comes late would be
// timed instead of the line.
void let_readers_settle() {
  constexpr double settle_ns = 300;
  const double until = now_ns() + settle_ns;
  while (now_ns() < until) memory::spin_pause();
}

std::vector<double> write_flag(Flag& flag, std::span<const Reader> readers, const Extent& extent,
                               const Budget& budget) {
  std::vector<double> samples;
  const Progress progress(extent, budget);
  for (Count count = 1; progress.wants_more(samples.size()); ++count) {
    let_readers_settle();
    const double start = now_ns();
    publish(flag.value, count);
    samples.push_back(last_reader_ns(readers, count) - start);
  }
  publish(flag.value, quit);
  return samples;
}

}  // namespace

Samples time_line(Crew& crew, int a, int b, LineUse use, const Extent& extent,
                  const Budget& budget) {
  switch (use) {
    case LineUse::own_lines:
      return time_ping_pong<OwnLines>(crew, a, b, extent, budget);
    case LineUse::shared_line:
      return time_ping_pong<SharedLine>(crew, a, b, extent, budget);
  }
  return {};
}

Samples time_readers(Crew& crew, std::span<const int> pus, const Extent& extent,
                     const Budget& budget) {
  const Placed<Flag> flag(crew, pus.front());
  const Placed<Reader> readers(crew, pus.front(), pus.size() - 1);
  Samples samples;
  samples.threads = crew.run(pus, [&](std::size_t who) {
    if (who > 0) return read_flag(*flag, readers.all()[who - 1]);
    samples.ns = write_flag(*flag, readers.all(), extent, budget);
  });
  return samples;
}

Samples time_packed_flags(Crew& crew, std::span<const int> pus, const Extent& extent,
                          const Budget& budget) {
  const Placed<Calls> calls(crew, pus.front());
  auto& packed = calls->packed;
  const std::size_t writers = std::min(pus.size() - 1, most_packed_flags);
  Samples samples;
  samples.threads = crew.run(pus.first(writers + 1), [&](std::size_t who) {
    if (who > 0) return answer(calls->call.value, packed[who - 1]);
    samples.ns = time_batches(extent, budget, round_trips_a_sample, [&](Count count) {
      publish(calls->call.value, count);
      for (std::size_t i = 0; i < writers; ++i) await(packed[i], count);
    });
  });
  return samples;
}

}  // namespace huddle::calibrate
