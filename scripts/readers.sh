#!/bin/bash
# Reads FleetBLAST's reports with programs of others: xmllint with NCBI's DTD and XSD, Biopython,
# csv and json of Python, samtools, and blast_formatter of BLAST+. Each must accept or refuse a
# report as it does that of BLAST+ 2.12.0 for the same search, and find the same values in both.
# Reports with -compat of later releases are read, too. Needs what `setup.sh readers` installs, and
# a built program.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
fleetblast=$target/release/fleetblast
# Newer ones than Debian 12's do not read format 0, older ones not XML2.
newest=$target/readers/bin/python
debian=/usr/bin/python3
scripts=$PWD/scripts/readers
proteins=/usr/share/doc/mmseqs2/example-data
phage=/usr/share/doc/bowtie2/examples

need() { # WHAT COMMAND...
    "${@:2}" >/dev/null 2>&1 ||
        { echo "readers: $1 is missing: make build, scripts/setup.sh readers" >&2; exit 1; }
}
need "$fleetblast" test -x "$fleetblast"
need xmllint xmllint --version
need samtools samtools --version
need "Bio.Blast.parse of $newest" "$newest" -c 'from Bio.Blast import parse'
need "blast-text of Bio.SearchIO of $debian" "$debian" -c 'import Bio.SearchIO.BlastIO.blast_text'
schemas=$("$newest" -c 'import Bio.Entrez; print(Bio.Entrez.__path__[0])')
need "NCBI's XSD in $schemas" test -r "$schemas/XSDs/NCBI_BlastOutput2.xsd"
need "NCBI's DTD in $schemas" test -r "$schemas/DTDs/NCBI_BlastOutput.dtd"
oracle=$(scripts/oracle.sh)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/links" "$work/data" "$work/reports"
for name in $("$fleetblast" generate links); do
    ln -s "$fleetblast" "$work/links/$name"
done
"$newest" "$scripts/data.py" "$proteins/DB.fasta.gz" "$phage/reference/lambda_virus.fa.gz" \
    "$phage/reads/longreads.fq.gz" "$work/data"
for kind in prot nucl; do
    make=("$oracle/makeblastdb" -in "$work/data/$kind.fa" -dbtype $kind -out "$work/data/$kind")
    "${make[@]}.plain" >/dev/null
    "${make[@]}.parsed" -parse_seqids -taxid_map "$work/data/taxids" >/dev/null
done
# Databases and the names of taxa.
export BLASTDB=$work/data

columns() { # FORMAT
    case $mode-$1 in
    parsed-6 | parsed-7 | parsed-10) echo "$1 std staxids sscinames stitle" ;;
    *) echo "$1" ;;
    esac
}
# Runs a program by its name, so that command lines in reports are the same on both sides.
on_side() { # SIDE COMMAND...
    local path=$work/links
    [ "$1" = ours ] || path=$oracle
    FLEETBLAST_COMPAT=$release PATH=$path:$PATH timeout 120 "${@:2}"
}
search() { # SIDE FORMAT
    local options=(-query "$work/data/$query.$mode" -evalue 0.01)
    if [ "$mode" = parsed ]; then
        options+=(-db "$database.parsed" -parse_deflines)
    else
        options+=(-db "$database.plain")
    fi
    [ "$program-$mode" != psiblast-plain ] || options+=(-num_iterations 2)
    options+=(-outfmt "$(columns "$2")" -out "$2")
    (cd "$1" && on_side "$1" "$program" "${options[@]}" 2>"$2.stderr") ||
        echo "FAILED  $name: format $2 of $1: exit code $?: $(head -n 1 "$1/$2.stderr")"
}
. "$scripts/checks.sh"

check_all() {
    local release program query database mode name format formats
    # With the reports of BLAST+ 2.12.0 those of later releases are compared, too.
    for release in 2.12.0 2.16.0 2.17.0; do
        while read -r program query database; do
            for mode in plain parsed latin single; do
                name="$release $program $mode"
                mkdir -p "$work/reports/$release/$program/$mode"/{ours,theirs,archives}
                cd "$work/reports/$release/$program/$mode"
                formats="0 5 6 7 10 13 14 15 16"
                # XML of 2.17.0 has no characters beyond ASCII.
                [ "$release-$mode" != 2.17.0-latin ] || formats="0 6 7 10 13 15"
                [ "$program" != blastn ] || formats+=" 17"
                for format in $formats; do
                    search ours "$format"
                    [ "$release" != 2.12.0 ] || search theirs "$format"
                    check_format "$format"
                done
                [ "$release" != 2.12.0 ] || check_archives
            done
        done <<<"blastp prot prot
            blastn nucl nucl
            blastx nucl prot
            tblastn prot nucl
            tblastx nucl nucl
            psiblast prot prot"
    done
    cd "$work/reports/2.12.0/blastn/parsed"
    check_refusals
    "$debian" "$scripts/compare.py" "$work/reports" "SearchIO blast-text"
    "$newest" "$scripts/compare.py" "$work/reports"
}

check_all | tee "$work/checks"
echo
echo "What readers refuse or read in part, and what archives change, in BLAST+'s reports, too:"
sed -nE "s/^ok +[^ ]+ ([^ ]+) ([^ ]+): (.*) AS BLAST\+'S.*/\3\t\2\t\1/p" "$work/checks" |
    sed 's/blast_formatter of [^:]*/blast_formatter/' | sort -u | awk -F '\t' '
    $1 != what { printf "%s%s", end, $1; end = "\n"; what = $1; mode = "" }
    $2 != mode { printf "; %s:", $2; mode = $2 }
    { printf " %s", $3 }
    END { print "" }'
passed=$(grep -c '^ok ' "$work/checks" || true)
failed=$(grep -c '^FAILED ' "$work/checks" || true)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
