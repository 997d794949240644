#!/bin/bash
# Shows FleetBLAST on real data in a few minutes: searches proteins and DNA, compares the reports
# with BLAST+'s, kills a job over MPI in the middle and resumes it, and measures times.
# The data are Debian's: 20,000 UniProt proteins (mmseqs2-examples) and the phage lambda with reads
# of it (bowtie2-examples). WORK=DIR keeps all files in DIR. With MPICH beside Open MPI:
# MPICC=mpicc.mpich MPIRUN=mpiexec.mpich make demo.
set -euo pipefail
cd "$(dirname "$0")/.."
mpirun=${MPIRUN:-mpirun}

scripts/setup.sh mpi
command -v "$mpirun" >/dev/null || {
    echo "demo: $mpirun is missing. MPIRUN=PROGRAM names the launcher of Open MPI or MPICH" >&2
    exit 1
}
make --no-print-directory build
fleetblast=$(realpath "${CARGO_TARGET_DIR:-target}/release/fleetblast")
# BLAST+'s programs, and not FleetBLAST by their names.
blast=$(scripts/oracle.sh)

proteins=/usr/share/doc/mmseqs2/example-data
phage=/usr/share/doc/bowtie2/examples
for file in "$proteins/DB.fasta.gz" "$proteins/QUERY.fasta.gz" \
    "$phage/reference/lambda_virus.fa.gz" "$phage/reads/reads_1.fq.gz"; do
    [ -f "$file" ] || {
        echo "demo: $file is missing. Install the packages mmseqs2-examples and bowtie2-examples" >&2
        echo "      of Debian or Ubuntu: sudo apt-get install mmseqs2-examples bowtie2-examples" >&2
        exit 1
    }
done
if [ -n "${WORK:-}" ]; then
    mkdir -p "$WORK"
    work=$(realpath "$WORK")
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
cd "$work"

exec 3>&1
title() { printf '\n== %s\n' "$*"; }
# Prints a command as one would type it, also where its output goes elsewhere, and runs it.
show() {
    local word
    printf '$ %s' "$1" >&3
    for word in "${@:2}"; do
        case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done >&3
    echo >&3
    "$fleetblast" "$@"
}
rows=()
# Runs a command for BLAST+ and for FleetBLAST, compares the reports and notes the times.
compare() {
    local what=$1 program=$2 start middle end
    shift 2
    start=$(date +%s%N)
    "$blast/$program" "$@" -num_threads 1 >blast.out
    middle=$(date +%s%N)
    "$fleetblast" "$program" "$@" -num_threads 1 >fleet.out
    end=$(date +%s%N)
    same fleet.out blast.out "$what: $(wc -l <blast.out) lines"
    rows+=("$what $((middle - start)) $((end - middle))")
}
# Says that two reports have the same bytes.
same() {
    cmp "$1" "$2" || {
        echo "demo: the reports differ. This is a bug, please report it with these files: $work" >&2
        trap - EXIT
        exit 1
    }
    echo "same bytes as $version: $3"
}
version=$("$blast/blastp" -version | sed -n 's/^blastp: /BLAST+ /p')

title "1. Proteins: 100 queries against 20,000 proteins"
gzip -dc "$proteins/DB.fasta.gz" >proteins.fa
gzip -dc "$proteins/QUERY.fasta.gz" | awk '/^>/ { n++ } n <= 100' >queries.fa
show makeblastdb -in proteins.fa -dbtype prot -out proteins -title "UniProt proteins" >/dev/null
show blastp -query queries.fa -db proteins -evalue 1e-5 -max_target_seqs 5 \
    -outfmt "7 qaccver saccver pident length evalue bitscore" >table.txt
# The best three hits of the first three queries.
awk -F '\t' '/^# Query/ { if (++queries > 3) exit; n = 0 }
    /^#/ { if (/Query|Fields|hits/) print; next } n++ < 3' table.txt
compare "blastp, 100 proteins, table" blastp -query queries.fa -db proteins -outfmt 6
cp blast.out expected.txt
awk '/^>/ { n++ } n <= 10' queries.fa >ten.fa
compare "blastp, 10 proteins, alignments" blastp -query ten.fa -db proteins -evalue 1e-5

title "2. DNA: 10,000 reads against the phage lambda"
gzip -dc "$phage/reference/lambda_virus.fa.gz" >lambda.fa
gzip -dc "$phage/reads/reads_1.fq.gz" | awk 'NR % 4 == 1 { print ">" substr($1, 2) } NR % 4 == 2' >reads.fa
show makeblastdb -in lambda.fa -dbtype nucl -out lambda >/dev/null
compare "megablast, 10,000 reads, table" blastn -query reads.fa -db lambda -outfmt 6
compare "blastn, 10,000 reads, table" blastn -task blastn -query reads.fa -db lambda -outfmt 6

title "3. Two processes over MPI; one is killed in the middle; the job is resumed"
if ! "$fleetblast" --version | grep -qx " Built with MPI"; then
    echo "demo: this build is without MPI: run scripts/setup.sh mpi, then make demo again" >&2
    exit 1
fi
# Open MPI refuses root, and more ranks than cores, without these; MPICH needs nothing.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
job=("$mpirun" -n 2 "$fleetblast" blastp -query queries.fa -db proteins -outfmt 6 -num_threads 1
    -block_residues 10000 -checkpoint kept -out hits.txt)
echo "\$ $mpirun -n 2 fleetblast blastp ${job[*]:5}"
# Bytes of finished blocks in the checkpoint.
kept() {
    { find kept -type f ! -name job ! -name lock -printf '%s\n' 2>/dev/null || true; } |
        awk '{ sum += $1 } END { print sum + 0 }'
}
# The process that is rank 1 of the job in this directory, as Open MPI and MPICH number ranks.
rank_1() {
    local process
    for process in /proc/[0-9]*; do
        if [ "$process/cwd" -ef . ] &&
            grep -szqxE '(OMPI_COMM_WORLD_RANK|PMI_RANK)=1' "$process/environ"; then
            echo "${process#/proc/}"
            return
        fi
    done
}
rm -rf kept hits.txt
"${job[@]}" >/dev/null 2>first.log &
launcher=$!
while kill -0 "$launcher" 2>/dev/null && [ "$(kept)" -lt 10000 ]; do
    sleep 0.05
done
victim=$(rank_1)
if [ -z "$victim" ] || ! kill -KILL "$victim"; then
    echo "demo: the job ended before it could be killed:" >&2
    cat first.log >&2
    exit 1
fi
wait "$launcher" || true
if [ -s hits.txt ]; then
    echo "demo: the job ended before the signal came; run make demo again" >&2
    exit 1
fi
echo "process $victim got SIGKILL; the job has ended without a report. The checkpoint has $(kept) bytes"
echo "\$ $mpirun -n 2 fleetblast blastp ${job[*]:5} -resume"
"${job[@]}" -resume
same hits.txt expected.txt "the resumed job"

title "4. Times with one thread on $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)"
printf '%-36s %10s %12s %7s\n' search BLAST+ FleetBLAST ratio
for row in "${rows[@]}"; do
    awk -v row="$row" 'BEGIN {
        n = split(row, word, " "); what = word[1]
        for (i = 2; i <= n - 2; i++) what = what " " word[i]
        printf "%-36s %8.2f s %10.2f s %6.1fx\n", what, word[n - 1] / 1e9, word[n] / 1e9, word[n - 1] / word[n]
    }'
done
title "The program is $fleetblast. 'make install' installs it; docs/tutorial.md goes on from here"
