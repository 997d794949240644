# Checks of scripts/readers.sh that need no Python, in a directory with the reports of one search in
# `ours` and, of BLAST+ 2.12.0, in `theirs`. Each prints a line.

check() { # TEXT COMMAND...
    if "${@:2}"; then echo "ok      $1"; else echo "FAILED  $1"; fi
}

verdict() { # FORMAT FILE
    local rules=(--schema "$schemas/XSDs/NCBI_BlastOutput2.xsd")
    case $1 in
    5) rules=(--dtdvalid "$schemas/DTDs/NCBI_BlastOutput.dtd") ;;
    # The index includes the other files.
    14) rules+=(--xinclude --nofixup-base-uris) ;;
    esac
    if ! xmllint --noout --nonet "${rules[@]}" "$2" 2>"$work/message"; then
        echo refused
    elif grep -qa '<Hsp>' "$2"*; then
        echo valid
    else
        echo "without alignments"
    fi
}
# Accepted where BLAST+'s report of 2.12.0 is; the same verdict on both of that release.
check_schema() { # FORMAT
    local theirs ours text
    theirs=$(verdict "$1" "$work/reports/2.12.0/$program/$mode/theirs/$1")
    ours=$(verdict "$1" "ours/$1")
    text="$name: format $1, xmllint: $ours"
    if [ "$ours-$theirs" = refused-refused ]; then
        check "$text AS BLAST+'S REPORT" true
    elif [ "$ours" = valid ] && { [ "$theirs" = valid ] || [ "$release" != 2.12.0 ]; }; then
        check "$text" true
    else
        check "$text, but BLAST+'s report: $theirs; $(head -n 1 "$work/message")" false
    fi
}

# Headers and records, after a way through BAM.
through_bam() { # FILE
    samtools view --no-PG -b -o "$work/bam" "$1" && samtools quickcheck "$work/bam" &&
        samtools view -h --no-PG "$work/bam"
}
same_from_bam() { # FILE
    through_bam "$1" >"$work/again" && samtools view -h --no-PG "$1" | cmp - "$work/again" &&
        grep -q '^[^@]' "$work/again"
}
same_as_theirs() {
    through_bam theirs/17 | cmp - "$work/again"
}

check_format() { # FORMAT
    case $1 in
    5 | 14 | 16) check_schema "$1" ;;
    17)
        check "$name: format 17, samtools: the same records from BAM" same_from_bam ours/17
        [ "$release" != 2.12.0 ] ||
            check "$name: format 17, samtools: the records of BLAST+'s report" same_as_theirs
        ;;
    esac
}

refuses() { # FORMAT SED: a report changed by SED is refused
    mkdir -p "$work/broken"
    for file in ours/"$1" ours/"$1"_*; do
        [ ! -e "$file" ] || sed "$2" "$file" >"$work/broken/${file#*/}"
    done
    if [ "$1" = 17 ]; then
        ! same_from_bam "$work/broken/17" 2>/dev/null
    else
        [ "$(verdict "$1" "$work/broken/$1")" = refused ]
    fi
}
check_refusals() {
    check "format 5, xmllint: a report without numbers of HSPs is refused" refuses 5 '/<Hsp_num>/d'
    check "format 14, xmllint: a report without numbers of HSPs is refused" refuses 14 '/<num>/d'
    check "format 16, xmllint: a report without numbers of HSPs is refused" refuses 16 '/<num>/d'
    check "format 17, samtools: a report without a column is refused" refuses 17 's/\t255\t/\t/'
}

same_report() { # REPORT EXPECTED
    [ -s "$2" ] && cmp -s "$1" "$2"
}
format_archive() { # READER WRITER FORMAT
    local options=(-archive "../$2/11" -outfmt "$(columns "$3")" -out "$1-$2-$3")
    (cd archives && on_side "$1" blast_formatter "${options[@]}" 2>stderr) ||
        echo "FAILED  $name: format $3, blast_formatter of $1 with $2/11: $(head -n 1 archives/stderr)"
}
# Each program's archive, formatted by the other, is the report of the search; or what BLAST+ makes
# of its own archive, where that is another report (other statistics and titles).
check_archives() {
    local formats="0 5 6 7 15 16" expected special
    # BLAST+ does not find the second query of archives of psiblast in JSON and XML2.
    [ "$program-$mode" != psiblast-plain ] || formats="0 5 6 7"
    search ours 11
    search theirs 11
    for format in $formats; do
        format_archive theirs theirs "$format"
        format_archive theirs ours "$format"
        format_archive ours theirs "$format"
        expected=theirs/$format special=
        if ! cmp -s "$expected" "archives/theirs-theirs-$format"; then
            expected=archives/theirs-theirs-$format
            special=": another than of the search AS BLAST+'S"
        fi
        check "$name: format $format, blast_formatter of BLAST+, archive of FleetBLAST$special" \
            same_report "archives/theirs-ours-$format" "$expected"
        check "$name: format $format, blast_formatter of FleetBLAST, archive of BLAST+$special" \
            same_report "archives/ours-theirs-$format" "$expected"
    done
}
