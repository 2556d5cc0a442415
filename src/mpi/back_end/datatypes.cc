// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/datatypes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "mpi/back_end/process.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {
namespace {

template <class Handle>
std::size_t hash_of(Handle handle) {
  std::uintptr_t bits = 0;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): it may be a pointer
  std::memcpy(&bits, &handle, sizeof handle);
  // Handles of the standard ABI and of MPICH differ in their low bits, addresses in higher bits.
  return bits ^ (bits >> 6) ^ (bits >> 14);
}

// Error handler that records the error, because MPICH 5 returns success if there is a user-defined
// error handler.
void note_type_refusal(Comm* /*comm*/, int* /*code*/, ...) { process().types().note_refusal(); }

int copy_to_no_duplicate(Datatype /*type*/, int /*keyval*/, void* /*extra*/, void* /*in*/,
                         void* /*out*/, int* flag) {
  *flag = 0;
  return success;
}

// Returns the element of a type that MPI_Type_create_f90_* returned, or null.
const Element* element_of_f90(int combiner) {
  static constexpr Element integer{"an integer type of Fortran", ElementKind::fortran_integer};
  static constexpr Element real{"a real type of Fortran", ElementKind::fortran_real};
  static constexpr Element complex{"a complex type of Fortran", ElementKind::fortran_complex};
  switch (combiner) {
    case combiner_f90_integer:
      return &integer;
    case combiner_f90_real:
      return &real;
    case combiner_f90_complex:
      return &complex;
  }
  return nullptr;
}

}  // namespace

Types::Types(const UnderlyingMpi& real, Find find)
    : real_(real),
      null_comm_(handle<Comm>(comm_null, find)),
      null_(handle<Datatype>(datatype_null, find)),
      trial_(null_comm_) {
  static_assert(2 * datatypes.size() <= std::tuple_size_v<decltype(named_)>);
  for (const Predefined& predefined : datatypes) {
    const auto type = handle<Datatype>(predefined, find);
    const Element* element = find_element(predefined.name);
    if (type == Datatype{} || type == null_ || element == nullptr) continue;
    std::size_t at = hash_of(type) % named_.size();
    // Two names may denote the same type; the first is kept.
    while (named_[at].element != nullptr && named_[at].handle != type)
      at = (at + 1) % named_.size();
    if (named_[at].element != nullptr) continue;
    named_[at].handle = type;
    named_[at].element = element;
  }
}

Types::Named* Types::find_named(Datatype type) const {
  for (std::size_t at = hash_of(type) % named_.size(); named_[at].element != nullptr;
       at = (at + 1) % named_.size()) {
    if (named_[at].handle == type) return &named_[at];
  }
  return nullptr;
}

void Types::begin(Comm self) {
  // Sessions may exist before MPI_Init, and their threads may make calls already.
  const std::lock_guard lock(mutex_);
  Comm trial{};
  if (real_.comm_dup(self, &trial) == success && tell_of_errors(trial)) trial_ = trial;
}

// Sets an error handler that records errors. Does not use MPI_ERRORS_RETURN, because its value
// differs between MPIs with the standard ABI.
bool Types::tell_of_errors(Comm comm) const {
  Errhandler takes_note{};
  if (real_.comm_create_errhandler(note_type_refusal, &takes_note) != success) return false;
  const bool is_set = real_.comm_set_errhandler(comm, takes_note) == success;
  real_.errhandler_free(&takes_note);
  return is_set;
}

// Takes the mutex, because sessions may outlive the world model, and one of their threads may be
// testing a type.
void Types::end() {
  const std::lock_guard lock(mutex_);
  if (trial_ == null_comm_) return;
  real_.comm_free(&trial_);
  trial_ = null_comm_;
}

const TypeFacts& Types::facts(Datatype type) const {
  if (Named* named = find_named(type)) return named_facts(*named);
  const Kept* known = remembered(type);
  return known != nullptr ? known->facts : derived_facts(type);
}

// Concurrent threads all query the MPI, and the first result is kept. Published facts never change:
// a rank that read a half-written entry could fall back to the MPI while the other ranks do not.
const TypeFacts& Types::named_facts(Named& named) const {
  if (named.known.load(std::memory_order_acquire)) return named.facts;
  TypeFacts facts = ask(named.handle);
  facts.element = named.element;
  facts.number = element_type(*named.element, facts.bytes);
  const std::lock_guard lock(mutex_);
  if (!named.known.load(std::memory_order_relaxed)) {
    named.facts = facts;
    named.known.store(true, std::memory_order_release);
  }
  return named.facts;
}

