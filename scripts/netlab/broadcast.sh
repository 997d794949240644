#!/bin/bash
# Loading the database together: four hosts that each hold all of it read each byte once and send it to the three others.
# The program's own counts are checked against what crossed the links, which without it is little.
. "$(dirname "$0")/lib.sh"
data 5
expect expected -outfmt 6
lab up --site A=1 --site B=1 --site C=1 --site D=1 --delay '*=1ms'
shape=(-outfmt 6 -out report -partitions 8 -replicas 4 -timing t.json)
residues=$(stat -c %s "$work/db.psq")
counted() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["loading"][sys.argv[2]])' "$work/t.json" "$1"
}
# between WHAT LEAST NUMBER MOST
between() {
    { [ "$2" -le "$3" ] && [ "$3" -le "$4" ]; } || fail "$1: $3 bytes, not $2 to $4"
    echo "ok $name: $1: $3 bytes"
}

ranks -n 4 -- "${shape[@]}" -loader map || fail "-loader map: exit code $?"
same expected report "-loader map"
between "crossed the links without loading together" 1000 "$(bytes --reset)" $((residues / 4))
rm "$work/report"

ranks -n 4 -- "${shape[@]}" -loader broadcast || fail "-loader broadcast: exit code $?"
same expected report "-loader broadcast"
crossed=$(bytes)
# With the offsets of all sequences, four bytes each; frames add to what crosses.
between "read by all hosts" "$residues" "$(counted bytes_read)" $((residues + 200000))
between "received by all hosts" $((3 * residues)) "$(counted bytes_received)" $((3 * (residues + 200000)))
between "crossed the links" $((3 * residues)) "$crossed" $((4 * residues))
