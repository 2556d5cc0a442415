// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/kept_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "common/system.h"

namespace huddle::threads {

std::optional<long long> kernel_value(const std::string& path) { return System().number(path); }

bool set_kernel_value(const std::string& path, long long value) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return false;
  // A single write(): the value is either set or unchanged if the process is killed.
  const std::string text = fmt::format("{}\n", value);
  if (::write(file.number(), text.data(), text.size()) < 0) return false;
  if (kernel_value(path) == value) return true;
  errno = EINVAL;  // the kernel accepted the value but did not use it
  return false;
}

namespace {

// Depth of the process tree that is searched for inherited masks.
constexpr int most_generations = 8;

std::string line_of(std::string_view word, const Identity& one) {
  return fmt::format("{} {} {}\n", word, one.number, one.born);
}

std::optional<Identity> identity_in(const std::vector<std::string>& fields) {
  const auto number = whole_number(fields[1]);
  const auto born = whole_number(fields[2]);
  if (!number || *number < 1 || !born || *born < 0) return std::nullopt;
  return Identity{static_cast<pid_t>(*number), static_cast<std::uint64_t>(*born)};
}

std::optional<Kept> kept_in(const std::vector<std::string>& fields, const Identity& thread) {
  const auto process = whole_number(fields[3]);
  const auto claim = whole_number(fields[7]);
  if (!process || !claim) return std::nullopt;
  try {
    return Kept{.thread = thread,
                .process = static_cast<pid_t>(*process),
                .original = machine::CpuSet::parse(fields[4]),
                .before = machine::CpuSet::parse(fields[5]),
                .set = machine::CpuSet::parse(fields[6]),
                .claim = static_cast<int>(*claim)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Finds threads that did not exist when the others were bound and that have a mask which huddle has
// set: they inherited it from their creators.
class Heirs {
 public:
  Heirs(const SavedState& kept, ThreadMasks& masks) : kept_(kept), masks_(masks) {}

  int restore_in(pid_t process, int generations) {
    int changed = 0;
    for (const pid_t thread : masks_.threads_of(process))
      changed += restore_thread(process, thread);
    if (generations == 0) return changed;
    for (const pid_t child : masks_.children_of(process)) {
      changed += restore_in(child, generations - 1);
    }
    return changed;
  }

 private:
  int restore_thread(pid_t process, pid_t thread) {
    const Identity one{thread, masks_.born(thread)};
    const auto known = kept_.bound.find(thread);
    if (known != kept_.bound.end() && known->second.thread == one) return 0;
    if (one.born == 0 || kept_.alone.contains(one)) return 0;
    const auto mask = masks_.mask(thread);
    if (!mask) return 0;
    const Kept* const parent = creator_of(kept_, masks_, process, *mask);
    if (parent == nullptr) return 0;
    return masks_.set_mask(thread, parent->original) == 0 ? 1 : 0;
  }

  const SavedState& kept_;
  ThreadMasks& masks_;
};

int restore_once(const SavedState& kept, ThreadMasks& masks) {
  int changed = 0;
  for (const auto& [thread, one] : kept.bound) {
    if (!masks.is_there(one.thread)) continue;
    const auto mask = masks.mask(thread);
    if (!mask || !one.has_set(*mask)) continue;
    if (masks.set_mask(thread, one.original) == 0) ++changed;
  }
  Heirs heirs(kept, masks);
  for (const auto& [process, one] : kept.programs) {
    if (masks.is_there(one)) changed += heirs.restore_in(process, most_generations);
  }
  return changed;
}

}  // namespace

bool SavedState::apply(std::string_view line) {
  const std::vector<std::string> fields = words(line);
  if (fields.size() < 3) return false;
  if (fields[0] == "serves" && fields.size() == 3) {
    socket = fields[1];
    terms = fields[2];
    return true;
  }
  if (fields[0] == "value" && fields.size() == 4) {
    const auto before = whole_number(fields[2]);
    const auto set = whole_number(fields[3]);
    if (!before || !set) return false;
    values.insert_or_assign(fields[1], KeptValue{fields[1], *before, *set});
    return true;
  }
  const std::optional<Identity> one = identity_in(fields);
  if (!one) return false;
  if (fields[0] == "bind" && fields.size() == 8) {
    std::optional<Kept> kept = kept_in(fields, *one);
    if (!kept) return false;
    bound.insert_or_assign(one->number, std::move(*kept));
    return true;
  }
  if (fields.size() != 3) return false;
  if (fields[0] == "agent") {
    agent = *one;
  } else if (fields[0] == "guardian") {
    guardian = *one;
  } else if (fields[0] == "program") {
    programs.insert_or_assign(one->number, *one);
  } else if (fields[0] == "alone") {
    alone.insert(*one);
    bound.erase(one->number);
  } else if (fields[0] == "back") {
    bound.erase(one->number);
  } else {
    return false;
  }
  return true;
}

machine::CpuSet SavedState::claims() const {
  std::vector<int> processors;
  for (const auto& [thread, one] : bound) {
    if (one.claim >= 0) processors.push_back(one.claim);
  }
  return machine::CpuSet(std::move(processors));
}

const Kept* creator_of(const SavedState& kept, const ThreadMasks& masks, pid_t process,
                       const machine::CpuSet& mask) {
  for (int generation = 0; process > 0 && generation <= most_generations; ++generation) {
    const auto found = std::find_if(kept.bound.begin(), kept.bound.end(), [&](const auto& bound) {
      return bound.second.process == process && bound.second.has_set(mask);
    });
    if (found != kept.bound.end()) return &found->second;
    process = masks.parent_of(process);
  }
  return nullptr;
}

std::string agent_line(const Identity& one) { return line_of("agent", one); }
std::string guardian_line(const Identity& one) { return line_of("guardian", one); }
std::string serves_line(std::string_view socket, std::string_view terms) {
  return fmt::format("serves {} {}\n", socket, terms);
}
std::string program_line(const Identity& one) { return line_of("program", one); }
std::string alone_line(const Identity& one) { return line_of("alone", one); }
std::string back_line(const Identity& one) { return line_of("back", one); }
std::string bind_line(const Kept& kept) {
  return fmt::format("bind {} {} {} {} {} {} {}\n", kept.thread.number, kept.thread.born,
                     kept.process, kept.original.text(), kept.before.text(), kept.set.text(),
                     kept.claim);
}

std::string value_line(const KeptValue& value) {
  return fmt::format("value {} {} {}\n", value.path, value.before, value.set);
}

SavedState read_kept_state(std::string_view text) {
  SavedState kept;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !kept.apply(text.substr(0, end))) break;
    text.remove_prefix(end + 1);
  }
  return kept;
}

// Repeats because bound threads can create further threads until all of them are restored.
int restore(const SavedState& kept, ThreadMasks& masks) {
  constexpr int most_rounds = 16;
  int changed = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const int now = restore_once(kept, masks);
    changed += now;
    if (now == 0) break;
  }
  return changed;
}

}  // namespace huddle::threads