Types::Kept* Types::remembered(Datatype type) const {
  const int keyval = keyval_.load(std::memory_order_acquire);
  void* value = nullptr;
  int found = 0;
  if (keyval == keyval_invalid ||
      real_.type_get_attr(type, keyval, static_cast<void*>(&value), &found) != success) {
    return nullptr;
  }
  return found != 0 ? static_cast<Kept*>(value) : nullptr;
}

// Does not cache uncommitted types, which may be committed later. Types on which no attribute can
// be set fall back to the MPI.
const TypeFacts& Types::derived_facts(Datatype type) const {
  const std::lock_guard lock(mutex_);
  if (const Kept* known = remembered(type)) return known->facts;
  if (!is_committed(type)) return no_type;
  int keyval = keyval_.load();
  if (keyval == keyval_invalid &&
      real_.type_create_keyval(copy_to_no_duplicate, forget, &keyval, &freed_) == success) {
    keyval_.store(keyval, std::memory_order_release);
  }
  auto kept = std::make_unique<Kept>();
  TypeFacts& facts = kept->facts;
  facts = ask(type);
  facts.element = element_of_f90(envelope(type).combiner);
  if (facts.element != nullptr) facts.number = element_type(*facts.element, facts.bytes);
  if (keyval == keyval_invalid || real_.type_set_attr(type, keyval, kept.get()) != success) {
    return no_type;
  }
  return kept.release()->facts;  // owned by the type until forget()
}

int Types::forget(Datatype /*type*/, int /*keyval*/, void* value, void* extra) {
  static_cast<std::atomic<std::uint64_t>*>(extra)->fetch_add(1, std::memory_order_release);
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  return success;
}

// MPI has no query for this, but MPI_Pack rejects uncommitted types even with a count of 0.
bool Types::is_committed(Datatype type) const {
  if (trial_ == null_comm_) return true;
  std::byte nothing{};
  int position = 0;
  refused_ = false;
  const int status = real_.pack(&nothing, 0, type, &nothing, sizeof nothing, &position, trial_);
  return status == success && !refused_;
}

Answers* Types::answers_of(Datatype type) const {
  if (Named* named = find_named(type)) return &named->answers;
  Kept* const kept = remembered(type);
  return kept == nullptr ? nullptr : &kept->answers;
}

bool Types::combines(Datatype type, const TypeFacts& facts, const Operators::Named& op,
                     Comm comm) const {
  Answers* const answers = answers_of(type);
  if (answers == nullptr) return false;
  if (const std::optional<bool> known = answers->of(op)) return *known;
  const std::lock_guard lock(mutex_);
  bool is_combined = false;
  if (trial_ != null_comm_) {
    is_combined = try_to_combine(type, facts, op.handle, trial_);
  } else {
    // The program uses only sessions.
    const Alone alone(real_, comm);
    is_combined = alone.is_made() && tell_of_errors(alone.comm()) &&
                  try_to_combine(type, facts, op.handle, alone.comm());
  }
  answers->note(op, is_combined);
  return is_combined;
}

// Tries an MPI_Allreduce on `alone`, a communicator of this rank alone. Does not use
// MPI_Reduce_local, because its errors abort the program.
bool Types::try_to_combine(Datatype type, const TypeFacts& facts, Op op, Comm alone) const {
  struct alignas(std::max_align_t) Zeros {
    std::array<std::byte, 2 * sizeof(std::max_align_t)> bytes{};
  };
  const Zeros input;
  Zeros output;
  if (facts.span > sizeof input.bytes) return false;
  refused_ = false;
  const int status = real_.allreduce(input.bytes.data(), output.bytes.data(), 1, type, op, alone);
  return status == success && !refused_;
}

Datatype Types::named(std::string_view name) const {
  const auto found = std::find_if(named_.begin(), named_.end(), [&](const Named& named) {
    return named.element != nullptr && named.element->name == name;
  });
  return found == named_.end() ? null_ : found->handle;
}

TypeFacts Types::ask(Datatype type) const {
  TypeFacts facts;
  facts.is_type = true;
  Count bytes = 0;
  Aint span = 0;
  real_.type_size_x(type, &bytes);
  real_.type_get_extent(type, &facts.lower_bound, &facts.extent);
  real_.type_get_true_extent(type, &facts.first_byte, &span);
  facts.bytes = static_cast<std::size_t>(bytes);
  facts.span = static_cast<std::size_t>(span);
  facts.dense = is_dense(type, facts);
  return facts;
}

