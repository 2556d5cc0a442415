// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Programs that are hard to watch: hostile MODE [COMMAND...]. The exit status is 7 on success.
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int good = 7, bad = 1;
constexpr int some_threads = 4, many_threads = 500;

// Writes to memory that all threads share.
void work(volatile long* shared, int rounds) {
  constexpr int longs = 4096;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < longs; i += 8) shared[i] = shared[i] + 1;
  }
}

int work_with_threads(int count, int rounds) {
  static std::array<long, 4096> shared;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back([=] { work(shared.data(), rounds); });
  for (std::thread& thread : threads) thread.join();
  return good;
}

// Short-lived threads, a few at a time.
int short_threads() {
  for (int i = 0; i < many_threads; i += some_threads) work_with_threads(some_threads, 1);
  return good;
}

// Calls exec() while its threads are running.
int exec_among_threads(char* self) {
  static std::array<long, 4096> shared;
  for (int i = 0; i < some_threads; ++i) {
    std::thread([] {
      for (;;) work(shared.data(), 1);
    }).detach();
  }
  work(shared.data(), 1000);
  std::array<char, 8> mode = {"threads"};
  std::array<char*, 3> words = {self, mode.data(), nullptr};
  ::execv("/proc/self/exe", words.data());
  return bad;
}

// A child with threads, forked without exec().
int fork_without_exec() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work_with_threads(some_threads, 2000));
  work_with_threads(some_threads, 2000);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : bad;
}

// Prints the number of hardware threads that OpenBLAS sees if loaded after a byte on stdin.
int late_blas() {
  std::puts("ready");
  std::fflush(stdout);
  if (std::getchar() == EOF) return bad;
  void* const blas = ::dlopen("libopenblas.so.0", RTLD_NOW);
  if (blas == nullptr) {
    std::puts("none");
    return good;
  }
  void* const symbol = ::dlsym(blas, "openblas_get_num_procs");
  if (symbol == nullptr) return bad;
  int (*processors)() = nullptr;
  std::memcpy(&processors, &symbol, sizeof processors);
  std::printf("%d\n", processors());
  return good;
}

// Executes a program for which the kernel refuses this system call, as in some containers.
int without(long call, char** words) {
  std::array<sock_filter, 4> program = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog filter{program.size(), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return bad;
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return bad;
  ::execvp(words[0], words);
  return bad;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view mode = count > 1 ? words[1] : "";
  if (mode == "threads") return work_with_threads(some_threads, 2000);
  if (mode == "short") return short_threads();
  if (mode == "exec") return exec_among_threads(words[0]);
  if (mode == "fork") return fork_without_exec();
  if (mode == "late-blas") return late_blas();
  if (mode == "without-perf" && count > 2) return without(SYS_perf_event_open, words + 2);
  if (mode == "without-userfaultfd" && count > 2) return without(SYS_userfaultfd, words + 2);
  return bad;
}
