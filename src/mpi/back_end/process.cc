// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/process.h"

#include <fmt/format.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "common/floating_point.h"
#include "huddle/huddle.h"
#include "mpi/back_end/job_exchange.h"
#include "mpi/job_rank.h"
#include "mpi/libraries.h"
#include "mpi/predict.h"
#include "runtime/team/cpu_binding.h"

namespace huddle::mpi {
namespace {

struct Free {
  void operator()(void* block) const { std::free(block); }
};

}  // namespace

// Calls malloc(), which is the heap's function if the heap is preloaded. The heap serves large
// blocks only, so the location of a block shows whether it is from the heap.
void* AllocMemBlocks::allocate(const memory::HeapFacts& heap, std::size_t bytes) {
  std::unique_ptr<void, Free> block(std::malloc(bytes));
  if (!heap.holds(block.get())) return nullptr;
  const std::lock_guard lock(mutex_);
  blocks_.insert(block.get());
  return block.release();
}

bool AllocMemBlocks::free_if_owned(void* block) {
  {
    const std::lock_guard lock(mutex_);
    if (blocks_.erase(block) == 0) return false;
  }
  std::free(block);
  return true;
}

namespace {

// Returns the kind of this process. Ranks of the same kind vote after the same number of calls and
// use the same message format.
std::string kind_of(const Options& options) {
  return fmt::format("{} {}", huddle_version(), options.activate_after_text());
}

// Returns whether the `huddle run` that started this process has already reported invalid settings.
bool are_settings_reported() { return std::getenv(settings::reported_variable.data()) != nullptr; }

// Returns the rank that the launcher assigned, or 0 for a process without a launcher.
int rank_by_launcher() {
  const std::optional<JobRank> known = rank_in_job(settings::process_sources().environment);
  return known ? known->rank : 0;
}

}  // namespace

Process::Process(const huddle_stub_interface& stub)
    : stub_(stub),
      is_launchers_speaker_(is_reporting_rank()),
      real_(stub.real),
      types_(real_, stub.real),
      operators_(stub.real),
      options_(options_from(settings::process_sources(),
                            [this](const std::string& wrong) {
                              if (is_reporting_rank() && !are_settings_reported()) warn(wrong);
                            })),
      has_plain_calls_(!options_.is_timed() && !options_.verify),
      null_(handle<Comm>(comm_null, stub.real)),
      world_(handle<Comm>(comm_world, stub.real)),
      self_(handle<Comm>(comm_self, stub.real)),
      no_info_(handle<Info>(info_null, stub.real)),
      communicators_(real_, stub.real,
                     options_.off ? FallbackReason::switched_off : FallbackReason::not_activated,
                     [this](Communicator& communicator) { activation_.leave(communicator); }),
      world_ranks_(real_, world_),
      presence_(rank_in_job(settings::process_sources().environment), kind_of(options_)),
      reporters_(rank_in_job(settings::process_sources().environment),
                 fmt::format("{} reports", huddle_version())),
      inter_node_(real_, options_, presence_, kind_of(options_)),
      mpi_progress_(real_),
      context_(
          options_, [this] { return inter_node_.mpi_title(); }, [this] { poll_mpi_progress(); },
          presence_.ranks_here(),
          [this](const std::string& sentence) {
            if (!has_warned_.exchange(true)) warn(sentence);
          }),
      activation_(real_, types_, options_, world_ranks_, presence_, context_, inter_node_,
                  mpi_progress_,
                  [this](const std::string& sentence) {
                    if (!has_warned_.exchange(true)) warn(sentence);
                  }),
      devices_(path_beside("libhuddle_marker.so"), [this] { communicators_.outlast_lookers(); }),
      world_rank_(rank_by_launcher()) {}

Communicator* Process::find(Comm comm) {
  if (comm == null_ || ended_.load(std::memory_order_relaxed)) return nullptr;
  return communicators_.find(comm);
}

int Process::free(Comm* comm, int (*by_mpi)(Comm*)) {
  if (comm == nullptr || *comm == null_ || ended_.load(std::memory_order_relaxed)) {
    return by_mpi(comm);
  }
  try {
    const Communicators::Freeing freeing(communicators_, *comm);
    return by_mpi(comm);
  } catch (const InvalidCommunicator& error) {
    return error.status;
  }
}

void Process::count(Communicator& communicator) {
  if (communicator.fallback != FallbackReason::not_activated) return;
  activation_.count(communicator);
  if (communicator.why.is_any()) stats_.add_note(communicator.why.text());
}

void* Process::allocate(std::size_t bytes, Info info) {
  const auto heap = context_.heap();
  return heap && info == no_info_ ? blocks_.allocate(*heap, bytes) : nullptr;
}

void Process::warn(std::string_view sentence) {
  std::fprintf(stderr, "huddle: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

// If huddle is off, the other ranks must not find this rank.
void Process::announce_presence() {
  if (!options_.off) presence_.announce_presence();
  if (options_.is_timed()) reporters_.announce_presence();
}

// Also announces this rank for inter-node communication.
void Process::announce_world(bool has_threads) {
  announce_presence();
  inter_node_.announce_presence(has_threads);
  if (!options_.off && presence_.ranks_here() > 1) context_.start_preparation();
}

void Process::begin() {
  begun_ = std::chrono::steady_clock::now();
  int rank = 0;
  if (real_.comm_rank(world_, &rank) == success) {
    presence_.confirm(rank);
    reporters_.confirm(rank);
    world_rank_ = rank;
  }
  report_verification_at_exit();
  note_other_launcher();
  inter_node_.begin(world_);
  types_.begin(self_);
  communicators_.begin();
  start_heap();
}

// Warns if the launcher belongs to another MPI. Each rank then runs as a singleton, which neither
// the launcher nor the MPI reports as an error.
void Process::note_other_launcher() {
  const auto by = launched(settings::process_sources().environment);
  int ranks = 0;
  if (!by || by->ranks == 1 || real_.comm_size(world_, &ranks) != success || ranks > 1) return;
  is_alone_among_many_ = true;
  if (!is_launchers_speaker_) return;
  warn(
      fmt::format("{} processes of this program were started by {}, which does not belong to the "
                  "program's MPI ({}): each process is an MPI job of its own with one rank; start "
                  "the program with the launcher of its MPI",
                  by->ranks, by->by, stub_.mpi_path));
}

void Process::end() {
  int rank = 0;
  real_.comm_rank(world_, &rank);
  const bool speaks = rank == 0 && (!is_alone_among_many_ || is_launchers_speaker_);
  std::string text;
  try {
    if (const std::optional<JobReport> job = job_report()) {
      text = delivered(*job);
    } else if (speaks) {
      note_missing_report();
    }
  } catch (const std::exception& error) {
    warn(fmt::format("the report on all ranks is lost: {}", error.what()));
  }
  if (rank == 0) save_tuning();
  print_reports(speaks, text);
  mpi_progress_.stop();
  inter_node_.end();
  types_.end();
}

void Process::session_opened(Session session) {
  world_ranks_.session_opened(session);
  communicators_.begin();
  start_heap();
  report_verification_at_exit();
  std::call_once(leaving_, [this] {
    begun_ = std::chrono::steady_clock::now();
    std::atexit([] { process().leave(); });
  });
}

void Process::start_heap() {
  if (options_.off) return;
  context_.start_heap([this](const std::string& sentence) {
    if (is_reporting_rank()) warn(sentence);
  });
}

// MPI ends with the last session, unless the world model is initialized, which MPI_Finalize ends.
void Process::session_closing(Session session) {
  int initialized = 0;
  real_.initialized(&initialized);
  if (world_ranks_.closed(session) == 0 && initialized == 0) mpi_progress_.stop();
}

void Process::report_verification() {
  if (!options_.verify || pid_ != getpid() || has_reported_verification_.exchange(true)) return;
  warn(fmt::format("verify: rank {}: {}", world_rank_.load(), verification_.report(stub_)));
}

// Registers an exit handler for ranks that call exit() without MPI_Finalize.
void Process::report_verification_at_exit() {
  std::call_once(reporting_, [this] {
    pid_ = getpid();
    if (!options_.verify) return;
    std::atexit([] {
      if (!process().ended_.load()) process().report_verification();
    });
  });
}

void Process::leave() {
  if (pid_ != getpid()) return;
  if (is_reporting_rank()) {
    save_tuning();
    note_missing_report();
  }
  print_reports(is_reporting_rank(), {});
}

void Process::note_missing_report() {
  if (options_.stats_file.empty() || ended_.load()) return;
  warn(
      fmt::format("{} is not written: statistics of all ranks need a program that calls MPI_Init, "
                  "with at least two ranks, all on one node and with the same version of huddle; "
                  "--stats prints those of rank 0",
                  options_.stats_file));
}

void Process::save_tuning() noexcept {
  if (options_.tuning_file.empty() || ended_.load()) return;
  try {
    communicators_.note_tuning();
    context_.save_tuning();
  } catch (const std::exception& error) {
    warn(fmt::format("the results of trials are not stored: {}", error.what()));
  }
}

// Prints the reports once. Calls fall back to the MPI afterwards. `job_report` replaces the line
// about the times of rank 0.
void Process::print_reports(bool speaks, const std::string& job_report) {
  if (ended_.exchange(true)) return;
  // Only rank 0 and ranks that saw a difference print a line.
  if (speaks || verification_.has_differences()) report_verification();
  if (!speaks || !(options_.stats || options_.summary)) return;
  const Shares shares = communicators_.shares();
  Run all = run();
  std::string times_text = fmt::format("{}\n", times(shares, all));
  if (!job_report.empty()) {
    times_text = job_report;
    all.seconds.reset();
  }
  // The times follow the table, so that they are the last lines.
  const std::string text =
      options_.stats ? fmt::format("{}{}{}", stats_.report(stub_), inter_node_.report(), times_text)
                     : summary(shares, stub_, all) + job_report + stats_.remarks();
  std::fputs(text.c_str(), stderr);
}

CallLog* Process::log_of(Communicator& communicator) noexcept {
  // The MPI may reject the handle of a communicator that is being freed.
  if (communicator.fallback == FallbackReason::being_freed) return nullptr;
  if (!communicator.log) {
    communicator.log = nullptr;
    try {
      communicator.log = new_log_of(communicator);
    } catch (const std::exception&) {
      return nullptr;  // without memory the calls are not logged
    }
  }
  return *communicator.log;
}

CallLog* Process::new_log_of(const Communicator& communicator) {
  if (communicator.ranks == 1 || communicator.fallback == FallbackReason::intercommunicator) {
    return nullptr;
  }
  const WorldRanks::Ranks ranks = world_ranks_.ranks_of(communicator);
  return ranks.fallback == FallbackReason::none ? logs_.log_of(ranks.in_job) : nullptr;
}

// Returns, equally on all ranks, whether every rank of the job takes part in the report. A job
// without a known launcher might have ranks without huddle, which would not take part.
bool Process::do_all_ranks_report(int ranks) {
  if (!options_.is_timed() || !reporters_.is_job_on_one_node()) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    if (!reporters_.is_here(rank)) return false;
  }
  return true;
}

// Collective over the job if all ranks report. Returns the report on rank 0.
std::optional<JobReport> Process::job_report() {
  int ranks = 0;
  if (real_.comm_size(world_, &ranks) != success || ranks < 2 || !do_all_ranks_report(ranks)) {
    return std::nullopt;
  }
  RankReport mine{team::cpu_binding_of_this_thread(0), run().seconds.value_or(0)};
  try {
    mine.groups = logs_.all();
  } catch (const std::bad_alloc&) {
    mine.groups.clear();  // this rank must take part all the same
  }
  const std::vector<RankReport> by_rank = gathered_reports(real_, world_, std::move(mine));
  if (by_rank.empty()) return std::nullopt;
  const DefaultFloatingPoint floating_point;
  return huddle::mpi::job_report(by_rank, options_.off ? predict_with(by_rank) : Prediction());
}

// Predicts nothing if this machine cannot be described.
Prediction Process::predict_with(std::span<const RankReport> by_rank) {
  std::vector<team::CpuBinding> bindings;
  for (const RankReport& rank : by_rank) bindings.push_back(rank.binding);
  try {
    return predict_on(context_.read_machine(), std::move(bindings));
  } catch (const Error& error) {
    warn(fmt::format("no savings are predicted: {}", error.what()));
    return {};
  }
}

JobFacts Process::job_facts() const {
  JobFacts facts{.was_off = options_.off, .trials = stats_.trials()};
  for (std::size_t i = 0; i < stub_.call_count; ++i) {
    const std::size_t calls = huddle_counted_calls(&stub_.fallbacks[i]);
    if (calls > 0) facts.others.emplace_back(stub_.fallbacks[i].name, calls);
  }
  return facts;
}

// Writes the report to the file that the user named. Returns its text if that is to be printed.
std::string Process::delivered(const JobReport& report) {
  const JobFacts facts = job_facts();
  if (!options_.stats_file.empty()) {
    try {
      write_text(job_report_json(report, facts), options_.stats_file);
    } catch (const Error& error) {
      warn(fmt::format("the statistics are lost: {}", error.what()));
    }
  }
  return options_.stats || options_.times ? job_report_text(report, facts) : std::string();
}

Run Process::run() const {
  Run run{.off = options_.off};
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begun_;
  if (options_.is_timed()) run.seconds = lasted.count();
  return run;
}

}  // namespace huddle::mpi