// Returns whether elements have no gaps and their bytes are in type-map order. Equal extent and
// size are not sufficient, because the parts may be in another order.
bool Types::is_dense(Datatype type, const TypeFacts& facts) const {
  if (facts.first_byte != 0 || facts.span != facts.bytes ||
      facts.extent != static_cast<Aint>(facts.bytes)) {
    return false;
  }
  if (find_named(type) != nullptr) return true;
  // Contiguous repetitions of a dense type are dense.
  const Envelope made = envelope(type);
  if (element_of_f90(made.combiner) != nullptr) return true;
  if (made.combiner != combiner_dup && made.combiner != combiner_contiguous) return false;
  const Datatype inner = contents(type, made).front();
  const bool dense = ask(inner).dense;
  free_type(inner);
  return dense;
}

// An x86 long double has ten bytes of value in sixteen.
bool Types::holds_padding(Datatype type) const {
  constexpr bool has_padding = std::numeric_limits<long double>::digits == 64;
  if (!has_padding) return false;
  if (const Named* named = find_named(type)) {
    return named->element->name.find("LONG_DOUBLE") != std::string_view::npos;
  }
  bool found = false;
  for (const Datatype inner : contents(type, envelope(type))) {
    found = found || holds_padding(inner);
    free_type(inner);
  }
  return found;
}

Types::Envelope Types::envelope(Datatype type) const {
  Envelope made;
  if (real_.type_get_envelope_c != nullptr) {
    // MPI_Type_get_envelope is an error for types that were created with large counts.
    real_.type_get_envelope_c(type, &made.integers, &made.addresses, &made.counts, &made.types,
                              &made.combiner);
    return made;
  }
  int integers = 0;
  int addresses = 0;
  int types = 0;
  real_.type_get_envelope(type, &integers, &addresses, &types, &made.combiner);
  made.integers = integers;
  made.addresses = addresses;
  made.types = types;
  return made;
}

// Returns the constituent types, each of which must be passed to free_type().
std::vector<Datatype> Types::contents(Datatype type, const Envelope& made) const {
  if (made.combiner == combiner_named) return {};
  std::vector<int> integers(static_cast<std::size_t>(made.integers));
  std::vector<Aint> addresses(static_cast<std::size_t>(made.addresses));
  std::vector<Count> counts(static_cast<std::size_t>(made.counts));
  std::vector<Datatype> types(static_cast<std::size_t>(made.types));
  if (real_.type_get_contents_c != nullptr) {
    real_.type_get_contents_c(type, made.integers, made.addresses, made.counts, made.types,
                              integers.data(), addresses.data(), counts.data(), types.data());
  } else {
    real_.type_get_contents(type, static_cast<int>(made.integers), static_cast<int>(made.addresses),
                            static_cast<int>(made.types), integers.data(), addresses.data(),
                            types.data());
  }
  return types;
}

// Predefined types must not be freed.
void Types::free_type(Datatype inner) const {
  const int combiner = envelope(inner).combiner;
  if (combiner == combiner_named || element_of_f90(combiner) != nullptr) return;
  real_.type_free(&inner);
}

Operators::Operators(Find look_up) : null_(handle<Op>(op_null, look_up)), named_{} {
  std::transform(operators.begin(), operators.end(), named_.begin(),
                 [&](const Predefined& predefined) {
                   const auto number = static_cast<std::size_t>(&predefined - operators.data());
                   return Named{handle<Op>(predefined, look_up), predefined.name,
                                find_operator(predefined.name), number};
                 });
}

const Operators::Named* Operators::find(Op op) const {
  const auto found = std::find_if(named_.begin(), named_.end(),
                                  [&](const Named& named) { return named.handle == op; });
  return found == named_.end() ? nullptr : &*found;
}

std::string_view Operators::name(Op op) const {
  const Named* named = find(op);
  return named == nullptr ? "a user-defined operator" : named->name;
}

Op Operators::named(std::string_view name) const {
  const auto found = std::find_if(named_.begin(), named_.end(),
                                  [&](const Named& named) { return named.name == name; });
  return found == named_.end() ? null_ : found->handle;
}

}  // namespace huddle::mpi
