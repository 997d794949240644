#!/bin/bash
# Real programs that call BLAST+, each run twice, with BLAST+ first in PATH and with FleetBLAST's links first: they must find
# the same. clients.sh [CLIENT...]; all of them without a word. Needs what `setup.sh clients` installs, and a built program.
# Genomes are those of $FLEETBLAST_DATA/genomes.fa.gz where it is there, else the sequences that Kleborate brings.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${CARGO_TARGET_DIR:-target}/release/fleetblast")
oracle=$(scripts/oracle.sh)
venv=$(realpath "${CARGO_TARGET_DIR:-target}")/clients
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/links" "$work/genomes" "$work/phages"

# Each link leaves a note of its call: a client that never called it has shown nothing.
for name in $("$program" generate links); do
    printf '#!/bin/sh\necho "$0" >>"%s"\nexec -a %s "%s" "$@"\n' "$work/called" "$name" "$program" |
        sed 's,^#!/bin/sh,#!/bin/bash,' >"$work/links/$name"
    chmod +x "$work/links/$name"
done

kleborate_data=$(dirname "$(/usr/bin/python3 -c 'import kleborate; print(kleborate.__file__)')")/data
genomes() {
    local genomes=${FLEETBLAST_DATA:-}/genomes.fa.gz
    if [ -r "$genomes" ]; then
        gzip -dc "$genomes" | awk -v to="$work" '
            /^>/ {
                file = ""
                if (/Klebsiella pneumoniae/) file = to "/genomes/klebsiella.fna"
                else if (/phage/) file = to "/phages/phage" ++n ".fna"
            }
            file { print >file }'
    else
        echo "NOT TESTED AS MEANT: no genomes.fa.gz: genes that Kleborate brings stand for a genome, parts of lambda for phages" >&2
        cat "$kleborate_data"/{clb_alleles,OmpK,QRDR_120}.fasta >"$work/genomes/klebsiella.fna"
        gzip -dc /usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz | awk -v to="$work/phages" '
            /^>/ { head = $0; next }
            { bases = bases $0 }
            END {
                third = int(length(bases) / 3)
                for (i = 0; i < 2; i++) print head "\n" substr(bases, 1 + i * third, 2 * third) >(to "/phage" i ".fna")
            }'
    fi
}

