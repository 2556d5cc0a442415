// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/clean.h"

#include <string>

#include "common/text.h"

namespace huddle::picture {
namespace {

void clean(std::string& text) { text = printable(text); }

template <typename Entries>
void clean_levels(Entries& entries) {
  for (auto& entry : entries) clean(entry.level);
}

template <typename Entries>
void clean_names(Entries& entries) {
  for (auto& entry : entries) clean(entry.name);
}

void clean_topology(machine::Topology& topology) {
  clean(topology.cpu_model);
  clean_names(topology.levels);
  clean_names(topology.kinds);
  for (machine::NumaNode& node : topology.numa) clean(node.kind);
}

void clean_provenance(machine::Provenance& provenance) {
  for (std::string* text :
       {&provenance.tool, &provenance.date, &provenance.kernel, &provenance.governor,
        &provenance.smt, &provenance.numa_balancing, &provenance.hypervisor, &provenance.method}) {
    clean(*text);
  }
  for (std::string& source : provenance.sources) clean(source);
}

void clean_doubts(std::vector<machine::Doubt>& doubts) {
  for (machine::Doubt& doubt : doubts) {
    clean(doubt.what);
    clean(doubt.why);
  }
}

}  // namespace

Subject cleaned(Subject subject) {
  machine::Machine& machine = subject.machine;
  clean(subject.path);
  clean(machine.name);
  clean_topology(machine.topology);
  clean_provenance(machine.provenance);
  clean_levels(machine.line);
  clean_levels(machine.copy);
  clean_levels(machine.handoff);
  clean_levels(machine.memory);
  for (machine::PathCurve& path : machine.paths) clean(path.path);
  clean_names(machine.networks);
  if (machine.pairs) clean(machine.pairs->sampling);
  clean_doubts(machine.doubts);
  return subject;
}

}  // namespace huddle::picture
