// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What ranks of a job tell each other across nodes by way of their launcher. What is put there
// before the MPI begins has arrived everywhere once it has begun, for it exchanges its own
// addresses so.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::mpi {

class KeySpace {
 public:
  KeySpace() = default;
  virtual ~KeySpace() = default;
  KeySpace(const KeySpace&) = delete;
  KeySpace& operator=(const KeySpace&) = delete;

  // Before the MPI comes up, once. False: nobody will hear it.
  virtual bool tell(const std::string& value) = 0;
  // Whether that rank told just this; after it has. pre: tell() was true.
  virtual bool has_told(int rank, std::string_view value) = 0;
  // As early as may be: the MPI's own end of it is the last.
  virtual void close() = 0;
  // The process ends before that: whatever the MPI says last has to reach the launcher.
  virtual void leave() {}
};

// Where the launcher offers PMIx, by an environment of "NAME=value" lines; else null. If it is
// there and this process cannot use it, the others see nothing of it.
std::unique_ptr<KeySpace> pmix_key_space(const std::vector<std::string>& environment);
// Where it is Hydra, the launcher of MPICH and its family, that speaks PMI-1; else null.
std::unique_ptr<KeySpace> hydra_key_space(const std::vector<std::string>& environment);
// Where it is Slurm's srun, that speaks PMI-1 or PMI-2 (--mpi=pmi2); else null.
std::unique_ptr<KeySpace> slurm_key_space(const std::vector<std::string>& environment);

}  // namespace huddle::mpi
