// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/profile/document.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/file.h"

namespace huddle::profile {
namespace {

constexpr std::array<char, 8> magic = {'h', 'u', 'd', 'p', 'a', 'r', 't', '1'};

// A multiple of every page size, because the blocks of the file are mapped one by one, and of the
// size of a flow, so that no flow spans two blocks.
constexpr std::size_t block_bytes = 64 * 1024;
// Offset of the first flow: a multiple of the size of a flow.
constexpr std::size_t flows_begin = 512;
static_assert(sizeof(PartHeader) <= flows_begin && flows_begin % sizeof(Flow) == 0);
static_assert(block_bytes % sizeof(Flow) == 0);

// Sort key: start time, then rank. The complete part of a rank precedes incomplete ones.
auto order_of(const Part& part) {
  return std::tuple(part.who.begun_ns, part.who.rank, !part.has_ended);
}

int new_file(const std::string& folder, const Who& who) {
  const std::string path = folder + "/" + who.host + "-" + std::to_string(::getpid());
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

}  // namespace

OwnPart::OwnPart(const std::string& folder, const Who& who)
    : file_(folder.empty() ? -1 : new_file(folder, who)) {
  if (!grow()) throw FailureError("not enough memory for the counts of a rank");
  PartHeader& first = header();
  first.begun_ns = who.begun_ns;
  first.rank = who.rank;
  first.ranks = who.ranks;
  first.was_spawned = who.was_spawned ? 1 : 0;
  std::memcpy(first.host.data(), who.host.data(), std::min(who.host.size(), most_host_letters));
  first.magic = magic;
}

OwnPart::~OwnPart() {
  for (const Block& block : blocks_) ::munmap(block.begin, block.bytes);
  if (file_ >= 0) ::close(file_);
}

// Falls back to private memory if the file system is full or does not support mapping.
bool OwnPart::grow() {
  const std::size_t begin = blocks_.size() * block_bytes;
  void* block = MAP_FAILED;
  // Allocates the space instead of only extending the file: on a full disk, access to a mapped page
  // would kill the program.
  if (file_ >= 0 &&
      ::posix_fallocate(file_, static_cast<off_t>(begin), static_cast<off_t>(block_bytes)) == 0) {
    block = ::mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                   static_cast<off_t>(begin));
  }
  if (block == MAP_FAILED) {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    block =
        ::mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (block == MAP_FAILED) return false;
  blocks_.push_back({static_cast<std::byte*>(block), block_bytes});
  return true;
}

Flow* OwnPart::add(const Flow& flow) {
  const std::size_t at = flows_begin + static_cast<std::size_t>(header().flows) * sizeof(Flow);
  if (at / block_bytes == blocks_.size() && !grow()) return nullptr;
  auto* const place = blocks_[at / block_bytes].begin + at % block_bytes;
  Flow* const added = std::construct_at(reinterpret_cast<Flow*>(place), flow);
  ++header().flows;
  return added;
}

void OwnPart::end() {
  header().has_ended = 1;
  if (file_ < 0) return;
  // Other hosts read the file through another client of a network file system.
  for (const Block& block : blocks_) ::msync(block.begin, block.bytes, MS_SYNC);
}

std::string OwnPart::bytes() const {
  std::string text;
  for (const Block& block : blocks_) {
    text.append(reinterpret_cast<const char*>(block.begin), block.bytes);
  }
  return text;
}

std::optional<Part> part_from(std::string_view bytes) {
  PartHeader header;
  if (bytes.size() < flows_begin) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != magic) return std::nullopt;
  header.host.back() = '\0';
  Part part{
      {header.rank, header.ranks, header.begun_ns, header.was_spawned != 0, header.host.data()},
      header.has_ended != 0,
      header.left_out,
      {}};
  bytes.remove_prefix(flows_begin);
  part.flows.resize(std::min<std::size_t>(header.flows, bytes.size() / sizeof(Flow)));
  if (!part.flows.empty()) {  // memcpy requires valid pointers even for 0 bytes
    std::memcpy(part.flows.data(), bytes.data(), part.flows.size() * sizeof(Flow));
  }
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < header.ranks; };
  const bool sound = is_rank(header.rank) &&
                     std::all_of(part.flows.begin(), part.flows.end(), [&](const Flow& flow) {
                       return (is_rank(flow.from) || flow.from == outside_world) &&
                              (is_rank(flow.to) || flow.to == outside_world);
                     });
  if (!sound) return std::nullopt;
  return part;
}

