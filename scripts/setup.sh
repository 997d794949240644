#!/bin/bash
# Installs what the tests and the demo need beside Rust: NCBI BLAST+ (the oracle, and makeblastdb),
# real proteins and a phage with reads of it, and a C compiler for crates that build C code; with the word `mpi`, also Open
# MPI and libclang, which reads its header, unless some MPI is there; with `mpich` or `slurm`, what
# scripts/test-mpich.sh or scripts/test-slurm.sh need; with `netlab` or `nfs`, what scripts/netlab or scripts/test-nfs.sh
# need; with `peers`, the programs that a benchmark puts beside FleetBLAST; with `clients` or `readers`, those of
# scripts/clients.sh or scripts/readers.sh. Does nothing for what is there already. Fails where
# BLAST+ 2.12.0 is not to be had, unless FLEETBLAST_TESTS_WITHOUT_ORACLE=1.
set -euo pipefail
oracle=$(dirname "$0")/oracle.sh
without=${FLEETBLAST_TESTS_WITHOUT_ORACLE:-}

wanted=()
needs() {
    local package=$1 program
    shift
    for program; do
        command -v "$program" >/dev/null || { wanted+=("$package"); return; }
    done
}
[ "$without" = 1 ] || "$oracle" >/dev/null 2>&1 || wanted+=(ncbi-blast+)
[ -d /usr/share/doc/mmseqs2/example-data ] || wanted+=(mmseqs2-examples)
[ -d /usr/share/doc/bowtie2/examples ] || wanted+=(bowtie2-examples)
needs build-essential cc make
# Runs scripts/check-words.
needs python3 python3
libclang() {
    # Not libclang-cpp, which other packages bring.
    compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null ||
        compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null || wanted+=(libclang-dev)
}
python_needs() { # PACKAGE:MODULE...
    local package
    for package; do
        /usr/bin/python3 -c "import ${package#*:}" 2>/dev/null || wanted+=("python3-${package%:*}")
    done
}
openmpi() {
    needs libopenmpi-dev mpicc
    needs openmpi-bin mpirun
    libclang
}
case ${1:-} in
"") ;;
mpi) openmpi ;;
mpich)
    needs libmpich-dev mpicc.mpich
    needs mpich mpiexec.mpich
    libclang
    ;;
slurm)
    openmpi
    needs slurm-wlm slurmctld slurmd srun sbatch
    needs munge munged
    ;;
netlab)
    openmpi
    needs iproute2 ip
    needs util-linux nsenter unshare
    ;;
nfs)
    openmpi
    needs iproute2 ip
    needs util-linux unshare
    needs e2fsprogs mke2fs
    ;;
peers)
    needs diamond-aligner diamond
    needs mmseqs2 mmseqs
    ;;
clients)
    needs kleborate kleborate
    needs kaptive kaptive.py
    needs python3-pyani average_nucleotide_identity.py
    needs virulencefinder virulencefinder.py
    needs proteinortho proteinortho
    python_needs biopython:Bio pandas:pandas venv:ensurepip
    ;;
readers)
    needs libxml2-utils xmllint
    needs samtools samtools
    python_needs biopython:Bio venv:ensurepip
    ;;
*)
    echo "setup: no word '$1': mpi, mpich, slurm, netlab, nfs, peers, clients or readers" >&2
    exit 2
    ;;
esac

if [ ${#wanted[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "setup: missing ${wanted[*]}, and no apt-get here to install them" >&2
        exit 1
    fi
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    echo "setup: installing ${wanted[*]}"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${wanted[@]}"
fi

if [ "$without" = 1 ]; then
    "$oracle" >/dev/null || echo "setup: NOT TESTED: all that is compared with BLAST+, since FLEETBLAST_TESTS_WITHOUT_ORACLE=1" >&2
else
    "$oracle" >/dev/null || { echo "setup: tests compare with BLAST+; FLEETBLAST_TESTS_WITHOUT_ORACLE=1 does without" >&2; exit 1; }
fi

# Clients that Debian lacks, beside what Debian has of their needs.
target=${CARGO_TARGET_DIR:-target}
venv=$target/clients
if [ "${1:-}" = clients ] && [ ! -x "$venv/bin/mob_typer" ]; then
    /usr/bin/python3 -m venv --system-site-packages "$venv"
    "$venv/bin/pip" install -q --no-deps mob_suite
fi
if [ "${1:-}" = clients ] && [ ! -x "$venv/bin/pgv-blast" ]; then
    # Needs newer versions than Debian has.
    "$venv/bin/pip" install -q pygenomeviz
fi
# The newest Biopython, beside Debian's: it reads XML2, and brings NCBI's schemas.
venv=$target/readers
if [ "${1:-}" = readers ] && ! "$venv/bin/python" -c 'from Bio.Blast import parse' 2>/dev/null; then
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install -q 'biopython>=1.83'
fi
