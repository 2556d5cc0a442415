// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The few functions, structures and constants of PMIx that huddle needs, declared as in the PMIx
// standard, so that the build does not need its headers.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/settings/settings.h"
#include "common/system.h"
#include "mpi/key_space.h"
#include "mpi/libraries.h"

namespace huddle::mpi {
namespace {

constexpr const char* library_name = "libpmix.so.2";
constexpr const char* key = "huddle.kind";

constexpr int pmix_success = 0;
constexpr std::uint16_t type_string = 3;  // PMIX_STRING
constexpr std::uint8_t to_all = 3;        // PMIX_GLOBAL
constexpr std::size_t most_name = 255;    // PMIX_MAX_NSLEN

struct Process {
  std::array<char, most_name + 1> job;
  std::uint32_t rank;
};

// pmix_value_t, whose union has about thirty members; the largest takes three words.
struct Value {
  std::uint16_t type;
  union {
    char* text;
    bool is_so;
    std::array<std::uint64_t, 3> room;
  };
};

// An attribute of a request (pmix_info_t).
constexpr std::size_t most_key = 511;  // PMIX_MAX_KEYLEN
struct Info {
  std::array<char, most_key + 1> key;
  std::uint32_t flags;
  Value value;
};

// PMIX_IMMEDIATE: the server does not wait for values that a rank of this node has not yet
// published. For ranks of other nodes the server would return only values that it happens to have
// cached, so such requests must not use it.
Info at_once() {
  constexpr std::string_view immediate = "pmix.immediate";
  constexpr std::uint16_t type_bool = 1;  // PMIX_BOOL
  Info info{};
  std::copy(immediate.begin(), immediate.end(), info.key.begin());
  info.value.type = type_bool;
  info.value.is_so = true;
  return info;
}

// Returns the library that the MPI has loaded or will load.
void* open_library() {
  void* const loaded = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
  return loaded != nullptr ? loaded : dlopen(library_name, RTLD_NOW);
}

struct Functions {
  bool look_up_all(void* library) {
    return look_up(library, "PMIx_Init", init) && look_up(library, "PMIx_Finalize", finalize) &&
           look_up(library, "PMIx_Put", put) && look_up(library, "PMIx_Commit", commit) &&
           look_up(library, "PMIx_Get", get) && look_up(library, "PMIx_Get_version", version);
  }

  Process self{};
  int (*init)(Process*, void*, std::size_t) = nullptr;
  int (*finalize)(const void*, std::size_t) = nullptr;
  int (*put)(std::uint8_t scope, const char*, Value*) = nullptr;
  int (*commit)() = nullptr;
  int (*get)(const Process*, const char*, const void*, std::size_t, Value**) = nullptr;
  const char* (*version)() = nullptr;
};

class PmixKeySpace : public KeySpace {
 public:
  // `version` is the version of the launcher's PMIx.
  explicit PmixKeySpace(std::string version) : version_(std::move(version)) {}

  // A process must not connect to its launcher through two PMIx libraries. An MPI with a bundled
  // PMIx has the launcher's version. So this returns false if the installed library has another
  // version.
  bool tell(const std::string& value) override {
    if (functions_ || version_.empty()) return false;
    void* const library = open_library();
    auto functions = std::make_unique<Functions>();
    if (library == nullptr || !functions->look_up_all(library)) return false;
    const std::string_view version = functions->version();
    if (version.find(version_) == std::string_view::npos) return false;
    if (functions->init(&functions->self, nullptr, 0) != pmix_success) return false;
    functions_ = std::move(functions);
    peers_here_ = peers_here();
    std::string text = value;
    Value told{};
    told.type = type_string;
    told.text = text.data();
    const bool is_told =
        functions_->put(to_all, key, &told) == pmix_success && functions_->commit() == pmix_success;
    if (!is_told) close();
    return is_told;
  }

  bool has_published(int rank, std::string_view value) override {
    Process whose = functions_->self;
    whose.rank = static_cast<std::uint32_t>(rank);
    Value* found = nullptr;
    const Info info = at_once();
    const bool is_of_this_node = std::find(peers_here_.begin(), peers_here_.end(),
                                           std::to_string(rank)) != peers_here_.end();
    const std::size_t directives = is_of_this_node ? 1 : 0;
    if (functions_->get(&whose, key, &info, directives, &found) != pmix_success ||
        found == nullptr) {
      return false;
    }
    const bool is_same =
        found->type == type_string && found->text != nullptr && found->text == value;
    if (found->type == type_string) std::free(found->text);
    std::free(found);
    return is_same;
  }

  // Does not end the MPI's use of PMIx, which counts the initializations of a process.
  void close() override {
    if (functions_) functions_->finalize(nullptr, 0);
    functions_.reset();
  }

 private:
  // Returns the job's ranks on this node, or an empty list if the server does not provide them.
  std::vector<std::string> peers_here() const {
    constexpr std::uint32_t of_the_job = 0xFFFFFFFE;  // PMIX_RANK_WILDCARD
    Process job = functions_->self;
    job.rank = of_the_job;
    Value* found = nullptr;
    if (functions_->get(&job, "pmix.lpeers", nullptr, 0, &found) != pmix_success ||
        found == nullptr) {
      return {};
    }
    std::string list;
    if (found->type == type_string) {
      if (found->text != nullptr) list = found->text;
      std::free(found->text);
    }
    std::free(found);
    std::replace(list.begin(), list.end(), ',', ' ');
    return words(list);
  }

  std::string version_;
  std::vector<std::string> peers_here_;
  std::unique_ptr<Functions> functions_;  // null while it is closed
};

}  // namespace

// Without PMIX_RANK, the launcher has not set these variables for this process.
std::unique_ptr<KeySpace> pmix_key_space(const std::vector<std::string>& environment) {
  if (settings::value_of(environment, "PMIX_RANK").empty() ||
      settings::value_of(environment, "PMIX_NAMESPACE").empty()) {
    return nullptr;
  }
  return std::make_unique<PmixKeySpace>(settings::value_of(environment, "PMIX_VERSION"));
}

}  // namespace huddle::mpi
