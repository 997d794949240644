#!/bin/bash
# A host that vanishes ends the job: within a minute, with a message that names a rank and that host. The four hosts that are
# left resume it to the bytes of a search that nothing befell.
. "$(dirname "$0")/lib.sh"
data 500
expect_alone expected -outfmt 6
lab up --site A=3 --site B=2 --delay A-B=5ms --rate A-B=1gbit
job=(-outfmt 6 -out report -checkpoint kept -resume -partitions 8 -replicas 1)
ranks -n 5 -- "${job[@]}" 2>"$work/messages" &
search=$!
spooled() {
    find "$work/kept" -name '*.zst' -size +0 2>/dev/null | grep . >/dev/null
}
until spooled; do
    kill -0 $search 2>/dev/null || fail "the search ended before a block was kept: $(cat "$work/messages")"
    sleep 0.05
done
lab kill-host B2
killed=$SECONDS
# Whether a rank lives: a process of the program in the directory of this test.
ranks_left() {
    local process
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe")" = "$program" ] && [ "$(readlink "$process/cwd")" = "$work" ] && return 0
    done
    return 1
}
while ranks_left; do
    [ $((SECONDS - killed)) -le 60 ] || fail "ranks are left a minute after the host vanished: $(cat "$work/messages")"
    sleep 0.2
done
took=$((SECONDS - killed))
grep -Eq 'rank [0-9]+ on host B2' "$work/messages" || fail "no message names the rank and the host that vanished: $(cat "$work/messages")"
grep -E 'rank [0-9]+ on host B2' "$work/messages"
[ ! -s "$work/report" ] || fail "a report that is not whole has its name"
echo "ok $name: no rank is left $took s after the host"
# Open MPI's mpirun may wait for the vanished host's daemon for many minutes, once it has told it to end.
for process in $(ip netns pids "nl-$lab.A1"); do
    if [ "$(cat "/proc/$process/comm" 2>/dev/null)" = mpirun ]; then kill -KILL "$process"; fi
done
wait $search && fail "the search succeeded without a host"
ranks -n 4 --host A1,A2,A3,B1 -- "${job[@]}" 2>"$work/messages" || fail "resuming: exit code $?: $(cat "$work/messages")"
grep -Eq ' [1-9][0-9]* blocks of queries are finished already' "$work/messages" || fail "nothing was kept: $(cat "$work/messages")"
same expected report "resumed on four hosts"
[ ! -e "$work/kept" ] || fail "the checkpoint is still there"
