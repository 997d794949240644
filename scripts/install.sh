#!/bin/bash
# Installs a program with links, manual and completions below $DESTDIR$PREFIX, or removes them again:
#     install.sh install PROGRAM | install.sh uninstall
set -euo pipefail

case $PREFIX in
/*) ;;
*) echo "install: PREFIX must be an absolute path, not '$PREFIX'" >&2; exit 1 ;;
esac
bin=${DESTDIR:-}$PREFIX/bin
share=${DESTDIR:-}$PREFIX/share
man=$share/man/man1
bash=$share/bash-completion/completions
fish=$share/fish/vendor_completions.d
zsh=$share/zsh/site-functions

# True if a name belongs to FleetBLAST or to nobody: NCBI's programs may stand in the same directory.
is_ours() {
    [ ! -e "$1" ] && [ ! -L "$1" ] || [ "$(readlink "$1")" = "$2" ]
}

link() { # TO NAME
    if is_ours "$2" "$1"; then
        ln -sf "$1" "$2"
        return
    fi
    echo "install: $2 is there already and is not FleetBLAST's; it stays" >&2
    return 1
}

case $1 in
install)
    program=$2
    there=$("$program" generate links)
    links=$LINKS
    [ "$links" != all ] || links=$there
    for name in $links; do
        grep -qxF -e "$name" <<<"$there" || {
            echo "install: FleetBLAST does not have '$name' (LINKS)" >&2
            exit 1
        }
    done
    install -d "$bin" "$man" "$bash" "$fish" "$zsh"
    install -m 755 -s "$program" "$bin/fleetblast"
    "$program" generate man >"$man/fleetblast.1"
    for page in $("$program" generate pages); do
        "$program" generate man -command "$page" >"$man/fleetblast-$page.1"
    done
    "$program" generate bash >"$bash/fleetblast"
    "$program" generate fish >"$fish/fleetblast.fish"
    "$program" generate zsh >"$zsh/_fleetblast"
    for name in $links; do
        # Shells look for completions by the name of the command.
        if link fleetblast "$bin/$name"; then
            link fleetblast "$bash/$name" || true
            link fleetblast.fish "$fish/$name.fish" || true
        fi
    done
    echo "installed $bin/fleetblast"
    ;;
uninstall)
    # Links first: they are known by what they point to.
    find "$bin" "$bash" -maxdepth 1 -lname fleetblast -delete 2>/dev/null || true
    find "$fish" -maxdepth 1 -lname fleetblast.fish -delete 2>/dev/null || true
    rm -f "$bin/fleetblast" "$man/fleetblast.1" "$man"/fleetblast-*.1 \
        "$bash/fleetblast" "$fish/fleetblast.fish" "$zsh/_fleetblast"
    echo "removed $bin/fleetblast"
    ;;
esac
