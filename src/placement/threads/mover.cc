// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/mover.h"

#include <fmt/format.h>
#include <poll.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/system.h"
#include "common/text.h"

namespace huddle::threads {

using machine::CpuSet;

void Binder::take(const Birth& birth) {
  const auto parent = kept_.bound.find(birth.parent);
  if (parent == kept_.bound.end()) return;
  const std::optional<CpuSet> mask = masks_.mask(birth.thread);
  if (!mask || !parent->second.has_set(*mask)) return;
  masks_.set_mask(birth.thread, parent->second.original);
}

bool Binder::is_changed(const Known& one) const {
  const std::optional<CpuSet> mask = masks_.mask(one.thread.number);
  const auto bound = kept_.bound.find(one.thread.number);
  return mask && *mask != (bound == kept_.bound.end() ? one.original : bound->second.set);
}

void Binder::leave_alone(Known& one) {
  one.alone = true;
  ++left_alone_;
  note_(alone_line(one.thread));
  kept_.apply(alone_line(one.thread));
}

void Binder::meet(pid_t process, pid_t thread) {
  Known one{.thread = {thread, masks_.born(thread)}, .process = process};
  std::optional<CpuSet> mask = masks_.mask(thread);
  if (one.thread.born == 0 || !mask) return;  // ended in the meantime
  const Identity program{process, masks_.born(process)};
  const auto usual = usual_.find(program);
  const bool is_usual = usual != usual_.end() && usual->second == *mask;
  // The creator of this thread was not reported, so it is found by the mask.
  const Kept* const parent = is_usual ? nullptr : creator_of(kept_, masks_, process, *mask);
  if (parent != nullptr && masks_.set_mask(thread, parent->original) == 0) mask = parent->original;
  one.original = *mask;
  usual_.try_emplace(program, *mask);
  Known& known = known_.insert_or_assign(thread, std::move(one)).first->second;
  if (known.original != usual_.at(program)) leave_alone(known);
}

void Binder::look(pid_t process, const std::vector<pid_t>& threads) {
  std::erase_if(known_, [&](const auto& one) {
    if (one.second.process != process) return false;
    const bool is_there = masks_.is_there(one.second.thread);
    if (is_there && std::binary_search(threads.begin(), threads.end(), one.first)) return false;
    if (is_there) let_go(one.first);
    kept_.bound.erase(one.first);
    kept_.alone.erase(one.second.thread);
    return true;
  });
  for (const pid_t thread : threads) {
    const auto known = known_.find(thread);
    if (known == known_.end()) {
      meet(process, thread);
    } else if (!known->second.alone && is_changed(known->second)) {
      leave_alone(known->second);
    }
  }
}

// Restores the mask of a thread that is alive but not to be moved any more.
void Binder::let_go(pid_t thread) {
  const auto bound = kept_.bound.find(thread);
  if (bound == kept_.bound.end()) return;
  const std::optional<CpuSet> mask = masks_.mask(thread);
  if (mask && bound->second.has_set(*mask)) masks_.set_mask(thread, bound->second.original);
  note_(back_line(bound->second.thread));
}

bool Binder::is_alone(pid_t thread) const {
  const auto known = known_.find(thread);
  return known != known_.end() && known->second.alone;
}

Binder::Outcome Binder::bind(pid_t thread, const CpuSet& processors, int claim) {
  const auto known = known_.find(thread);
  if (known == known_.end() || !masks_.is_there(known->second.thread)) return Outcome::gone;
  Known& one = known->second;
  if (!one.alone && is_changed(one)) leave_alone(one);
  if (one.alone) return Outcome::alone;
  const CpuSet wanted = common(processors, one.original);
  if (wanted.empty()) return Outcome::not_allowed;
  const auto bound = kept_.bound.find(thread);
  const CpuSet before = bound == kept_.bound.end() ? one.original : bound->second.set;
  const Kept kept{one.thread, one.process, one.original, before, wanted, claim};
  const Identity program{one.process, masks_.born(one.process)};
  if (!kept_.programs.contains(one.process)) {
    if (!note_(program_line(program))) return Outcome::not_noted;
    kept_.programs.emplace(one.process, program);
  }
  if (!note_(bind_line(kept))) return Outcome::not_noted;
  const int error = masks_.set_mask(thread, wanted);
  if (error == 0) {
    kept_.bound.insert_or_assign(thread, kept);
    return Outcome::bound;
  }
  if (error == ESRCH) return Outcome::gone;
  let_go(thread);  // restores the mask from before huddle bound it
  leave_alone(one);
  return Outcome::refused;
}

int Binder::restore() {
  const int changed = threads::restore(kept_, masks_);
  for (const auto& [thread, kept] : kept_.bound) note_(back_line(kept.thread));
  kept_.bound.clear();
  return changed;
}

namespace {

// Short, because a rank that holds the lock may be waiting for an answer of this agent. The move
// can be repeated later.
constexpr std::chrono::milliseconds patience_of_a_move{100};

// Slurm gives each task of a step its own cgroup but ends the step as a whole.
std::string without_task(std::string groups) {
  constexpr std::string_view last = "/task_";
  for (std::size_t at = groups.find(last); at != std::string::npos; at = groups.find(last, at)) {
    groups.erase(at, groups.find('\n', at) - at);
  }
  return groups;
}

// The system may end a cgroup as a whole, including an agent and its guardian, so agents of other
// cgroups are not used.
bool is_of_our_group(const Identity& agent) {
  const System system;
  const auto theirs = system.read(fmt::format("/proc/{}/cgroup", agent.number));
  const auto ours = system.read("/proc/self/cgroup");
  return theirs && ours && without_task(*theirs) == without_task(*ours);
}

// Returns the conditions for sharing an agent. Only ranks of one job share one, because its report
// covers all of its programs and is written when the last of them has ended.
std::string terms_of(const std::string& job, const CpuSet& allowed, Binding binding) {
  std::string terms = fmt::format("{}:{}:{}", binding_names[static_cast<std::size_t>(binding)],
                                  allowed.text(), printable(job));
  std::replace(terms.begin(), terms.end(), ' ', '_');  // the state file needs a single word
  return terms;
}

StateFolder::Lock repaired(const StateFolder& folder) {
  SystemMasks masks;
  folder.repair(masks);
  return folder.lock();
}

}  // namespace

Mover::Mover(pid_t process, const machine::Topology& topology, CpuSet allowed, Binding binding,
             const std::string& folder)
    : Mover(repaired(StateFolder(folder)), {process, SystemMasks().born(process)}, topology,
            std::move(allowed), binding, folder) {}

Mover::Mover(const StateFolder::Lock& /*held*/, const Identity& program,
             const machine::Topology& topology, CpuSet allowed, Binding binding,
             const std::string& folder)
    : topology_(topology),
      allowed_(std::move(allowed)),
      binding_(binding),
      folder_(folder),
      binder_(masks_, [this](std::string_view line) { return file_ && file_->add(line); }),
      self_(own_identity()) {
  for (const SavedState& other : folder_.living()) {
    const auto found = other.programs.find(program.number);
    if (found == other.programs.end() || found->second != program) continue;
    throw FailureError(
        fmt::format("another huddle (process {1}) already moves the threads of process {0}",
                    program.number, other.agent.number));
  }
  file_ = std::make_unique<StateFile>(folder_, self_);
  try {
    guardian_ = std::make_unique<Guardian>(folder_, *file_);
  } catch (const Error&) {
    file_->remove();
    throw;
  }
  if (file_->add(guardian_line(guardian_->identity()) + program_line(program))) return;
  const int why = errno;
  file_->remove();
  throw FailureError(
      fmt::format("cannot write to {} ({}): the CPU affinity of the threads could not be saved",
                  file_->path(), std::strerror(why)));
}

// Holds the lock throughout, so that of two programs that start at the same time one finds the
// other's agent.
std::unique_ptr<Mover> Mover::join_or_start(const AwaitedProgram& program,
                                            const machine::Topology& topology,
                                            const CpuSet& allowed, Binding binding,
                                            const std::string& job, const std::string& folder) {
  const StateFolder all(folder);
  const StateFolder::Lock lock = repaired(all);
  const std::string terms = terms_of(job, allowed, binding);
  std::string refusal;
  for (const SavedState& other : all.living()) {
    if (job.empty()) break;
    if (other.terms != terms || !is_running(other.agent) || !is_of_our_group(other.agent)) continue;
    refusal = offer_program(program, other.socket);
    if (refusal.empty()) return nullptr;
  }
  std::unique_ptr<Mover> mover(
      new Mover(lock, program.process, topology, allowed, binding, folder));
  mover->refusal_ = refusal;
  if (!job.empty()) mover->serve(terms);
  return mover;
}

void Mover::serve(const std::string& terms) {
  try {
    socket_.emplace();
  } catch (const Error&) {
    return;  // the other programs start agents of their own
  }
  if (!file_->add(serves_line(socket_->name(), terms))) socket_.reset();
}

std::optional<AwaitedProgram> Mover::accept() {
  while (socket_) {
    std::optional<AwaitedProgram> program = socket_->accept();
    if (!program || file_->add(program_line(program->process))) return program;
    program->tell(folder_.path() + " is full: the CPU affinity of the threads could not be saved");
  }
  return std::nullopt;
}

// A process that hands a program over holds the lock until it has the answer.
std::optional<AwaitedProgram> Mover::accept_or_close() {
  const auto end = std::chrono::steady_clock::now() + StateFolder::usual_patience;
  while (socket_) {
    if (std::optional<AwaitedProgram> program = accept()) return program;
    const std::optional<StateFolder::Lock> lock = folder_.try_lock();
    if (!lock && std::chrono::steady_clock::now() < end) {
      constexpr int between_tries_ms = 10;
      pollfd wait{socket_->descriptor(), POLLIN, 0};
      ::poll(&wait, 1, between_tries_ms);
      continue;
    }
    std::optional<AwaitedProgram> program = accept();
    if (!program) socket_.reset();
    return program;
  }
  return std::nullopt;
}

Mover::~Mover() { end(); }

// Removes the file before it ends the guardian, which then has nothing to do if this process is
// killed in between.
void Mover::end() {
  if (!file_) return;
  socket_.reset();
  binder_.restore();
  try {
    const StateFolder::Lock lock = folder_.lock();
    file_->remove();
  } catch (const Error&) {
    file_->remove();
  }
  file_.reset();
  guardian_.reset();
}

void Mover::check_guardian() {
  if (!guardian_ || guardian_->is_alive()) return;
  lost_guardian_ = true;
  end();
}

void Mover::take(const std::vector<Birth>& births) {
  if (!file_) return;
  for (const Birth& birth : births) binder_.take(birth);
}

void Mover::look(const ThreadList& threads) {
  if (!file_) return;
  numbers_ = threads.alive();
  std::map<pid_t, std::vector<pid_t>> by_process;
  for (const auto& [thread, process] : threads.processes()) by_process[process].push_back(thread);
  for (const pid_t process : processes_) by_process.try_emplace(process);  // it may have ended
  processes_.clear();
  for (const auto& [process, all] : by_process) {
    binder_.look(process, all);
    if (!all.empty()) processes_.insert(process);
  }
  claimed_ = claimed_by_others();
}

CpuSet Mover::claimed_by_others() const {
  CpuSet claimed;
  for (const SavedState& other : folder_.living()) {
    if (other.agent == self_) continue;
    for (const auto& [thread, kept] : other.bound) {
      if (kept.claim >= 0 && masks_.is_there(kept.thread)) {
        claimed = united(claimed, CpuSet({kept.claim}));
      }
    }
  }
  return cores_of(topology_, claimed);
}

void Mover::move(const std::vector<Assignment>& assignments) {
  if (!file_) return;
  std::optional<StateFolder::Lock> lock;
  try {
    lock.emplace(folder_.lock(patience_of_a_move));
  } catch (const Error& error) {
    why_no_lock_ = error.what();
    return;
  }
  claimed_ = claimed_by_others();
  const CpuSet usable = without(allowed_, claimed_);
  const bool is_free = std::all_of(
      assignments.begin(), assignments.end(),
      [&usable](const Assignment& assignment) { return usable.contains(assignment.processor); });
  if (!is_free) {
    ++refused_moves_;
    return;
  }
  bool has_moved = false;
  for (const auto& [thread, number] : numbers_) {
    const auto assignment =
        std::find_if(assignments.begin(), assignments.end(),
                     [n = number](const Assignment& one) { return one.thread == n; });
    if (assignment == assignments.end()) continue;
    const CpuSet mask = seat_mask(topology_, usable, assignment->processor, binding_);
    const Binder::Outcome outcome = binder_.bind(thread, mask, assignment->processor);
    ++outcomes_[outcome];
    has_moved |= outcome == Binder::Outcome::bound;
  }
  if (has_moved) ++moves_;
}

void Mover::restore() {
  if (file_) binder_.restore();
}

Standing Mover::standing() const {
  Standing standing{.allowed = without(allowed_, claimed_)};
  for (const auto& [thread, number] : numbers_) {
    const auto bound = binder_.kept().bound.find(thread);
    if (bound != binder_.kept().bound.end()) standing.assignments[number] = bound->second.claim;
    if (binder_.is_alone(thread)) standing.alone.push_back(number);
  }
  return standing;
}

std::vector<std::string> Mover::notes() const {
  std::vector<std::string> all;
  if (binder_.left_alone() > 0) {
    all.push_back(fmt::format(
        "{} had been bound by the program or by another process, and {} not moved",
        counted(binder_.left_alone(), "thread"), binder_.left_alone() == 1 ? "was" : "were"));
  }
  if (refused_moves_ > 0) {
    all.push_back(fmt::format("{} not made, because another huddle uses a hardware thread of it",
                              counted(refused_moves_, "move")));
  }
  const auto not_allowed = outcomes_.find(Binder::Outcome::not_allowed);
  if (not_allowed != outcomes_.end()) {
    all.emplace_back(
        "some threads were not moved, because they may not run on the intended hardware thread");
  }
  const auto not_noted = outcomes_.find(Binder::Outcome::not_noted);
  if (not_noted != outcomes_.end()) {
    all.push_back(
        fmt::format("{} is full, so the CPU affinity of some threads could not be saved, and they "
                    "were not moved",
                    folder_.path()));
  }
  if (!refusal_.empty()) {
    all.push_back("another huddle process of this job could not include this program: " + refusal_);
  }
  if (!why_no_lock_.empty()) all.push_back("a move was not made: " + why_no_lock_);
  if (lost_guardian_) {
    all.emplace_back(
        "the process that restores CPU affinities was killed: all affinities were restored, and no "
        "thread was moved afterwards");
  }
  return all;
}

}  // namespace huddle::threads
