#!/bin/bash
# Runs every cargo-fuzz target for the given number of seconds: fuzz.sh [SECONDS] [TARGET...]
# Needs cargo-fuzz (cargo install cargo-fuzz). With a nightly compiler the targets run under the address sanitizer,
# without one they are built by the stable compiler and run without it.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
# Targets are built in the profile of the release; linking it all as one takes long, for each of them.
export CARGO_PROFILE_RELEASE_LTO=off
# C is checked, too, but for this, which gcc finds where zstd looks at a constant table.
export CFLAGS=-fno-sanitize-address-use-after-scope
seconds=${1:-60}
shift || true

cargo fuzz --version >/dev/null || { echo "fuzz: install cargo-fuzz: cargo install cargo-fuzz" >&2; exit 1; }
if cargo +nightly --version >/dev/null 2>&1; then
    fuzz() { cargo +nightly fuzz "$@"; }
    sanitizer=address
else
    fuzz() { RUSTC_BOOTSTRAP=1 cargo fuzz "$@"; }
    sanitizer=none
fi
targets=${*:-$(fuzz list)}
[ -n "$targets" ] || { echo "fuzz: no targets in fuzz/" >&2; exit 1; }
fuzz build -s "$sanitizer"
for target in $targets; do
    echo "== fuzz $target, $seconds s"
    fuzz run -s "$sanitizer" "$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 -print_final_stats=1
done
