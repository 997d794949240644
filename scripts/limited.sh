#!/bin/bash
# Runs a suite of tests for so long at most that a build machine does not lose patience; of one that hangs the last lines name the
# tests that did not end. Its output comes in one piece at the end, from a file: what a test leaves behind may hold a pipe open.
# Lines about what was not tested are added to the file $NOT_TESTED, if that is set.
set -uo pipefail

limit=1200
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1
code=$?
cat "$log"
[ -z "${NOT_TESTED:-}" ] || grep -o 'NOT TESTED.*' "$log" >>"$NOT_TESTED"
if [ "$code" = 124 ] || [ "$code" = 137 ]; then
    echo "not over after $limit s: $*; these tests ran when it was ended:"
    sed -n 's/^test \(.*\) has been running for over 60 seconds$/\1/p' "$log" |
        while read -r name; do
            grep -q "^test $name \.\.\. " "$log" || echo "    $name"
        done
fi
exit "$code"
