#!/bin/bash
# Five hosts on two sites give BLAST+'s bytes, in two formats, however the report is written and the ranks are grouped.
. "$(dirname "$0")/lib.sh"
data 20
lab up --site A=3 --site B=2 --delay A-B=20ms --rate A-B=100mbit
for format in 0 6; do
    expect "expected$format" -outfmt $format
done
for shape in "merge -partitions 16" "individual -groups 2" "collective -replicas 2" "merge -groups 2 -segment_size 900"; do
    for format in 0 6; do
        # shellcheck disable=SC2086 # The shape is several words.
        ranks -n 5 -- -outfmt $format -out report -output $shape || fail "-output $shape: exit code $?"
        same "expected$format" report "format $format, -output $shape"
        rm "$work/report"
    done
done
crossed=$(bytes)
[ "$crossed" -gt 10000 ] || fail "only $crossed bytes crossed the link: these were not ranks on two sites"
