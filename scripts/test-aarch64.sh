#!/bin/bash
# Tests the NEON kernels of 64-bit Arm CPUs on another CPU, under QEMU: the unit tests of the engine, then a part of the
# differential table with a program built without MPI, against BLAST+ of this host; SAMPLE chooses the cases. Installs
# nothing: what is missing is named. QEMU takes ten times as long as an Arm CPU or longer, and says nothing about speed.
# `scripts/test-aarch64.sh units` or `table` runs one half; UNITS chooses unit tests by parts of their names.
set -euo pipefail
cd "$(dirname "$0")/.."
triple=aarch64-unknown-linux-gnu
root=/usr/aarch64-linux-gnu

missing=()
has() { command -v "$1" >/dev/null; }
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ] || missing+=("rustup target add $triple")
has aarch64-linux-gnu-gcc || missing+=("apt-get install gcc-aarch64-linux-gnu")
[ -e $root/include/stdio.h ] || missing+=("apt-get install libc6-dev-arm64-cross")
has qemu-aarch64-static || missing+=("apt-get install qemu-user-static")
if [ ${#missing[@]} -gt 0 ]; then
    printf 'test-aarch64: needs: %s\n' "${missing[@]}" >&2
    exit 1
fi
scripts/oracle.sh >/dev/null

emulator="qemu-aarch64-static -L $root"
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

units() {
    # shellcheck disable=SC2086 # names of tests, divided by spaces
    cargo test --locked --target $triple -p fleetblast-engine --lib -- ${UNITS:-}
}

table() {
    cargo build --locked --target $triple -p fleetblast-cli
    local directory=$target/$triple/debug program
    program=$directory/fleetblast-in-qemu
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$directory/fleetblast" >"$program"
    chmod +x "$program"
    cargo build --locked -p fleetblast-difftest
    local searching
    # A build without the kernel would refuse its name.
    for searching in blastp blastn tblastn psiblast; do
        FLEETBLAST_KERNEL=neon "$target/debug/difftest" table $searching --quick \
            --sample "${SAMPLE:-1}" --part "${PART:-1/6}" --program "$program"
    done
}

case ${1:-all} in
all) units && table ;;
units | table) "$1" ;;
*) echo "test-aarch64: units or table, not $1" >&2; exit 2 ;;
esac
echo "test-aarch64: all passed"
