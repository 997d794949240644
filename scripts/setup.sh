#!/bin/bash
# Installs what the tests and the demo need beside Rust: NCBI BLAST+ (the oracle, and makeblastdb),
# real protein sequences, and a C compiler for crates that build C code; with the word `mpi`, also Open
# MPI and libclang, which reads its header, unless some MPI is there; with `peers`, the programs that a
# benchmark puts beside FleetBLAST. Does nothing for what is there already.
set -euo pipefail

wanted=()
command -v blastp >/dev/null && command -v makeblastdb >/dev/null || wanted+=(ncbi-blast+)
[ -d /usr/share/doc/mmseqs2/example-data ] || wanted+=(mmseqs2-examples)
command -v cc >/dev/null && command -v make >/dev/null || wanted+=(build-essential)
if [ "${1:-}" = mpi ]; then
    command -v mpicc >/dev/null && command -v mpirun >/dev/null || wanted+=(libopenmpi-dev openmpi-bin)
    # Not libclang-cpp, which other packages bring.
    compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null ||
        compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null || wanted+=(libclang-dev)
fi
if [ "${1:-}" = peers ]; then
    command -v diamond >/dev/null || wanted+=(diamond-aligner)
    command -v mmseqs >/dev/null || wanted+=(mmseqs2)
fi

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

version=$(blastp -version | head -n 1)
case $version in
*2.12.0*) ;;
*) echo "setup: WARNING: the oracle is '$version', not 2.12.0: differences are to be expected" >&2 ;;
esac
