#!/bin/bash
# Prints the directory of NCBI BLAST+ 2.12.0, with which all tests compare: the first in PATH whose blastp, makeblastdb and
# blastdbcmd are of that package. FleetBLAST answers to the same names and prints the same first line of -version.
# With a release and a directory, it installs the programs of that release there instead.
[ $# = 0 ] || exec "$(dirname "$0")/oracle-release.sh" "$@"
IFS=: read -ra directories <<<"$PATH"
for directory in "${directories[@]}"; do
    for name in blastp makeblastdb blastdbcmd; do
        program=$directory/$name
        [ -x "$program" ] || continue 2
        package=$("$program" -version 2>/dev/null </dev/null | sed -n 2p)
        case $package in
        " Package: blast 2.12.0,"*) ;;
        *) echo "oracle: passed over $program: its -version says '${package# }'" >&2; continue 2 ;;
        esac
    done
    echo "$directory"
    exit 0
done
echo "oracle: no directory of PATH has blastp, makeblastdb and blastdbcmd of NCBI BLAST+ 2.12.0 (Debian 12: ncbi-blast+)" >&2
exit 1
