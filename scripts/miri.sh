#!/bin/bash
# Looks for undefined behaviour in the unit tests of the crates with `unsafe` code: miri.sh
#
# Miri runs those of db, of the pure parts of mpi, and of the engine with plain Rust and with AVX2, whose
# instructions it interprets. It knows few instructions of AVX-512 and no assembly: the engine's tests run with
# all instructions of this processor under the address sanitizer, too, and db's, which map files.
#
# Needs a nightly compiler with `rustup component add miri rust-src --toolchain nightly`.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/miri
host=$(rustc -vV | sed -n 's/^host: //p')

cargo +nightly miri --version >/dev/null || {
    echo "miri: rustup component add miri rust-src --toolchain nightly" >&2
    exit 1
}

miri() { # PACKAGE [OPTION OF THE TESTS...]
    local package=$1
    shift
    echo "== miri, $package${RUSTFLAGS:+, $RUSTFLAGS}"
    # Tests read files of the system and make temporary ones.
    MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --locked -p "$package" --lib -- "$@"
}

miri fleetblast-mpi
# Miri maps no huge pages.
miri fleetblast-db --skip load::pages::
miri fleetblast-engine
RUSTFLAGS="-C target-feature=+avx2,+bmi2,+lzcnt,+popcnt" miri fleetblast-engine

echo "== address sanitizer"
RUSTFLAGS=-Zsanitizer=address cargo +nightly test --locked --target "$host" \
    -p fleetblast-engine -p fleetblast-db --lib
