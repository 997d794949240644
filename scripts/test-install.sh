#!/bin/bash
# Installs PROGRAM into a temporary directory, looks at all that is there, and uninstalls it. Needs bash, man, zsh, fish.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "$1")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
export DESTDIR="$stage/a b" PREFIX=/opt/fb LINKS=all
root=$DESTDIR$PREFIX

fail() {
    echo "test-install: $*" >&2
    exit 1
}
for needed in man zsh fish; do
    command -v "$needed" >/dev/null || fail "needs $needed (apt-get install man-db zsh fish)"
done

# What another has put there stays.
mkdir -p "$root/bin"
echo other >"$root/bin/makeblastdb"
scripts/install.sh install "$program" 2>"$stage/messages"
grep -q "bin/makeblastdb is there already" "$stage/messages" || fail "no word on makeblastdb"
[ "$(cat "$root/bin/makeblastdb")" = other ] || fail "overwrote makeblastdb"

"$root/bin/fleetblast" --version | grep FleetBLAST >/dev/null || fail "the program does not run"
# A stripped program has no table of symbols (section type 2); readelf comes with every linker.
! readelf -S "$root/bin/fleetblast" | grep SYMTAB >/dev/null || fail "the program is not stripped"
"$root/bin/blastp" -version | grep -x "blastp: 2.12.0+" >/dev/null || fail "blastp is no link"

page=$(MANPATH=$root/share/man MANWIDTH=80 man fleetblast-blastp 2>"$stage/warnings" | col -b)
[ ! -s "$stage/warnings" ] || fail "man warns: $(cat "$stage/warnings")"
grep -q -- "-evalue evalue" <<<"$page" || fail "no -evalue in the manual"
for page in $("$program" generate pages); do
    [ -s "$root/share/man/man1/fleetblast-$page.1" ] || fail "no page on $page"
done

# What each shell offers after "-eval", and for -task.
completed() { # NAME GIVEN WANTED
    [ "$2" = "$3" ] || fail "$1 offers '$2', not '$3'"
}
completions=$root/share/bash-completion/completions/blastp
offered=$(bash -c '
    source "$1"
    COMP_WORDS=(fleetblast blastp -eval) COMP_CWORD=2
    _fleetblast fleetblast -eval blastp
    echo "${COMPREPLY[*]}"
    COMP_WORDS=(blastp -task "") COMP_CWORD=2
    _fleetblast blastp "" -task
    echo "${COMPREPLY[*]}"' - "$completions")
completed bash "$offered" "-evalue"$'\n'"blastp blastp-fast blastp-short"
offered=$(HOME=$stage fish -c '
    source $argv[1]
    complete -C "fleetblast blastp -eval" | cut -f 1
    complete -C "blastp -task " | cut -f 1' "$root/share/fish/vendor_completions.d/blastp.fish")
completed fish "$offered" "-evalue"$'\n'"blastp"$'\n'"blastp-fast"$'\n'"blastp-short"
offered=$(zsh -f -c '
    # Without a terminal: what the function hands to the system of completions.
    _arguments() { printf "%s\n" "$@" }
    service=fleetblast CURRENT=3
    words=(fleetblast blastp -eval)
    source $1' - "$root/share/zsh/site-functions/_fleetblast" | grep -E -- '^-(evalue|task)\[')
completed zsh "$offered" "-task[Task to execute]:task_name:(blastp blastp-fast blastp-short)"$'\n'"-evalue[Expectation value (E) threshold for saving hits]:evalue: "

scripts/install.sh uninstall >/dev/null
left=$(find "$DESTDIR" ! -type d)
[ "$left" = "$root/bin/makeblastdb" ] || fail "left behind: $left"
if PREFIX=relative scripts/install.sh install "$program" 2>/dev/null; then
    fail "took a relative PREFIX"
fi
echo "test-install: installed, tried, and uninstalled"
