#!/bin/bash
# Times `fleetblast wrap` against GNU parallel, both running one program of BLAST+ on blocks of queries, two at a time, in turn; each gives
# the same bytes. Two sets of queries: even ones, and the same with a few long ones at the end.
# bench-wrap.sh QUERIES.fa DB [ROUNDS [PROGRAM ARGUMENT...]]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${FLEETBLAST:-$root/target/release/fleetblast}
[ $# -ge 2 ] || { echo "bench-wrap.sh QUERIES.fa DB [ROUNDS [PROGRAM ARGUMENT...]]" >&2; exit 2; }
queries=$1 db=$2 rounds=${3:-3}
shift $(($# < 3 ? $# : 3))
command=("$@")
[ ${#command[@]} -gt 0 ] || command=(psiblast -num_iterations 3 -num_threads 1 -outfmt 6)
command -v parallel >/dev/null || { echo "needs GNU parallel" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$queries" "$work/even.fa"
# Eight queries in one, four times, last.
awk 'BEGIN { RS = ">"; ORS = "" } NR > 1 { n = split($0, line, "\n"); for (i = 2; i <= n; i++) all[int((NR - 2) / 8)] = all[int((NR - 2) / 8)] line[i] }
     END { for (i = 0; i < 4; i++) print ">long" i "\n" all[i] "\n" }' "$queries" >"$work/long"
cat "$queries" "$work/long" >"$work/uneven.fa"

seconds() {
    local start
    start=$(date +%s.%N)
    "$@"
    echo "$(date +%s.%N) $start" | awk '{ printf "%.2f", $1 - $2 }'
}
by_parallel() {
    parallel --will-cite -j 2 -k --pipe --recstart '>' -N "$2" "${command[@]}" -db "$db" <"$work/$1.fa" >"$work/parallel" 2>/dev/null
}
by_wrap() {
    "$program" wrap -n 2 -query "$work/$1.fa" -db "$db" -out "$work/wrap" -- "${command[@]}" -db '{db}' 2>/dev/null
}
echo "set, round, parallel with 1, 4, 16 queries a block, wrap (seconds)"
for set in even uneven; do
    for round in $(seq "$rounds"); do
        times=()
        for block in 1 4 16; do
            times+=("$(seconds by_parallel $set $block)")
        done
        times+=("$(seconds by_wrap $set)")
        cmp "$work/parallel" "$work/wrap"
        (IFS=,; echo "$set,$round,${times[*]}")
    done
done
