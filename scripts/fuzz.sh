#!/bin/bash
# Runs every cargo-fuzz target for the given number of seconds.
# Needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

targets=$(cargo +nightly fuzz list)
[ -n "$targets" ] || { echo "fuzz: no targets in fuzz/" >&2; exit 1; }
for target in $targets; do
    echo "== fuzz $target, $seconds s"
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=4096
done
