#!/bin/bash
# Puts the programs of another release of BLAST+ into a directory, for `difftest --release`.
#
# usage: scripts/oracle-release.sh RELEASE DIR
#
# RELEASE is 2.16.0 or 2.17.0. The programs come from Debian's archive, with the libraries that they
# need. Packages are unpacked, not installed: DIR/bin has a script for each program that starts it
# with these libraries. Debian's unstable suite, which has 2.17.0, moves: the script fails if it has
# another release by now. Needs Debian's apt-get, some seconds, and 0.5 GB. If DIR has the programs
# already, nothing is done.
set -euo pipefail

[ $# = 2 ] || { sed -n '4p' "$0" | cut -c3-; exit 1; }
release=$1
mkdir -p "$2"
directory=$(cd "$2" && pwd)
case $release in
2.16.0) suite=trixie ;;
2.17.0) suite=sid ;;
*) echo "$0: there is no suite of Debian for BLAST+ $release" >&2; exit 1 ;;
esac

has_release() {
    [ -x "$directory/bin/convert2blastmask" ] &&
        [ "$("$directory/bin/blastp" -version 2> /dev/null | head -1)" = "blastp: $release+" ]
}
if has_release; then
    exit 0
fi

# The mirror that this machine uses.
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2> /dev/null || true)
if [ -z "$mirror" ]; then
    mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
        /etc/apt/sources.list)
fi

# An apt of its own, which knows no installed package and so downloads all that the programs need.
apt=$directory/apt
root=$directory/root
rm -rf "$root" "$directory/bin"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$root" "$directory/bin"
: > "$apt/status"
echo "deb $mirror $suite main" > "$apt/sources.list"
options=(-qq -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
    -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::PreferencesParts=/dev/null -o Acquire::Languages=none
    -o APT::Install-Recommends=false -o APT::Sandbox::User=)
log=$directory/apt.log
if ! { apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install -y --download-only ncbi-blast+; } > "$log" 2>&1; then
    tail -3 "$log" >&2
    exit 1
fi
for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$apt"

libraries=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/ncbi-blast+
for name in blastp blastn blastx tblastn tblastx psiblast blast_formatter makeblastdb blastdbcmd \
    blastdb_aliastool blastdbcheck segmasker dustmasker convert2blastmask; do
    cat > "$directory/bin/$name" << END
#!/bin/sh
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --argv0 $name --library-path "$libraries" "$root/usr/bin/$name" "\$@"
END
    chmod +x "$directory/bin/$name"
done
if ! has_release; then
    "$directory/bin/blastp" -version >&2 || true
    echo "$0: this is what Debian's $suite has now, not $release" >&2
    exit 1
fi
echo "BLAST+ $release in $directory/bin"
