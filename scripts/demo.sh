#!/bin/bash
# Builds FleetBLAST and searches real proteins with it: three queries against the 20,000 UniProt
# proteins of Debian's mmseqs2-examples.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
make --no-print-directory build
fleetblast=${CARGO_TARGET_DIR:-target}/release/fleetblast
# BLAST+'s programs, and not FleetBLAST by their names.
blast=$(scripts/oracle.sh)

data=/usr/share/doc/mmseqs2/example-data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gzip -dc "$data/DB.fasta.gz" >"$work/proteins.fa"
# The first three queries of 200 to 400 residues.
gzip -dc "$data/QUERY.fasta.gz" | awk '
    /^>/ { header = $0; next }
    length($0) >= 200 && length($0) <= 400 && n < 3 { print header; print; n++ }
' >"$work/queries.fa"
"$blast/makeblastdb" -dbtype prot -in "$work/proteins.fa" -out "$work/proteins" \
    -title "UniProt proteins" >/dev/null

echo
echo "== three queries against 20,000 proteins: the best three hits of each"
columns="7 qaccver saccver pident length evalue bitscore stitle"
"$fleetblast" blastp -query "$work/queries.fa" -db "$work/proteins" -evalue 1e-5 \
    -max_target_seqs 5 -outfmt "$columns" |
    awk -F '\t' '/^#/ { n = 0; if (/Query|Fields|hits/) print; next } n++ < 3'

echo
echo "== the best alignment of the first query, as BLAST+ prints it"
"$fleetblast" blastp -query "$work/queries.fa" -db "$work/proteins" -evalue 1e-5 \
    -num_descriptions 5 -num_alignments 1 >"$work/pairwise.txt"
sed -n '/^Query= /,/^Effective/p;/^Effective/q' "$work/pairwise.txt"

echo
"$fleetblast" blastp -query "$work/queries.fa" -db "$work/proteins" -outfmt 6 >"$work/fleet.out"
"$blast/blastp" -query "$work/queries.fa" -db "$work/proteins" -outfmt 6 >"$work/blast.out"
if cmp "$work/fleet.out" "$work/blast.out"; then
    echo "== all $(wc -l <"$work/blast.out") hits are the same bytes as from $("$blast/blastp" -version | head -n 1)"
else
    echo "== the hits differ from BLAST+'s: this is a bug, please report it" >&2
    exit 1
fi

echo
if "$fleetblast" --version | grep -x " Built with MPI" >/dev/null; then
    # Open MPI refuses root, and more ranks than cores, unless told otherwise.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    mpirun -n 2 "$fleetblast" blastp -query "$work/queries.fa" -db "$work/proteins" -outfmt 6 \
        -num_threads 1 -out "$work/ranks.out"
    cmp "$work/ranks.out" "$work/blast.out"
    echo "== and from two processes: mpirun -n 2 fleetblast blastp ... (docs/cluster.md)"
else
    echo "== this build is without MPI: scripts/setup.sh mpi installs what that needs, and 'make build' then"
    echo "   builds with it, for: mpirun -n 2 fleetblast blastp ... (docs/cluster.md)"
fi
echo "== the program is $fleetblast; 'make install' puts it into your path"
