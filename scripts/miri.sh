#!/bin/bash
# Looks for undefined behaviour in the unit tests of the crates with `unsafe` code: miri.sh
#
# Miri interprets the tests of mpi built without MPI, those of db that neither map files or
# huge pages nor set times of files, and a few of the engine, these with plain Rust and with AVX2: it
# knows few instructions of AVX-512 and no assembly, and would take far too long for all. The address
# sanitizer watches all unit tests of the engine and of db, with all instructions of this processor.
#
# Needs a nightly compiler with `rustup component add miri rust-src --toolchain nightly`.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=$PWD/target/miri
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

# Tests of modules with `unsafe` code that do little. Others repeat thousands of times.
engine=(
    nucleotide::gapped::transpose::tests::rows_become_columns
    nucleotide::seeds::hopeless::tests::groups_without_all_their_rows_are_refused
    protein::composition::logs::tests::zero_and_subnormal_numbers_are_left_to_the_library
    protein::traceback::sweep::tests::rows_are_as_defined_whatever_the_instructions
    xdrop::traced::tests::a_tie_between_an_open_gap_and_a_new_one_keeps_the_open_one
    xdrop::traced::tests::ties_prefer_pairs_and_extended_gaps
)
for test in "${engine[@]}"; do
    # A name that no test has would be passed over in silence.
    grep -rq "fn ${test##*::}()" crates/engine/src || { echo "miri: no test $test" >&2; exit 1; }
done

miri fleetblast-mpi
# Miri maps no files and no huge pages, and sets no times of files.
miri fleetblast-db --skip load::pages:: --skip mapped:: --skip stamp:: --skip taxdb::
miri fleetblast-engine --exact "${engine[@]}"
RUSTFLAGS="-C target-feature=+avx2,+bmi2,+lzcnt,+popcnt" miri fleetblast-engine --exact "${engine[@]}"

echo "== address sanitizer"
RUSTFLAGS=-Zsanitizer=address cargo +nightly test --locked --target "$host" \
    -p fleetblast-engine -p fleetblast-db --lib
