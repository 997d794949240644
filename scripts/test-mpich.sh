#!/bin/bash
# Builds FleetBLAST with MPICH, in a target directory of its own, and tests it: the module on MPI, processes that load a
# database together, and a part of the differential table on processes, in many shapes; SEED chooses the cases.
# Needs MPICH and libclang (Debian: scripts/setup.sh mpich; mpicc and mpirun stay Open MPI's), NCBI BLAST+, and the data of
# `make test`. On one host: MPICH 4.0.2 hangs in MPI_Finalize where three ranks talk over TCP.
set -euo pipefail
cd "$(dirname "$0")/.."
for command in mpicc.mpich mpiexec.mpich; do
    command -v "$command" >/dev/null || { echo "test-mpich: needs $command; scripts/setup.sh mpich installs it" >&2; exit 1; }
done
scripts/oracle.sh >/dev/null

crates/mpi/tests/run.sh mpich
# The directory in which that built the module.
target=$(realpath -m "${CARGO_TARGET_DIR:-target}/mpi-mpich")
with_mpich() {
    CARGO_TARGET_DIR=$target MPICC=mpicc.mpich MPIRUN=mpiexec.mpich "$@"
}
with_mpich cargo test --locked -p fleetblast-cli --features mpi --test black_box broadcast::
program=$target/debug/fleetblast
ldd "$program" | grep libmpich >/dev/null || { echo "test-mpich: $program is not linked with MPICH" >&2; exit 1; }
MPIRUN=mpiexec.mpich cargo run --locked -p fleetblast-difftest -- \
    table --quick --mpi --sample "${SEED:-1}" --part 1/8 --program "$program"
echo "test-mpich: all passed"
