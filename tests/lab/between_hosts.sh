# shellcheck shell=bash disable=SC2034,SC2154  # `build`, `lab`, `hosts` and `limit_seconds` are of namespaces.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Tests of jobs over several hosts that do not depend on the launcher. Requires: the script has sourced namespaces.sh;
# $launcher is the command that starts a program's ranks, $huddle_launcher the same with huddle.
preload=$build/lib/huddle/libhuddle_preload.so
taken='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  nodes'
within='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  [^Mn]'
passed='^allreduce .*  MPI: ranks on several nodes'
by_schedule=(barrier bcast reduce allreduce allgather allgatherv alltoall gather scatter reduce_scatter reduce_scatter_block)
all_taken=("${by_schedule[@]}" alltoallv gatherv scatterv)

# try_taken MPI LAYOUT PROGRAM [ARGUMENT]: checks that huddle handles the program's collectives over several hosts, and
# that their results are equal to the MPI's.
try_taken() {
  local mpi=$1 name=$1-taken-$2 program=$3 operation
  job "$name" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_VERIFY=1 HUDDLE_ACTIVATE_AFTER=0 HUDDLE_STATS=1 \
    "${huddle_launcher[@]}" "${@:3}"
  expect_output "$name" "huddle handled no allreduce over several hosts" "$taken"
  [ "$program" = "${program%-several}" ] || for operation in "${all_taken[@]}"; do
    expect_output "$name" "huddle handled no $operation over several hosts" "^$operation +[0-9]+ +[0-9]+ +[0-9.]+  nodes"
  done
  expect_output "$name" "nothing was sent to other nodes" '^rank 0 sent [0-9,]+ messages'
  ! grep 'verify:' "$lab/$name" | grep -qv ' 0 with different results' || fail "$name: $(grep verify: "$lab/$name")"
}

# try_errors MPI: checks that calls with wrong arguments on one host raise the MPI's own errors there, and that the
# other ranks continue, or end if the error is fatal.
try_errors() {
  local mpi=$1 name=$1-wrong net activate_after fallen_over=()
  local program=$lab/$name-on-one-host
  net=$(net_of "$mpi")
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{wrong_on_one_host,expect}.c
  [ "$mpi" != mpich-5 ] || fallen_over=("allreduce of -1" "allreduce of no type")
  job "$name" "${launcher[@]}" "$program" h2 "${fallen_over[@]}"
  grep ': class' "$lab/$name" >"$lab/$name-natively" || fail "$name: no errors"
  # huddle activates at the first call, or at a later one, before which some ranks have made wrong calls.
  for activate_after in 0 20; do
    job "$name" env HUDDLE_NET="$net" "HUDDLE_ACTIVATE_AFTER=$activate_after" HUDDLE_STATS=1 "${huddle_launcher[@]}" \
      "$program" h2 "${fallen_over[@]}"
    expect_output "$name" "huddle handled no allreduce over several hosts" "$taken"
    grep ': class' "$lab/$name" | diff "$lab/$name-natively" - >&2 || fail "$name: errors differ from native ones"
  done
  ends_with_error "$name-natively" "${launcher[@]}" "$program" h2 fatal
  ends_with_error "$name" env HUDDLE_NET="$net" HUDDLE_ACTIVATE_AFTER=0 "${huddle_launcher[@]}" "$program" h2 fatal
  diff "$lab/$name-natively.error" "$lab/$name.error" >&2 || fail "$name: fatal error differs from the native one"
}
# try_counts MPI: checks that all ranks get an error, at about the same time, if rank 0 on the first host passes another
# count than the others.
try_counts() {
  local mpi=$1 name=$1-counts program=$lab/$1-different told=$lab/$1-told operation bytes others
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{different_counts,expect}.c
  while read -r operation bytes others; do
    rm -f "$told"
    timeout 20 env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 "${huddle_launcher[@]}" \
      "$program" "$told" "$operation" "$bytes" "$others" 3000 stop >"$lab/$name" 2>&1 </dev/null || true
    awk -v ranks="$ranks" '
      /: (truncated|another error),/ { ++errors; truncated += /truncated/; if (!first || $(NF - 1) < first) first = $(NF - 1)
        if ($(NF - 1) > last) last = $(NF - 1) }
      END { exit !(errors == ranks && truncated > 0 && last - first < 2) }' "$told" ||
      fail "$name: $operation of $bytes bytes on rank 0 and $others on the others: $(cat "$told"; tail -n 5 "$lab/$name")"
  done <<'END'
bcast 10 1000
bcast 1000 10
bcast 100 100000
bcast 100000 100
allreduce 8 4000
allreduce 4000 8
reduce 8 4000
allgather 4096 4100
gather 1000 8
gather 8 1000
scatter 1000 8
scatter 8 1000
alltoall 8 1000
END
}
# ends_with_error NAME COMMAND...: runs a job that must fail. Writes the MPI's errors to $lab/NAME.error.
ends_with_error() {
  local name=$1
  shift
  ! timeout "$limit_seconds" "$@" >"$lab/$name" 2>&1 </dev/null || fail "$name: a job with a wrong call succeeded"
  ! grep -q 'stands still' "$lab/$name" || fail "$name: ranks waited for ranks with a wrong call"
  grep -Eo 'MPI_ERR_[A-Z]+|Invalid root \(.*\)' "$lab/$name" | sort -u >"$lab/$name.error"
  [ -s "$lab/$name.error" ] || fail "$name: no error of the MPI"
}

