#!/bin/bash
# A report that four hosts write together over NFS: RUNS searches (50) for each way to mount in MODES, each compared with the
# bytes of one process, on the server and on every host. Hosts and server are kernels of their own (User-mode Linux, which
# needs no virtualization), so each host has Linux' own NFS client with its own pages, the server Linux' own nfsd on ext4.
# Before the searches of each mount, hosts that share pages of a file must be seen to lose bytes of it: otherwise nothing is
# shown (with noac, where each write waits for the server, it is only told).
# Needs Debian's apt-get, dpkg-deb, util-linux, iproute2, e2fsprogs, /dev/net/tun, root, Open MPI, NCBI BLAST+
# and the data of `make test` (scripts/setup.sh nfs), and FleetBLAST built with MPI (another program: FLEETBLAST=PROGRAM). The
# kernel and the server's programs are unpacked in target/nfs, not installed: else this machine would serve NFS. A run takes
# some ten seconds. OUTPUT is the program's `-output`.
set -euo pipefail
scripts=$(dirname "$(realpath "$0")")
root=$(realpath "$scripts/..")
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
program=$(realpath -m "${FLEETBLAST:-$target/release/fleetblast}")
fail() {
    echo "FAILED test-nfs: $*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "needs root, for a network of its own"
for command in apt-get dpkg-deb ip mke2fs mpirun; do
    command -v "$command" >/dev/null || fail "needs $command; scripts/setup.sh nfs installs it"
done
[ -c /dev/net/tun ] || fail "needs /dev/net/tun"
[ -x "$program" ] || fail "no program $program; make build"
ldd "$program" | grep libmpi >/dev/null || fail "$program is built without MPI"
blast=$("$scripts/oracle.sh") || fail "nothing to compare with"
examples=/usr/share/doc/mmseqs2/example-data
[ -e "$examples/DB.fasta.gz" ] || fail "needs the proteins of mmseqs2-examples; scripts/setup.sh nfs installs them"

# The kernel, and what this machine does not have of what the guests need.
packages=$target/nfs/packages
if [ ! -e "$packages/complete" ]; then
    rm -rf "$packages"
    mkdir -p "$packages/downloads" "$packages"/{kernel,system}/usr/{bin,sbin,lib}
    for directory in bin sbin lib; do ln -s usr/$directory "$packages/system/$directory"; done
    mapfile -t missing < <(apt-get -s install --no-install-recommends nfs-kernel-server kmod socat | awk '$1 == "Inst" { print $2 }')
    (cd "$packages/downloads" && apt-get -qq download user-mode-linux "${missing[@]}")
    for package in "$packages"/downloads/*.deb; do
        into=system
        case ${package##*/} in user-mode-linux_*) into=kernel ;; esac
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$packages/$into"
    done
    rm -r "$packages/downloads"
    touch "$packages/complete"
fi
# Once more, in a network of its own, and with processes of its own, which end with the first of them.
if [ "${1:-}" != inside ]; then
    exec unshare --net --pid --fork --kill-child "$0" inside
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
mkdir "$work/shared"

# Twenty blocks of queries, and some megabytes of report in each format.
(
    cd "$work/shared"
    gzip -dc "$examples/DB.fasta.gz" | awk '/^>/ { n++ } n <= 1500' >db.fa
    gzip -dc "$examples/QUERY.fasta.gz" | awk '/^>/ { n++ } n <= 400' >q.fa
    "$blast/makeblastdb" -dbtype prot -in db.fa -out db -title proteins >/dev/null
    for format in 0 6; do
        # shellcheck disable=SC2046 # The options are several words.
        "$program" blastp -query q.fa -db db -num_threads 1 $("$scripts/nfs/options.sh" $format) -out "expected$format"
        [ "$(stat -c %s "expected$format")" -gt 2000000 ] || fail "the report has only $(stat -c %s "expected$format") bytes"
    done
)
cp "$program" "$work/shared/fleetblast"
cp "$scripts"/nfs/* "$work/shared"
printf '%s=%q\n' RUNS "${RUNS:-50}" MODES "${MODES:-vers=3 vers=4.2 vers=3,noac vers=4.2,noac}" OUTPUT "${OUTPUT:-merge}" >"$work/shared/settings"

# Each guest is at the end of a wire of its own; this machine passes on what they say to one another.
echo 1 >/proc/sys/net/ipv4/ip_forward
wire() {
    ip tuntap add "$1" mode tap
    echo 1 >"/proc/sys/net/ipv4/conf/$1/proxy_arp"
    echo 0 >"/proc/sys/net/ipv4/neigh/$1/proxy_delay"
    ip link set "$1" up
    ip route add "10.77.0.$2" dev "$1"
}
ip link set lo up

# boot NAME NUMBER ARGUMENT...
guests=()
boot() {
    local guest=$1 number=$2
    shift 2
    wire "$guest" "$number"
    TMPDIR=/dev/shm "$packages/kernel/usr/bin/linux.uml" mem=384M uml_dir="$work/uml" umid="$guest" quiet \
        root=none rootfstype=hostfs rootflags=/ ro init="$work/shared/guest.sh" \
        vec0:transport=tap,ifname="$guest",depth=128,gro=1 con=null con0=null,fd:1 \
        NAME="$guest" NUMBER="$number" SHARED="$work/shared" PACKAGES="$packages" "$@" \
        </dev/null >"$work/$guest.log" 2>&1 &
    guests+=($!)
}
truncate -s 512M "$work/disk"
mke2fs -q -t ext4 -F "$work/disk"
boot server 10 ubd0="$work/disk"
for number in 1 2 3 4; do boot "n$number" $number; done

# All is told by the first host.
log=$work/shared/log
: >"$log"
tail -n +1 -f "$log" &
until [ -e "$work/shared/result" ]; do
    sleep 1
    for guest in "${guests[@]}"; do
        kill -0 "$guest" 2>/dev/null || { grep -hv '\[<' "$work"/*.log >&2; fail "a guest ended"; }
    done
done
sleep 1
[ "$(cat "$work/shared/result")" = passed ] || fail "see above"
echo "test-nfs: all passed"
