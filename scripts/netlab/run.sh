#!/bin/bash
# Runs the tests on several hosts, one after another: run.sh [TEST...]. See lib.sh for what they need.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
failed=()
[ $# -gt 0 ] || set -- same-bytes host-killed slow-link broadcast
for test; do
    echo "== $test"
    "$here/$test.sh" || failed+=("$test")
done
[ ${#failed[@]} -eq 0 ] || { echo "test-netlab: FAILED: ${failed[*]}" >&2; exit 1; }
echo "test-netlab: all passed"
