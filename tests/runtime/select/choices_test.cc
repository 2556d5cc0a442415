// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares the choices on every machine file, for every operation and for sizes from a word to more
// than the caches hold, with golden/choices.txt. Refactoring must not change them; changes of the
// cost model show up here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/text.h"
#include "model/machine/machine_file.h"
#include "runtime/memory/copy.h"
#include "runtime/select/choice.h"

namespace huddle::select {
namespace {

constexpr std::size_t measured_queue_bytes = std::size_t{1} << 20;
constexpr std::size_t sizes[] = {8, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 24};

std::vector<std::string> machine_files() {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(HUDDLE_SOURCE_DIR "/machines")) {
    if (file.path().extension() == ".toml") files.push_back(file.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const Candidate& candidate) {
  return fmt::format("{} {}", algorithm_name(candidate.plan), candidate.parameters);
}

// If the ranks' buffers are also in the shared heap, the text contains that choice as well.
std::string text_of(const std::optional<Choice<Candidate>>& choice) {
  if (!choice) return "nothing";
  std::string text = text_of(choice->usual);
  if (choice->where_mapped) text += " | mapped: " + text_of(*choice->where_mapped);
  return text;
}

std::string choices_on(const machine::Machine& machine, int ranks) {
  const machine::CostModel model(machine);
  std::vector<int> pus = machine::first_pu_of_cores(machine.topology);
  pus.resize(static_cast<std::size_t>(ranks));
  const node::RankLocality locality = node::locality(machine.topology, pus);
  TeamResources provided = team_resources(locality, model, measured_queue_bytes);
  provided.heap_refusal.clear();
  std::string text = fmt::format("{} with {} ranks\n", machine.name, ranks);
  for (std::size_t i = 0; i < operation_names.size(); ++i) {
    const auto operation = static_cast<Operation>(i);
    const std::size_t element_bytes = reduces(operation) ? sizeof(double) : 1;
    for (const std::size_t bytes : sizes) {
      const bool is_barrier = operation == Operation::barrier;
      const Request request{operation, is_barrier ? 0 : bytes, element_bytes};
      text += fmt::format("  {} {}: {}\n", name(operation),
                          is_barrier ? "" : size_text(static_cast<double>(bytes)),
                          text_of(choose(request, locality, model, provided)));
      if (is_barrier) break;
    }
  }
  return text;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Choices, MatchGoldenFile) {
  if (!memory::is_native(memory::CopyKernel::nontemporal)) {
    GTEST_SKIP() << "this processor has one copy kernel: what it chooses among is less";
  }
  std::string all;
  for (const std::string& file : machine_files()) {
    const machine::Machine machine = machine::read_machine_file(file);
    for (const int ranks : std::set{2, machine::core_count(machine.topology)}) {
      all += choices_on(machine, ranks);
    }
  }
  const std::string path = HUDDLE_SOURCE_DIR "/tests/runtime/select/golden/choices.txt";
  if (std::getenv("HUDDLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << all;
  std::istringstream is(all);
  std::istringstream was(contents(path));
  std::string now;
  std::string before;
  int differing = 0;
  constexpr int most_shown = 10;
  while (std::getline(is, now)) {
    std::getline(was, before);
    if (now == before || ++differing > most_shown) continue;
    ADD_FAILURE() << "was " << before << "\nis  " << now;
  }
  EXPECT_EQ(differing, 0) << "look at the change, then run with HUDDLE_UPDATE_GOLDEN=1";
  EXPECT_FALSE(std::getline(was, before)) << "no longer there: " << before;
}

}  // namespace
}  // namespace huddle::select
