#!/bin/bash
# All that docs/paramedic.md shows of sites and links: paramedic-all.sh DIRECTORY runs paramedic.sh for each of its tables, writes figures, tables
# and pictures there, and goes on where figures of a table are there already. Half an hour, on a machine that does nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# = 1 ] || { echo "usage: paramedic-all.sh DIRECTORY" >&2; exit 1; }
mkdir -p "$1"
to=$(realpath "$1")
export WAYS="direct sshfs oids hits report auto"

# measure VARIABLE=VALUE... -- CELL...: adds to the figures of the table.
measure() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    env AXES="$axes" "${settings[@]}" "$here/paramedic.sh" "$to/$table.part" "$@"
}

# table NAME FIRST SECOND: begins a table over these two axes; fails if its figures are there.
table() {
    table=$1 axes="$2 $3"
    [ ! -e "$to/$table.figures" ] && rm -f "$to/$table.part"
}

made() {
    mv "$to/$table.part" "$to/$table.figures"
}

if table links rate delay; then
    measure -- {0,10,50,100}ms/1gbit {0,10,50,100}ms/100mbit
    made
fi
if table slow rate delay; then
    measure QUERIES=12 -- 50ms/10mbit
    made
fi
if table ratios rate ratio; then
    for ratio in 1:1 3:1 7:1; do
        measure RATIO=$ratio -- 10ms/1gbit 50ms/100mbit
    done
    made
fi
if table queries rate queries; then
    for queries in 10 100 1000; do
        measure QUERIES=$queries TARGETS=500 -- 50ms/100mbit
    done
    made
fi
if table targets rate targets; then
    for targets in 50 500 5000; do
        measure TARGETS=$targets -- 50ms/100mbit
    done
    made
fi
if table encrypted link delay; then
    measure -- {0,10,50,100}ms/100mbit/encrypted
    made
fi
for shown in "links rate delay" "slow rate delay" "encrypted link delay" "ratios rate ratio" "queries rate queries" "targets rate targets"; do
    read -r table first second <<<"$shown"
    echo "## $table"
    python3 "$here/paramedic.py" "$to/$table.figures" "$to" "$first" "$second"
done >"$to/tables.md"
