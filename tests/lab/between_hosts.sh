# shellcheck shell=bash disable=SC2034,SC2154  # `build`, `lab`, `hosts` and `limit_seconds` are of namespaces.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# What jobs over several hosts have to do whoever starts them, for a script that has sourced namespaces.sh.
# before: $launcher starts ranks, $huddle_launcher starts them with huddle; a program goes behind either.
preload=$build/lib/huddle/libhuddle_preload.so
taken='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  nodes'
within='^allreduce +[0-9]+ +[0-9]+ +[0-9.]+  [^Mn]'
passed='^allreduce .*  MPI: several nodes'
by_schedule=(barrier bcast reduce allreduce allgather allgatherv alltoall gather scatter reduce_scatter reduce_scatter_block)
all_taken=("${by_schedule[@]}" alltoallv gatherv scatterv)

# A program's collectives over several hosts are huddle's, and as the MPI's own:
# try_taken MPI LAYOUT PROGRAM [ARGUMENT]
try_taken() {
  local mpi=$1 name=$1-taken-$2 program=$3 operation
  job "$name" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_VERIFY=1 HUDDLE_JOIN_AFTER=0 HUDDLE_STATS=1 \
    "${huddle_launcher[@]}" "${@:3}"
  says "$name" "huddle took no allreduce over several hosts" "$taken"
  [ "$program" = "${program%-several}" ] || for operation in "${all_taken[@]}"; do
    says "$name" "huddle took no $operation over several hosts" "^$operation +[0-9]+ +[0-9]+ +[0-9.]+  nodes"
  done
  says "$name" "nothing was sent to other nodes" '^rank 0 sent [0-9,]+ messages'
  ! grep 'verify:' "$lab/$name" | grep -qv ' 0 differ' || fail "$name: $(grep verify: "$lab/$name")"
}

# Calls that are wrong on one host alone are the MPI's own errors there, and the others go on, or end with it:
# try_errors MPI
try_errors() {
  local mpi=$1 name=$1-wrong net join_after fallen_over=()
  local program=$lab/$name-on-one-host
  net=$(net_of "$mpi")
  "$peers/$mpi/mpicc" -O1 -o "$program" tests/mpi/programs/c/{wrong_on_one_host,expect}.c
  [ "$mpi" != mpich-5 ] || fallen_over=("allreduce of -1" "allreduce of no type")
  job "$name" "${launcher[@]}" "$program" h2 "${fallen_over[@]}"
  grep ': class' "$lab/$name" >"$lab/$name-natively" || fail "$name: no errors"
  # From the first call on, and from one that some ranks come to behind wrong calls.
  for join_after in 0 20; do
    job "$name" env HUDDLE_NET="$net" "HUDDLE_JOIN_AFTER=$join_after" HUDDLE_STATS=1 "${huddle_launcher[@]}" \
      "$program" h2 "${fallen_over[@]}"
    says "$name" "huddle took no allreduce over several hosts" "$taken"
    grep ': class' "$lab/$name" | diff "$lab/$name-natively" - >&2 || fail "$name: other errors than natively"
  done
  ends_with_error "$name-natively" "${launcher[@]}" "$program" h2 fatal
  ends_with_error "$name" env HUDDLE_NET="$net" HUDDLE_JOIN_AFTER=0 "${huddle_launcher[@]}" "$program" h2 fatal
  diff "$lab/$name-natively.error" "$lab/$name.error" >&2 || fail "$name: ended by another error than natively"
}
# after: $lab/NAME.error has the MPI's words for it
ends_with_error() { # ends_with_error NAME COMMAND...
  local name=$1
  shift
  ! timeout "$limit_seconds" "$@" >"$lab/$name" 2>&1 </dev/null || fail "$name: a job with a wrong call ended well"
  ! grep -q 'stands still' "$lab/$name" || fail "$name: others waited for ranks whose call was wrong"
  grep -Eo 'MPI_ERR_[A-Z]+|Invalid root \(.*\)' "$lab/$name" | sort -u >"$lab/$name.error"
  [ -s "$lab/$name.error" ] || fail "$name: no error of the MPI's"
}

