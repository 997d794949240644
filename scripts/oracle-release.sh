#!/bin/bash
# Puts the programs of another release of BLAST+ into a directory, for `difftest --release`.
#
# usage: scripts/oracle.sh RELEASE DIR
#
# RELEASE is 2.16.0 or 2.17.0. The programs come from Debian's archive, with the libraries that they
# need, and run without chroot: DIR/bin has a script for each that starts it with these libraries.
# Debian's unstable suite, which has 2.17.0, moves: the script fails if it has another release by
# now. Needs root and debootstrap, about a minute, and 0.6 GB.
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

if ! command -v debootstrap > /dev/null; then
    apt-get update -qq
    apt-get install -y -qq debootstrap > /dev/null
fi
# The mirror that this machine uses.
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2> /dev/null || true)
if [ -z "$mirror" ]; then
    mirror=$(awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }' \
        /etc/apt/sources.list)
fi
root=$directory/root
log=$directory/debootstrap.log
if ! debootstrap --variant=minbase --include=ncbi-blast+ "$suite" "$root" "$mirror" > "$log" 2>&1; then
    tail -3 "$log" >&2
    exit 1
fi

mkdir -p "$directory/bin"
libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu:$root/usr/lib/ncbi-blast+
for name in blastp blastn blastx tblastn tblastx psiblast blast_formatter makeblastdb blastdbcmd; do
    cat > "$directory/bin/$name" << END
#!/bin/sh
exec "$root/lib64/ld-linux-x86-64.so.2" --argv0 $name --library-path "$libraries" "$root/usr/bin/$name" "\$@"
END
    chmod +x "$directory/bin/$name"
done
found=$("$directory/bin/blastp" -version | head -1)
if [ "$found" != "blastp: $release+" ]; then
    echo "$0: Debian's $suite has '$found' now, not $release" >&2
    exit 1
fi
echo "$found in $directory/bin"
