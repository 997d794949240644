#!/bin/bash
# A slow link with jitter between two sites, which stands still for four seconds amid a search: the bytes of one process, and
# no rank is taken for dead.
. "$(dirname "$0")/lib.sh"
data 100
expect_alone expected -outfmt 0
lab up --site A=2 --site B=2 --delay A-B=100ms --jitter A-B=30ms --rate A-B=20mbit
ranks -n 4 -- -outfmt 0 -out report -partitions 8 -replicas 1 &
search=$!
# What starts the ranks is far less.
until [ "$(bytes)" -gt 100000 ]; do
    kill -0 $search 2>/dev/null || fail "the search was through before the link stood still; give it more to do"
    sleep 0.1
done
lab cut A-B
sleep 4
lab heal A-B
wait $search || fail "exit code $?"
same expected report "100 ms, 20 Mbit/s, cut for 4 s"
