#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Fuzzes each target for SECONDS: tests/fuzz/run.sh [--built] SECONDS [TARGET...]
# With --built it does not build the programs first. They are part of the build with AddressSanitizer.
# Inputs that fail are kept in build/fuzz/found; repeat one with build/asan/tests/fuzz/TARGET_fuzz FILE.
# Inputs that reach new code are kept in build/fuzz/corpus, and the next run starts with them.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=yes
[ "$1" != --built ] || { build=no; shift; }
seconds=$1
shift
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(machine_file settings_file fabric_file comm_matrix assignments
  perf_script)

[ "$build" = no ] || scripts/build.sh asan "${targets[@]/%/_fuzz}"
mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  seeds=("tests/fuzz/seeds/$target")
  # The machine files of huddle are seeds as well.
  [ "$target" != machine_file ] || seeds+=(machines)
  [ "$target" != fabric_file ] || seeds+=(machines/fabrics)
  mkdir -p "$corpus"
  "build/asan/tests/fuzz/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -max_len=65536 -dict="tests/fuzz/$target.dict" -artifact_prefix="build/fuzz/found/$target-" \
    -print_final_stats=1 -print_funcs=0 -verbosity=0 "$corpus" "${seeds[@]}"
done
