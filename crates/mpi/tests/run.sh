#!/bin/bash
# Runs the self test on several ranks, with every MPI library that is here:
#     crates/mpi/tests/run.sh [openmpi] [mpich]
# LARGE=1 adds what has more than 2 GiB (needs 12 GB of memory, 3 GB of disk).
# A library that is named must be there; of those not named, what is missing is said at the end.
# Needs mpicc.NAME, its launcher, and libclang to build. The test of a full file system needs a mount of its own:
# root, or user namespaces.
set -u
cd "$(dirname "$0")/../../.." || exit 1
export RUST_BACKTRACE=0
target=${CARGO_TARGET_DIR:-target}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0
untested=()

# What starts ranks with a library: launcher NAME, into the array `launch`; the number of ranks follows.
launcher() {
    case $1 in
    openmpi)
        launch=(mpirun.openmpi --oversubscribe)
        [ "$(id -u)" -ne 0 ] || launch+=(--allow-run-as-root)
        launch+=(-n)
        ;;
    mpich) launch=(mpiexec.mpich -n) ;;
    *) echo "run.sh: no library $1 (openmpi, mpich)" >&2; exit 1 ;;
    esac
}

# expect STATUS TEXT COMMAND...: the command ends with this status within two minutes, and says TEXT if there is one.
# The status `bad` is any but success and a timeout.
expect() {
    local status=$1 text=$2 got
    shift 2
    timeout -k 5 120 "$@" >"$scratch/out" 2>&1
    got=$?
    [ "$status" = bad ] && [ $got -ne 0 ] && [ $got -lt 124 ] && status=$got
    if [ "$got" != "$status" ] || { [ -n "$text" ] && ! grep -q -- "$text" "$scratch/out"; }; then
        failures=$((failures + 1))
        echo "FAILED: status $got, not $status with '$text': $*"
        tail -n 20 "$scratch/out"
        return 1
    fi
}

# cases PROGRAM: what must work, with 1, 2 and 4 ranks and pieces of two sizes; then how jobs end.
cases() {
    local program=$1 ranks piece case
    expect 0 'launch: None' env -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE "$program" launch
    expect 0 'rank 0 of 1' "$program" world
    for ranks in 1 2 4; do
        expect 0 "launch: Some($ranks)" "${launch[@]}" $ranks "$program" launch
        expect 0 "rank $((ranks - 1)) of $ranks" "${launch[@]}" $ranks "$program" world
        for case in messages groups memory files; do
            for piece in 30000 536870912; do
                rm -rf "$scratch/files" && mkdir "$scratch/files"
                expect 0 "$case: all ranks at the end" "${launch[@]}" $ranks "$program" $case $piece "$scratch/files"
            done
        done
        full "$program" $ranks
    done
    if [ -n "${LARGE:-}" ]; then
        rm -rf "$scratch/files" && mkdir "$scratch/files"
        expect 0 'large: all ranks at the end' \
            "${launch[@]}" 2 "$program" large 536870912 "$scratch/files"
    else
        untested+=("more than 2 GiB (LARGE=1)")
    fi
    expect 5 '' "${launch[@]}" 3 "$program" exit 5
    expect 7 '' "${launch[@]}" 3 "$program" abort 7
    # MPICH may tell 9, of the ranks that it ended, instead.
    expect bad '' "${launch[@]}" 3 "$program" leave 6
    expect 101 'on purpose' "${launch[@]}" 3 "$program" panic
}

# full PROGRAM RANKS: writes to a file system of 8 MB end with errors.
full() {
    local mount='mount -t tmpfs -o size=8m none "$0" && exec "$@"'
    mkdir -p "$scratch/full"
    if ! unshare "${namespace[@]}" sh -c "$mount" "$scratch/full" true 2>/dev/null; then
        untested+=("full file system (no right to mount one)")
        return
    fi
    expect 0 'full: all ranks at the end' unshare "${namespace[@]}" sh -c "$mount" "$scratch/full" \
        "${launch[@]}" "$2" "$1" full 536870912 "$scratch/full"
}

namespace=(--mount)
[ "$(id -u)" -eq 0 ] || namespace+=(--map-root-user)

tested=()
for name in ${*:-openmpi mpich}; do
    launcher "$name"
    if ! command -v "mpicc.$name" >/dev/null || ! command -v "${launch[0]}" >/dev/null; then
        if [ $# -gt 0 ]; then
            echo "run.sh: mpicc.$name or ${launch[0]} is missing" >&2
            exit 1
        fi
        untested+=("$name (mpicc.$name or ${launch[0]} is missing)")
        continue
    fi
    echo "run.sh: $name"
    # A directory of its own: the binding to MPI is generated once.
    if ! CARGO_TARGET_DIR="$target/mpi-$name" MPICC="mpicc.$name" \
        cargo build --quiet -p fleetblast-mpi --features mpi --examples; then
        echo "run.sh: no build with $name" >&2
        exit 1
    fi
    cases "$target/mpi-$name/debug/examples/selftest"
    tested+=("$name")
done

if [ ${#tested[@]} -eq 2 ]; then
    # Each library's program under the other's launcher.
    for name in "${tested[@]}"; do
        [ "$name" = openmpi ] && launcher mpich || launcher openmpi
        expect 3 'started 2 processes, but each of them is alone' \
            "${launch[@]}" 2 "$target/mpi-$name/debug/examples/selftest" world
    done
fi
case " ${tested[*]} " in
*" openmpi "*)
    launcher openmpi
    program=$target/mpi-openmpi/debug/examples/selftest
    expect 3 'before this process starts threads (it has 2)' "${launch[@]}" 1 "$program" threads
    rm -rf "$scratch/files" && mkdir "$scratch/files"
    expect 0 'files: all ranks at the end' env OMPI_MCA_io=romio321 \
        "${launch[@]}" 3 "$program" files 30000 "$scratch/files"
    expect 101 'Untrusted' env OMPI_MCA_io=ompio \
        "${launch[@]}" 3 "$program" files 30000 "$scratch/files"
    ;;
esac

printf 'run.sh: NOT TESTED: %s\n' "${untested[@]}" | sort -u | grep -v ': $'
if [ ${#tested[@]} -eq 0 ] || [ $failures -gt 0 ]; then
    echo "run.sh: $failures failures, tested: ${tested[*]:-nothing}" >&2
    exit 1
fi
echo "run.sh: all right with ${tested[*]}"