# A host or a rank without huddle, with another version of it, or told otherwise: all between hosts is the
# MPI's, and one line says so. All ranks may be asked, `auto`: where the launcher cannot say who is there, nobody is.
try_strangers() {
  local mpi=$1 program=$2 other=$lab/other-version version stranger
  # shellcheck disable=SC2016  # all of them for the ranks' shell
  local -A strangers=(
    [a host without it]='[ "$(hostname)" = h2 ] && unset LD_PRELOAD'
    [a host with another version]='[ "$(hostname)" = h2 ] && export LD_PRELOAD="$2/libhuddle_preload.so"'
    [a rank without it]='[ "$rank" = 5 ] && unset LD_PRELOAD'
    [a rank that is off]='[ "$rank" = 5 ] && export HUDDLE=off'
    [a rank without a network]='[ "$rank" = 5 ] && export HUDDLE_NET=off'
    [a host with a wrong setting]='[ "$(hostname)" = h2 ] && export HUDDLE_NET=sideways'
    [a host that joins later]='[ "$(hostname)" = h2 ] && export HUDDLE_JOIN_AFTER=3'
  )
  # Its own version is only what its libraries say.
  version=$("$build/bin/huddle" --version | sed -n 's/^huddle //p')
  rm -rf --one-file-system "$other"
  cp -r "$build/lib/huddle" "$other"
  sed -i "s/${version//./\\.}/${version%?}~/g" "$other"/*.so
  for stranger in "${!strangers[@]}"; do
    # shellcheck disable=SC2016  # for the ranks' shell
    job "$mpi-stranger" "${launcher[@]}" sh -c 'export HUDDLE_STATS=1 HUDDLE_JOIN_AFTER=0 HUDDLE_NET=auto LD_PRELOAD="$1"
      rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}
      '"${strangers[$stranger]}"'
      exec "$3"' sh "$preload" "$other" "$program"
    says "$mpi-stranger" "$stranger: no allreduce over several hosts was the MPI's" "$passed"
    ! grep -Eq "$taken" "$lab/$mpi-stranger" || fail "$mpi: $stranger: huddle took an allreduce over several hosts"
    [ "$(net_of "$mpi")" = on ] || [ "$(grep -c "^huddle: not every rank" "$lab/$mpi-stranger")" = 1 ] ||
      fail "$mpi: $stranger: not told in one line: $(grep '^huddle:' "$lab/$mpi-stranger")"
  done
}

# Who of 4 x 2 ranks dies, of each kind in the hosts in turns: a host's first rank, its other, both, or its link.
doomed_ranks() {
  local kind=$1 first=$((2 * ($2 % 4)))
  case $kind in
    first | link) echo "$first" ;;
    other) echo "$((first + 1))" ;;
    host) echo "$first,$((first + 1))" ;;
  esac
}

inside() { # inside HOST COMMAND...
  local keeper
  keeper=$(cat "$lab/$1.pid")
  shift
  nsenter -t "$keeper" -n -u -i -m "--pid=/proc/$keeper/ns/pid_for_children" "$@"
}

# Files that huddle would leave, and ranks that would go on.
nothing_is_left() {
  local host left
  for host in "${hosts[@]}"; do
    left=$(inside "$host" sh -c \
      'ls /dev/shm | grep huddle; ps -e -o stat= -o comm= | grep -v ^Z | grep -- "-dying"' || true)
    [ -z "$left" ] || fail "$1: left on $host: $left"
  done
}

# Once its ranks have given up, a host without a link gets it back, so that its daemon can be told.
give_link_back() { # give_link_back HOST JOB
  until inside "$1" ip link show eth0 | grep -q 'state DOWN'; do
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  while inside "$1" ps -e -o stat= -o comm= | grep -v ^Z | grep -q -- '-dying'; do sleep 0.1; done
  inside "$1" ip link set eth0 up
}

# A job that has to end, and not well: die MPI KIND NUMBER COMMAND...
# after: $took, in ms
die() {
  local mpi=$1 kind=$2 doomed began pid
  doomed=$(doomed_ranks "$kind" "$3")
  shift 3
  began=$(date +%s%N)
  timeout "$limit_seconds" "$@" "$lab/$mpi-dying" "$doomed" "$kind" >"$lab/$mpi-death" 2>&1 </dev/null &
  pid=$!
  [ "$kind" != link ] || give_link_back "h$((doomed / 2 + 1))" "$pid"
  if wait "$pid"; then
    fail "$mpi: a job ended well whose rank $doomed was killed ($kind)"
  fi
  took=$((($(date +%s%N) - began) / 1000000))
  [ "$took" -lt $((limit_seconds * 1000)) ] || fail "$mpi: nothing ended a job whose rank $doomed was killed ($kind)"
}

# Jobs of which a rank, a host or a link is lost in the middle end as they do without huddle. Nobody
# hears of a link that is lost, natively either: ranks wait until they give up.
# try_deaths MPI KIND...
try_deaths() {
  local mpi=$1 kind number took native least most
  "$peers/$mpi/mpicc" -O1 -o "$lab/$mpi-dying" tests/mpi/programs/c/{dying_between_nodes,expect}.c
  for kind in "${@:2}"; do
    die "$mpi" "$kind" 0 "${launcher[@]}"
    native=$took least=$((limit_seconds * 1000)) most=0
    for ((number = 0; number < ${HOSTS_DEATHS:-1}; ++number)); do
      die "$mpi" "$kind" "$number" env HUDDLE_NET="$(net_of "$mpi")" HUDDLE_JOIN_AFTER=0 \
        "${huddle_launcher[@]}"
      [ "$kind" = link ] || ! grep -q 'stands still' "$lab/$mpi-death" ||
        fail "$mpi: others waited for a rank that was killed ($kind)"
      nothing_is_left "$mpi-death"
      least=$((took < least ? took : least)) most=$((took > most ? took : most))
    done
    echo "$mpi: $number jobs ended by a death ($kind), in $least to $most ms (natively $native)"
  done
}