std::vector<Part> read_parts(const std::string& folder) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  std::vector<Part> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (auto part = part_from(read_text(entry.path().string(), most_bytes))) {
      parts.push_back(std::move(*part));
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return order_of(a) < order_of(b); });
  // Keeps one part per rank: a rank whose file could not be extended has left an incomplete part in
  // the file and sent the complete one to the collector.
  const auto same = [](const Part& a, const Part& b) {
    return a.who.begun_ns == b.who.begun_ns && a.who.rank == b.who.rank;
  };
  parts.erase(std::unique(parts.begin(), parts.end(), same), parts.end());
  return parts;
}

namespace {

constexpr std::string_view about =
    "entries: [from, to, bytes, messages] between ranks of MPI_COMM_WORLD, counted at the sender: "
    "point to point and one-sided, in all phases.";
constexpr std::string_view about_collectives =
    "The data that each operation moves: bcast, scatter: from the root to each rank; gather, "
    "reduce: from each rank to the root; allgather, alltoall: from each rank to each other one; "
    "allreduce: as a reduce_scatter and an allgather; scan: to the next rank; neighbor: to each "
    "neighbour. left_out: calls on communicators with more than 4096 ranks, which have too many "
    "pairs. The messages that the MPI really sends for them cannot be observed.";

std::uint64_t bytes_of(const std::vector<const Part*>& parts) {
  std::uint64_t bytes = 0;
  for (const Part* const part : parts) {
    for (const Flow& flow : part->flows) bytes += flow.bytes;
  }
  return bytes;
}

// Returns the parts of the job that sent the most bytes. A command may start several programs, one
// after the other: the n-th part of each rank belongs to the n-th job. Job ids are not used because
// they differ between hosts.
std::vector<const Part*> largest_job(const std::vector<Part>& parts, int& jobs) {
  std::map<std::pair<int, int>, int> seen;  // number of parts so far, by number of ranks and rank
  std::map<std::pair<int, int>, std::vector<const Part*>> by_job;
  for (const Part& part : parts) {
    if (part.who.was_spawned) continue;
    const int before = seen[{part.who.ranks, part.who.rank}]++;
    by_job[{part.who.ranks, before}].push_back(&part);
  }
  jobs = static_cast<int>(by_job.size());
  const auto most =
      std::max_element(by_job.begin(), by_job.end(), [](const auto& a, const auto& b) {
        return std::pair(bytes_of(a.second), a.second.size()) <
               std::pair(bytes_of(b.second), b.second.size());
      });
  return most == by_job.end() ? std::vector<const Part*>() : most->second;
}

auto place_of(const Flow& flow) { return std::tie(flow.phase, flow.kind, flow.from, flow.to); }

bool is_collective(const Flow& flow) { return flow.kind == FlowKind::collective; }
bool is_outside(const Flow& flow) { return flow.to == outside_world || flow.from == outside_world; }

using Wanted = std::function<bool(const Flow&)>;

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};
using Pairs = std::map<std::pair<int, int>, Amount>;

Pairs pairs_of(const Profile& profile, const Wanted& wanted) {
  Pairs pairs;
  for (const Flow& flow : profile.flows) {
    if (!wanted(flow) || is_outside(flow) || flow.messages == 0) continue;
    Amount& amount = pairs[{flow.from, flow.to}];
    amount.bytes += flow.bytes;
    amount.messages += flow.messages;
  }
  return pairs;
}

std::string entries_text(const Profile& profile, const Wanted& wanted) {
  std::vector<std::string> lines;
  for (const auto& [pair, amount] : pairs_of(profile, wanted)) {
    lines.push_back(
        fmt::format("[{}, {}, {}, {}]", pair.first, pair.second, amount.bytes, amount.messages));
  }
  return lines.empty() ? "[]" : fmt::format("[\n{}]", fmt::join(lines, ",\n"));
}

