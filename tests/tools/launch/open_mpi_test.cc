// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/open_mpi.h"

#include <gtest/gtest.h>

#include "../../common/scratch.h"
#include "common/system.h"

namespace huddle::launch {
namespace {

const ForwardedVariables forwarded = {
    .variables = {{"LD_PRELOAD", "/h.so:/u.so"}, {"HUDDLE_OPS", "bcast,scan"}}, .preload = "/h.so"};

std::string line_of(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

OpenMpiCommand changed(const std::string& line, const EnvListSources& sources = {}) {
  const auto words = huddle::words(line);
  const auto contexts = contexts_of(words, Passing::x_each_context,
                                    [](const std::string& word) { return word.starts_with("./"); });
  return pass_in_open_mpi_4(words, contexts, forwarded, sources);
}

TEST(EnvList, GetsVariablesInsteadOfOptions) {
  EXPECT_EQ(line_of(changed("mpirun --mca mca_base_env_list A=1;B -n 2 ./a : ./b").words),
            "mpirun --mca mca_base_env_list A=1;B;LD_PRELOAD=/h.so:/u.so;HUDDLE_OPS=bcast,scan "
            "-n 2 ./a : ./b");
  EXPECT_EQ(line_of(changed("mpirun --gmca mca_base_env_list HUDDLE_OPS=scan ./a").words),
            "mpirun --gmca mca_base_env_list HUDDLE_OPS=scan;LD_PRELOAD=/h.so:/u.so ./a");
  EXPECT_EQ(line_of(changed("mpirun --mca mca_base_env_list LD_PRELOAD=/t.so ./a").words),
            "mpirun --mca mca_base_env_list LD_PRELOAD=/t.so:/h.so;HUDDLE_OPS=bcast,scan ./a");
}

TEST(EnvList, OfTheEnvironmentGetsVariables) {
  const OpenMpiCommand command = changed("mpirun -n 2 ./a", {.variable = "A=1"});
  EXPECT_EQ(line_of(command.words), "mpirun -n 2 ./a");
  EXPECT_EQ(command.env_list, "A=1;LD_PRELOAD=/h.so:/u.so;HUDDLE_OPS=bcast,scan");
  EXPECT_EQ(changed("mpirun --mca mca_base_env_list B=1 ./a", {.variable = "A=1"}).env_list, "")
      << "the command line takes precedence";
}

TEST(EnvList, OfALaterProgramIsIgnoredLikeInOpenMpi) {
  EXPECT_EQ(line_of(changed("mpirun ./a : --mca mca_base_env_list A=1 ./b").words),
            "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan ./a : "
            "-x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan --mca mca_base_env_list A=1 ./b");
}

TEST(EnvList, OfAFileExcludesOptions) {
  const test::Scratch scratch;
  const std::string with = scratch.write("with", "-mca mca_base_env_list \"A=1\"\n");
  const std::string without = scratch.write("without", "-mca btl self\n");
  const OpenMpiCommand command = changed("mpirun --tune " + without + "," + with + " ./a");
  EXPECT_EQ(line_of(command.words), "mpirun --tune " + without + "," + with + " ./a");
  EXPECT_EQ(command.file_with_env_list, with);
  EXPECT_EQ(line_of(changed("mpirun --tune " + without + " ./a").words),
            "mpirun -x LD_PRELOAD=/h.so:/u.so -x HUDDLE_OPS=bcast,scan --tune " + without + " ./a");
}

TEST(EnvList, OfAParameterFileExcludesOptions) {
  const test::Scratch scratch;
  const std::string home = scratch.folder().string();
  const std::string file = scratch.write(".openmpi/mca-params.conf", "mca_base_env_list = A=1\n");
  const auto files = parameter_files_of("/usr/bin/mpirun", home);
  EXPECT_EQ(changed("mpirun ./a", {.parameter_files = files}).file_with_env_list, file);
  EXPECT_EQ(changed("mpirun ./a", {"B=1", files}).file_with_env_list, "");
  scratch.write(".openmpi/mca-params.conf", "# mca_base_env_list = A=1\n");
  EXPECT_EQ(changed("mpirun ./a", {.parameter_files = files}).file_with_env_list, "");
}

TEST(AppFile, IsFoundInTheOptions) {
  EXPECT_EQ(changed("mpirun --app file").app_file, "file");
  EXPECT_EQ(changed("mpirun ./a --app file").app_file, "");
}

}  // namespace
}  // namespace huddle::launch
