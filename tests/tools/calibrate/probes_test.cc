// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks that each probe runs and returns the requested number of plausible samples.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "here.h"
#include "tools/calibrate/handoff_probe.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/memory_probe.h"
#include "tools/calibrate/path_probe.h"
#include "tools/calibrate/system_probe.h"

namespace huddle::calibrate {
namespace {

using memory::CopyKernel;

void expect_samples(const Samples& samples, std::size_t count, std::string_view what) {
  EXPECT_EQ(samples.ns.size(), count) << what;
  EXPECT_TRUE(plausible(samples.ns)) << what;
}

TEST(LineProbe, TimesBothUses) {
  HUDDLE_NEED_CORES(2);
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  for (const LineUse use : {LineUse::own_lines, LineUse::shared_line}) {
    const Samples samples = time_line(crew, pus[0], pus[1], use, few, ample());
    expect_samples(samples, few.least, "line");
    EXPECT_EQ(samples.threads.size(), 2U);
  }
}

TEST(LineProbe, TimesReadersAndWriters) {
  HUDDLE_NEED_CORES(2);
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  expect_samples(time_readers(crew, pus, few, ample()), few.least, "readers");
  expect_samples(time_packed_flags(crew, pus, few, ample()), few.least, "writers");
}

TEST(LineProbe, EndsWhenStopped) {
  HUDDLE_NEED_CORES(2);
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  const std::atomic<bool> stop{true};
  EXPECT_TRUE(
      time_line(crew, pus[0], pus[1], LineUse::own_lines, Extent{}, Budget(600, stop)).ns.empty());
}

TEST(ArrayProbe, TimesBothPlaces) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  for (const auto place : {machine::ArrayPlace::program, machine::ArrayPlace::heap}) {
    ArrayProbe probe(crew, pus.front(), place, 1 << 20);
    expect_samples(probe.time_loads(few, ample()), few.least, "loads");
    expect_samples(probe.time_stream(few, ample()), few.least, "stream");
  }
}

TEST(CopyProbe, TimesOneAndAllCores) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  CopyProbe alone(crew, std::span(pus).first(1), 1 << 20);
  for (const CopyKernel kernel : memory::copy_kernels) {
    expect_samples(alone.time(1 << 20, kernel, few, ample()), few.least, "copy");
    expect_samples(alone.time(64, kernel, few, ample()), few.least, "copy of a line");
  }
  CopyProbe all(crew, pus, 1 << 16);
  const Samples samples = all.time(1 << 16, CopyKernel::plain, few, ample());
  // The first core that is ready ends the measurement for all; late ones have fewer samples.
  EXPECT_LE(samples.ns.size(), few.most * pus.size());
  EXPECT_TRUE(plausible(samples.ns));
}

TEST(CopyProbe, RepeatsSmallCopies) {
  EXPECT_EQ(repeats_for(64), 8192U);
  EXPECT_EQ(repeats_for(1 << 20), 1U);
  EXPECT_GT(repeats_for(0), 0U);
}

TEST(HandoffProbe, TransfersWholeBlocks) {
  HUDDLE_NEED_CORES(2);
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  HandoffProbe probe(crew, pus[0], pus[1], 1 << 18);
  // Throws if a block is incomplete.
  for (const std::size_t bytes : {64, 100, 1024, 16 << 10, (16 << 10) + 1, 1 << 18}) {
    for (memory::CopyMethod method : memory::to_one_reader) {
      const Samples written = probe.time_write(bytes, method, few, ample());
      EXPECT_EQ(written.ns.size(), few.least - 1) << bytes;  // the first round warms up
      const Samples read = probe.time_read(bytes, method, few, ample());
      EXPECT_EQ(read.ns.size(), few.least - 1) << bytes;
      EXPECT_EQ(probe.time_ring(bytes, method, few, ample()).ns.size(), few.least - 1) << bytes;
    }
    EXPECT_EQ(probe.time_write(bytes, memory::by_ping_pong, few, ample()).ns.size(), few.least - 1)
        << bytes;
  }
}

