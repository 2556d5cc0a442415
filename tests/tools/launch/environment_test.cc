// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "common/system.h"

namespace huddle::launch {
namespace {

const ForwardedVariables ours = {
    .variables = {{"LD_PRELOAD", "/h.so:/u.so"}, {"HUDDLE_OPS", "bcast,scan"}}, .preload = "/h.so"};

bool is_program(const std::string& word) { return word.starts_with("./"); }

// Returns the command line, whose words are separated by spaces, with huddle's variables added.
std::string passed(const std::string& line, Passing passing,
                   const ForwardedVariables& what = ours) {
  const auto words = huddle::words(line);
  std::string result;
  for (const std::string& word :
       pass_variables(words, contexts_of(words, passing, is_program), passing, what)) {
    result += (result.empty() ? "" : " ") + word;
  }
  return result;
}

TEST(OpenMpi4, GetsVariablesForEachProgram) {
  EXPECT_EQ(passed("mpirun -n 2 ./a -x : --host x -n 1 ./b", Passing::x_each_context),
            "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan -n 2 ./a -x : "
            "-x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan --host x -n 1 ./b");
}

TEST(OpenMpi5, GetsVariablesOnce) {
  EXPECT_EQ(passed("mpirun -n 2 ./a : -n 1 ./b", Passing::x_once),
            "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan -n 2 ./a : -n 1 ./b");
}

TEST(OpenMpi, KeepsVariablesThatTheUserPassesOn) {
  for (const Passing passing : {Passing::x_each_context, Passing::x_once}) {
    EXPECT_EQ(passed("mpirun -x LD_PRELOAD=/t.so -x HUDDLE_OPS=scan ./a", passing),
              "mpirun -x LD_PRELOAD=/t.so:/h.so -x HUDDLE_OPS=scan ./a");
    EXPECT_EQ(passed("mpirun -x LD_PRELOAD ./a", passing),
              "mpirun -x HUDDLE_OPS=bcast,scan -x LD_PRELOAD ./a")
        << "the launcher's own environment has ours already";
    EXPECT_EQ(passed("mpirun --mca x HUDDLE_OPS=1 ./a -x LD_PRELOAD=/t.so", passing),
              "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan --mca x HUDDLE_OPS=1 ./a "
              "-x LD_PRELOAD=/t.so")
        << "values of other options and the program's own words are not the launcher's";
  }
  EXPECT_EQ(passed("mpirun ./a : -x LD_PRELOAD=/t.so ./b", Passing::x_once),
            "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan ./a : "
            "-x LD_PRELOAD=/t.so:/h.so ./b");
}

TEST(Hydra, GetsVariablesForAllPrograms) {
  EXPECT_EQ(passed("mpiexec -genvnone -n 2 ./a : ./b", Passing::genv),
            "mpiexec -genv LD_PRELOAD /h.so:/u.so -genv HUDDLE_OPS bcast,scan -genvnone -n 2 ./a : "
            "./b");
}

TEST(Hydra, GetsVariablesPastExclusionsOfOneProgram) {
  EXPECT_EQ(
      passed("mpiexec ./a : -envnone -env HUDDLE_OPS scan ./b : -envlist PATH ./c", Passing::genv),
      "mpiexec -genv LD_PRELOAD /h.so:/u.so -genv HUDDLE_OPS bcast,scan ./a : "
      "-envnone -env LD_PRELOAD /h.so:/u.so -env HUDDLE_OPS scan ./b : "
      "-envlist PATH -env LD_PRELOAD /h.so:/u.so -env HUDDLE_OPS bcast,scan ./c");
}

TEST(Hydra, KeepsVariablesThatTheUserPassesOn) {
  EXPECT_EQ(passed("mpiexec -genv LD_PRELOAD /t.so -genv HUDDLE_OPS=scan ./a", Passing::genv),
            "mpiexec -genv LD_PRELOAD /t.so:/h.so -genv HUDDLE_OPS=scan ./a");
  EXPECT_EQ(passed("mpiexec ./a : -env LD_PRELOAD=/t.so ./b", Passing::genv),
            "mpiexec -genv LD_PRELOAD /h.so:/u.so -genv HUDDLE_OPS bcast,scan ./a : "
            "-env LD_PRELOAD=/t.so:/h.so ./b");
}

TEST(Slurm, PassesAllVariablesByDefault) {
  EXPECT_EQ(passed("srun -n 2 ./a --export=NONE", Passing::export_list),
            "srun -n 2 ./a --export=NONE");
  EXPECT_EQ(passed("srun --export=ALL,X=1 ./a", Passing::export_list), "srun --export=ALL,X=1 ./a");
}

TEST(Slurm, GetsVariablesInItsList) {
  EXPECT_EQ(passed("srun --export=NONE -n 2 ./a", Passing::export_list),
            "srun --export=LD_PRELOAD,HUDDLE_OPS -n 2 ./a");
  EXPECT_EQ(passed("srun --export PATH,X=1 ./a", Passing::export_list),
            "srun --export PATH,X=1,LD_PRELOAD,HUDDLE_OPS ./a");
  EXPECT_EQ(passed("srun --export=all,LD_PRELOAD=/t.so ./a", Passing::export_list),
            "srun --export=all,LD_PRELOAD=/t.so:/h.so ./a");
  EXPECT_EQ(passed("srun --export=HUDDLE_OPS=scan ./a", Passing::export_list),
            "srun --export=HUDDLE_OPS=scan,LD_PRELOAD ./a");
}

TEST(Slurm, GetsVariablesPastSettingsOfTheJob) {
  ForwardedVariables below_sbatch = ours;
  below_sbatch.slurm_export = "NONE";
  EXPECT_EQ(passed("srun ./a", Passing::export_list, below_sbatch),
            "srun --export=LD_PRELOAD,HUDDLE_OPS ./a");
  EXPECT_EQ(passed("srun --export=ALL ./a", Passing::export_list, below_sbatch),
            "srun --export=ALL ./a");
  below_sbatch.slurm_export = "ALL";
  EXPECT_EQ(passed("srun ./a", Passing::export_list, below_sbatch), "srun ./a");
}

TEST(Slurm, GetsVariablesForEachComponentOfAHeterogeneousJob) {
  EXPECT_EQ(passed("srun --export=NONE ./a : -n 2 --export=X=1 ./b : ./c", Passing::export_list),
            "srun --export=LD_PRELOAD,HUDDLE_OPS ./a : "
            "-n 2 --export=X=1,LD_PRELOAD,HUDDLE_OPS ./b : ./c");
  ForwardedVariables below_sbatch = ours;
  below_sbatch.slurm_export = "NONE";
  EXPECT_EQ(passed("srun ./a : --export=ALL ./b : -n 2 ./c", Passing::export_list, below_sbatch),
            "srun --export=LD_PRELOAD,HUDDLE_OPS ./a : --export=ALL ./b : "
            "--export=LD_PRELOAD,HUDDLE_OPS -n 2 ./c");
}

TEST(Others, StayUnchanged) {
  for (const Passing passing : {Passing::inherited, Passing::unknown}) {
    EXPECT_EQ(passed("aprun -n 2 ./a : ./b", passing), "aprun -n 2 ./a : ./b");
  }
  for (const Passing passing : {Passing::x_once, Passing::genv, Passing::export_list}) {
    EXPECT_EQ(passed("mpirun --export=NONE ./a", passing, {}), "mpirun --export=NONE ./a");
  }
}

TEST(Contexts, FindTheProgramAfterOptionsWithWords) {
  const auto program = [](const std::string& line, Passing passing) {
    const auto words = huddle::words(line);
    const auto all = contexts_of(words, passing, [](const std::string& word) {
      return word.starts_with("./") || word == "test";
    });
    return all.back().program == words.size() ? "" : words[all.back().program];
  };
  EXPECT_EQ(program("srun -p test -n2 ./a test", Passing::export_list), "./a");
  EXPECT_EQ(program("srun --partition=test ./a : ./b", Passing::export_list), "./b");
  EXPECT_EQ(program("mpirun --mca test test --host test ./a", Passing::x_once), "./a");
  EXPECT_EQ(program("mpiexec -hosts test -genv test test ./a", Passing::genv), "./a");
  EXPECT_EQ(program("mpirun --unheard-of 3 ./a", Passing::x_once), "./a");
  EXPECT_EQ(program("mpirun -n 2", Passing::x_once), "");
  EXPECT_EQ(program("mpirun", Passing::x_once), "");
}

// All words of the user are kept in the same order.
RC_GTEST_PROP(Passing, OnlyAddsWords, ()) {
  const auto piece = rc::gen::element<std::string>("-n", "2", ":", "-x", "A=1", "-genv", "B", "./a",
                                                   "--export=X", "--mca", "-", "--");
  auto words = *rc::gen::container<std::vector<std::string>>(piece);
  words.insert(words.begin(), "mpirun");
  const auto passing = *rc::gen::element(Passing::x_each_context, Passing::x_once, Passing::genv);
  const auto result = pass_variables(words, contexts_of(words, passing, is_program), passing, ours);
  std::size_t kept = 0;
  for (const std::string& word : result) {
    if (kept < words.size() && word == words[kept]) ++kept;
  }
  RC_ASSERT(kept == words.size());
}

}  // namespace
}  // namespace huddle::launch