// Host names contain nothing that JSON has to escape; other characters become '?'.
std::string json_word(std::string_view name) {
  std::string text = "\"";
  for (const char letter : name) {
    const bool plain = letter >= ' ' && letter < 0x7f && letter != '"' && letter != '\\';
    text += plain ? letter : '?';
  }
  return text + "\"";
}

std::string hosts_text(const Profile& profile) {
  std::vector<std::string> names;
  for (const std::string& host : profile.hosts) names.push_back(json_word(host));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string phase_text(const Profile& profile, int phase) {
  return fmt::format(
      "{{\"name\": \"{}\", \"entries\": {},\n\"collectives\": {}}}", phase,
      entries_text(profile, [&](const Flow& f) { return f.phase == phase && !is_collective(f); }),
      entries_text(profile, [&](const Flow& f) { return f.phase == phase && is_collective(f); }));
}

std::string phases_text(const Profile& profile) {
  std::set<int> phases;
  for (const Flow& flow : profile.flows) phases.insert(flow.phase);
  std::vector<std::string> texts;
  for (const int phase : phases) texts.push_back(phase_text(profile, phase));
  return fmt::format("[\n{}]", fmt::join(texts, ",\n"));
}

std::string whole_text(const Profile& profile) {
  if (profile.is_whole()) return {};
  return fmt::format(
      "\"incomplete\": true,\n\"missing\": [{}],\n\"ended_before_finalize\": [{}],\n",
      fmt::join(profile.missing, ", "), fmt::join(profile.unfinished, ", "));
}

std::string outside_text(const Profile& profile) {
  Amount all;
  for (const Flow& flow : profile.flows) {
    if (!is_outside(flow)) continue;
    all.bytes += flow.bytes;
    all.messages += flow.messages;
  }
  if (all.messages == 0) return {};
  return fmt::format("\"outside\": {{\"bytes\": {}, \"messages\": {}}},\n", all.bytes,
                     all.messages);
}

}  // namespace

Profile assembled(const std::vector<Part>& parts) {
  Profile profile;
  const std::vector<const Part*> job = largest_job(parts, profile.jobs);
  if (job.empty()) return profile;
  profile.ranks = job.front()->who.ranks;
  profile.hosts.resize(static_cast<std::size_t>(profile.ranks));
  std::vector<bool> known(profile.hosts.size());
  for (const Part* const part : job) {
    const auto rank = static_cast<std::size_t>(part->who.rank);
    known[rank] = true;
    profile.hosts[rank] = part->who.host;
    profile.left_out += part->left_out;
    if (!part->has_ended) profile.unfinished.push_back(part->who.rank);
    profile.flows.insert(profile.flows.end(), part->flows.begin(), part->flows.end());
  }
  for (std::size_t rank = 0; rank < known.size(); ++rank) {
    if (!known[rank]) profile.missing.push_back(static_cast<int>(rank));
  }
  std::sort(profile.flows.begin(), profile.flows.end(),
            [](const Flow& a, const Flow& b) { return place_of(a) < place_of(b); });
  return profile;
}

std::string document_text(const Profile& profile) {
  return fmt::format(
      "{{\"schema\": \"huddle-comm\", \"version\": 1, \"kind\": \"ranks\", \"n\": {}, "
      "\"names\": [],\n\"about\": \"{}\",\n\"hosts\": {},\n{}{}\"entries\": {},\n"
      "\"collectives\": {{\"about\": \"{}\", \"left_out\": {},\n\"entries\": {}}},\n\"phases\": "
      "{}}}\n",
      profile.ranks, about, hosts_text(profile), whole_text(profile), outside_text(profile),
      entries_text(profile, [](const Flow& flow) { return !is_collective(flow); }),
      about_collectives, profile.left_out, entries_text(profile, is_collective),
      phases_text(profile));
}

Total total_of(const Profile& profile, bool collectives) {
  Total total;
  for (const auto& [pair, amount] :
       pairs_of(profile, [&](const Flow& flow) { return is_collective(flow) == collectives; })) {
    total.bytes += amount.bytes;
    total.messages += amount.messages;
    ++total.pairs;
  }
  return total;
}

}  // namespace huddle::profile