TEST(PathProbe, ReadsMemoryOfOtherProcess) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  const PeerProcess peer(crew, pus.front(), 1 << 16);
  for (const auto& path : single_copy::peer_paths()) {
    SCOPED_TRACE(path.name);
    const auto memory = memory_of(peer, path);
    if (const auto refusal = refusal_of(*memory, peer); !refusal.empty()) GTEST_SKIP() << refusal;
    std::vector<std::byte> target(1 << 16);
    read_from_peer(*memory, peer, target);
    EXPECT_EQ(target, std::vector<std::byte>(target.size(), PeerProcess::fill));
  }
}

TEST(PathProbe, ReadsNewlyWrittenData) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  const PeerProcess peer(crew, pus.front(), 1 << 16);
  for (const auto& path : single_copy::peer_paths()) {
    SCOPED_TRACE(path.name);
    const auto memory = memory_of(peer, path);
    if (const auto refusal = refusal_of(*memory, peer); !refusal.empty()) GTEST_SKIP() << refusal;
    const std::vector<std::byte> data(100, std::byte{7});
    write_to_peer(*memory, peer, 5000, data);
    std::vector<std::byte> target(data.size());
    read_from_peer(*memory, peer, target, 5000);
    EXPECT_EQ(target, data);
    EXPECT_THROW(read_from_peer(*memory, peer, target, std::size_t{1} << 30), FailureError);
  }
}

// Throws if the data is not that of the current round.
TEST(PathProbe, TimesAllCoresTogether) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  std::vector<Pair> ring;
  for (std::size_t i = 0; i < pus.size(); ++i) ring.emplace_back(pus[i], pus[(i + 1) % pus.size()]);
  const auto paths = single_copy::peer_paths();
  PathProbe probe(crew, paths.front(), ring, 1 << 20);
  if (const auto refusal = probe.refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{1} << 20}) {
    const Samples samples = probe.time(bytes, few, ample());
    expect_samples(samples, few.least, paths.front().name);
    EXPECT_EQ(samples.further_ns.size(), pus.size() - 1);
  }
}

TEST(PathProbe, HasWriterForSingleReader) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  const std::array pairs = {Pair(pus.front(), pus.back())};
  const auto paths = single_copy::peer_paths();
  PathProbe probe(crew, paths.front(), pairs, 1 << 16);
  if (const auto refusal = probe.refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
  const Samples samples = probe.time(4096, few, ample());
  expect_samples(samples, few.least, paths.front().name);
  EXPECT_TRUE(samples.further_ns.empty());
}

TEST(SystemProbe, TimesEveryCall) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  for (std::size_t i = 0; i < machine::system_call_names.size(); ++i) {
    const auto call = static_cast<machine::SystemCall>(i);
    expect_samples(time_system_call(crew, call, pus.front(), pus.back(), few, ample()), few.least,
                   std::string(machine::system_call_names[i]).c_str());
  }
}

// The time that a rank on an oversubscribed core waits: another process runs during each call.
TEST(SystemProbe, YieldsToAnotherProcess) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  const auto switches = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_nvcsw + used.ru_nivcsw);
  };
  const std::size_t before = switches();
  const Samples samples =
      time_system_call(crew, machine::SystemCall::yield, pus[0], pus[0], few, ample());
  constexpr std::size_t calls_a_sample = 32;
  EXPECT_GE(switches() - before, samples.ns.size() * calls_a_sample / 2);
}

TEST(SystemProbe, WakesThreadOnSameCore) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  expect_samples(
      time_system_call(crew, machine::SystemCall::futex_wake, pus[0], pus[0], few, ample()),
      few.least, "futex on one core");
}

TEST(MemoryProbe, ChaseVisitsEveryLine) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  MemoryProbe probe(crew, pus.front(), 1 << 20, memory::PageBuffer::where_touched, ample());
  EXPECT_EQ(probe.cycle_lines(), (std::size_t{1} << 20) / 64);
  expect_samples(probe.time_loads(few, ample()), few.least, "loads");
}

TEST(MemoryProbe, ChaseIsCompleteEvenWithoutTime) {
  const auto pus = cores_here();
  MeasuringThreads crew(pus);
  MemoryProbe probe(crew, pus.front(), 1 << 20, memory::PageBuffer::where_touched,
                    Budget(0, never_stop));
  EXPECT_LT(probe.cycle_lines(), (std::size_t{1} << 20) / 64);
  EXPECT_GT(probe.cycle_lines(), 0U);
}

}  // namespace
}  // namespace huddle::calibrate