# What each client does, in a directory of its own; what it prints and the files in `found` are compared.
client_kleborate() { # blastn, many queries against an assembly
    kleborate -a "$work/genomes/klebsiella.fna" --resistance -o found/kleborate.txt --force_index
}
client_kaptive() { # blastn and tblastn, and makeblastdb
    local assembly
    assembly=$(/usr/bin/python3 -W ignore scripts/clients/kaptive_loci.py loci.gbk "$work"/{genomes,phages}/*.fna)
    cp "$assembly" assembly.fna
    kaptive.py -a assembly.fna -k loci.gbk -o found/kaptive -t 1
}
client_pyani() { # blastn: average nucleotide identity of fragments, with columns of its own
    average_nucleotide_identity.py -i "$work/phages" -o ani -m ANIb --nocompress --workers 2
    mv ani/*.tab ani/blastn_output/*.blast_tab found/
}
client_virulencefinder() { # blastn, XML
    mkdir database tmp
    cp "$kleborate_data/clb_alleles.fasta" database/clb.fsa
    printf 'clb\tclb\tcolibactin\n' >database/config
    printf 'gene:function:\n' >database/notes.txt
    virulencefinder.py -i "$work/genomes/klebsiella.fna" -o found -tmp tmp -mp "$(command -v blastn)" -p database -x
    # When it ran.
    sed -i 's/"run_info": {[^}]*}/"run_info": {}/' found/data.json
}
client_proteinortho_blastn() {
    proteinortho -project=nt -p=blastn+ -cpus=2 "$work"/phages/*.fna
    sort_graphs nt
}
client_proteinortho_blastp() {
    proteinortho -project=aa -p=blastp+ -cpus=2 "$work/proteins"/*.faa
    sort_graphs aa
}
client_proteinortho_tblastx() {
    proteinortho -project=tx -p=tblastx+ -cpus=2 "$work"/phages/*.fna
    sort_graphs tx
}
# Its threads write in the order in which they end.
sort_graphs() {
    for file in "$1".*; do
        sort "$file" >"found/$file"
    done
    rm -f found/*.info found/*.html
}
client_biopython() { # its command lines, and its reading of XML
    /usr/bin/python3 -W ignore scripts/clients/biopython_blast.py "$(ls "$work"/phages/*.fna | head -1)" "$work/genomes/klebsiella.fna" found
}
client_mobsuite() { # tblastn, all targets: what it runs for relaxases, and its reading of the table
    /usr/bin/python3 -W ignore scripts/clients/kleborate_proteins.py "$kleborate_data" >proteins.faa
    "$venv/bin/python" -W ignore scripts/clients/mob_suite_tblastn.py proteins.faa "$work/genomes/klebsiella.fna" found
}
client_amrfinder() { # the command lines of AMRFinderPlus (its amrfinder.cpp and seq.hpp), whose database no registry has
    local genome=$work/genomes/klebsiella.fna
    local search=(-comp_based_stats 0 -seg no -max_target_seqs 10000 -dbsize 10000)
    local strict=(-evalue 1e-10 -word_size 5) loose=(-evalue 1 -word_size 3)
    local names='qseqid sseqid qstart qend qlen sstart send slen qseq sseq'
    local reversed='sseqid qseqid sstart send slen qstart qend qlen sseq qseq'
    /usr/bin/python3 -W ignore scripts/clients/kleborate_proteins.py "$kleborate_data" >AMRProt.fa
    makeblastdb -in AMRProt.fa -dbtype prot
    # Contigs that are short enough for blastx.
    awk '/^>/ { n = 0; print; next } (n += length($0)) <= 90000' "$genome" >contigs.fna
    blastp -query AMRProt.fa -db AMRProt.fa "${search[@]}" "${strict[@]}" -task blastp-fast \
        -num_threads 2 -mt_mode 1 -outfmt "6 $reversed" -out found/blastp
    blastx -query contigs.fna -db AMRProt.fa "${search[@]}" "${strict[@]}" -query_gencode 11 \
        -num_threads 2 -mt_mode 1 -outfmt "6 $reversed" -out found/blastx
    tblastn -subject "$genome" -query AMRProt.fa "${search[@]}" "${strict[@]}" -task tblastn-fast \
        -window_size 15 -threshold 100 -db_gencode 11 -outfmt "6 $names" -out found/tblastn
    tblastn -subject "$genome" -query AMRProt.fa "${search[@]}" "${loose[@]}" \
        -window_size 15 -threshold 100 -db_gencode 11 -outfmt "6 $names" -out found/tblastn-slow
}
client_pygenomeviz() { # tblastx, genomes against each other
    "$venv/bin/python" -W ignore scripts/clients/genbank.py . "$work"/phages/*.fna
    "$venv/bin/pgv-blast" ./*.gbk -o out --seqtype protein --threads 2 --formats png
    mv out/*.tsv found/
}

proteins() {
    mkdir "$work/proteins"
    gzip -dc /usr/share/doc/mmseqs2/example-data/DB.fasta.gz |
        awk -v to="$work/proteins" '/^>/ { file = to "/half" (++n % 2) ".faa" } n <= 1200 { print >file }'
}

run() { # SIDE CLIENT PATH
    local at=$work/$1/$2
    mkdir -p "$at/found"
    ln -s "$PWD/scripts" "$at/scripts"
    (cd "$at" && PATH=$3:$PATH "client_$2") >"$at/log" 2>&1 || {
        echo "clients: $2 failed on the side of $1:" >&2
        tail -n 20 "$at/log" >&2
        return 1
    }
}

all=$(declare -F | sed -n 's/^declare -f client_//p')
genomes
proteins
failed=0
for client in ${*:-$all}; do
    : >"$work/called"
    if run BLAST+ "$client" "$oracle" && run FleetBLAST "$client" "$work/links"; then
        calls=$(wc -l <"$work/called")
        sides=("$work/BLAST+/$client/found" "$work/FleetBLAST/$client/found")
        lines=$(cat "${sides[1]}"/* | wc -l)
        if [ "$calls" = 0 ] || [ "$lines" = 0 ]; then
            echo "FAILED  $client: $calls calls, $lines lines: nothing was tried" >&2
            failed=1
        elif diff -r "${sides[@]}" >"$work/differences"; then
            echo "ok      $client: $calls calls of $(sort -u "$work/called" | xargs -n1 basename | xargs), the same $lines lines"
        else
            echo "FAILED  $client: $(grep -c '^[<>]' "$work/differences") lines differ:" >&2
            head -n 10 "$work/differences" | cut -c1-300 >&2
            failed=1
        fi
    else
        failed=1
    fi
done
exit $failed