# Checks jobs in which a host or a rank runs without huddle, with another version, or with other settings: collectives
# between hosts fall back to the MPI, with one note. With HUDDLE_NET=auto the ranks vote only if the launcher provides
# the list of ranks that have huddle, so without that list there is no note.
try_strangers() {
  local mpi=$1 program=$2 other=$lab/other-version version stranger
  # shellcheck disable=SC2016  # the ranks' shell expands them
  local -A strangers=(
    [a host without it]='[ "$(hostname)" = h2 ] && unset LD_PRELOAD'
    [a host with another version]='[ "$(hostname)" = h2 ] && export LD_PRELOAD="$2/libhuddle_preload.so"'
    [a rank without it]='[ "$rank" = 5 ] && unset LD_PRELOAD'
    [a rank that is off]='[ "$rank" = 5 ] && export HUDDLE=off'
    [a rank without a network]='[ "$rank" = 5 ] && export HUDDLE_NET=off'
    [a host with a wrong setting]='[ "$(hostname)" = h2 ] && export HUDDLE_NET=sideways'
    [a host that joins later]='[ "$(hostname)" = h2 ] && export HUDDLE_ACTIVATE_AFTER=3'
  )
  # The version is a string in the libraries, so patching it there makes another version.
  version=$("$build/bin/huddle" --version | sed -n 's/^huddle //p')
  rm -rf --one-file-system "$other"
  cp -r "$build/lib/huddle" "$other"
  sed -i "s/${version//./\\.}/${version%?}~/g" "$other"/*.so
  for stranger in "${!strangers[@]}"; do
    # shellcheck disable=SC2016  # the ranks' shell expands them
    job "$mpi-stranger" "${launcher[@]}" sh -c 'export HUDDLE_STATS=1 HUDDLE_ACTIVATE_AFTER=0 HUDDLE_NET=auto LD_PRELOAD="$1"
      rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}
      '"${strangers[$stranger]}"'
      exec "$3"' sh "$preload" "$other" "$program"
    expect_output "$mpi-stranger" "$stranger: no allreduce over several hosts fell back to the MPI" "$passed"
    ! grep -Eq "$taken" "$lab/$mpi-stranger" || fail "$mpi: $stranger: huddle handled an allreduce over several hosts"
    [ "$(net_of "$mpi")" = on ] || [ "$(grep -c "^huddle: not every rank" "$lab/$mpi-stranger")" = 1 ] ||
      fail "$mpi: $stranger: expected one note: $(grep '^huddle:' "$lab/$mpi-stranger")"
  done
}

# doomed_ranks KIND NUMBER: prints the ranks of 4 x 2 that fail. KIND: the first rank of a host, the other one, both
# (host), or the host's network link. NUMBER selects the host.
doomed_ranks() {
  local kind=$1 first=$((2 * ($2 % 4)))
  case $kind in
    first | link) echo "$first" ;;
    other) echo "$((first + 1))" ;;
    host) echo "$first,$((first + 1))" ;;
  esac
}

# inside HOST COMMAND...: runs the command on the host.
inside() {
  local keeper
  keeper=$(cat "$lab/$1.pid")
  shift
  nsenter -t "$keeper" -n -u -i -m "--pid=/proc/$keeper/ns/pid_for_children" "$@"
}

# Fails if files of huddle or running ranks are left on a host.
nothing_is_left() {
  local host left
  for host in "${hosts[@]}"; do
    left=$(inside "$host" sh -c \
      'ls /dev/shm | grep huddle; ps -e -o stat= -o comm= | grep -v ^Z | grep -- "-dying"' || true)
    [ -z "$left" ] || fail "$1: not cleaned up on $host: $left"
  done
}

# give_link_back HOST JOB: restores the host's link after its ranks have ended, so that the launcher can reach its
# daemon there.
give_link_back() {
  until inside "$1" ip link show eth0 | grep -q 'state DOWN'; do
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  while inside "$1" ps -e -o stat= -o comm= | grep -v ^Z | grep -q -- '-dying'; do sleep 0.1; done
  inside "$1" ip link set eth0 up
}

# die MPI KIND NUMBER COMMAND...: runs a job that must end with an error in time. Sets $took, in ms.
die() {
  local mpi=$1 kind=$2 doomed began pid
  doomed=$(doomed_ranks "$kind" "$3")
  shift 3
  began=$(date +%s%N)
  timeout "$limit_seconds" "$@" "$lab/$mpi-dying" "$doomed" "$kind" >"$lab/$mpi-death" 2>&1 </dev/null &
  pid=$!
  [ "$kind" != link ] || give_link_back "h$((doomed / 2 + 1))" "$pid"
  if wait "$pid"; then
    fail "$mpi: a job whose rank $doomed was killed succeeded ($kind)"
  fi
  took=$((($(date +%s%N) - began) / 1000000))
  [ "$took" -lt $((limit_seconds * 1000)) ] || fail "$mpi: a job whose rank $doomed was killed did not end ($kind)"
}

# try_deaths MPI KIND...: checks that jobs that lose a rank, a host or a link end as they do without huddle. A lost
# link is not reported to ranks, with or without huddle: they wait until a timeout.
try_deaths() {
  local mpi=$1 kind number took native least most
  "$peers/$mpi/mpicc" -O1 -o "$lab/$mpi-dying" tests/mpi/programs/c/{dying_between_nodes,expect}.c
  for kind in "${@:2}"; do
    die "$mpi" "$kind" 0 "${launcher[@]}"
    native=$took least=$((limit_seconds * 1000)) most=0
    for ((number = 0; number < ${HOSTS_DEATHS:-1}; ++number)); do
      die "$mpi" "$kind" "$number" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_ACTIVATE_AFTER=0 \
        "${huddle_launcher[@]}"
      [ "$kind" = link ] || ! grep -q 'stands still' "$lab/$mpi-death" ||
        fail "$mpi: ranks waited for a rank that was killed ($kind)"
      nothing_is_left "$mpi-death"
      least=$((took < least ? took : least)) most=$((took > most ? took : most))
    done
    echo "$mpi: $number jobs ended after a failure ($kind), in $least to $most ms (natively $native)"
  done
}
