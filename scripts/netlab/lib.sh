# What the tests on several hosts share; sourced by them. They need root, /dev/net/tun, iproute2, util-linux, Python 3.9,
# Open MPI, NCBI BLAST+ 2.12.0 and real proteins (scripts/setup.sh netlab installs these), and FleetBLAST built with MPI
# (make build; another program: FLEETBLAST=PROGRAM). Without any of it they fail.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath "$here/../..")
program=$(realpath -m "${FLEETBLAST:-${CARGO_TARGET_DIR:-$root/target}/release/fleetblast}")
name=$(basename "$0" .sh)

fail() {
    echo "FAILED $name: $*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "needs root, for network namespaces"
[ -c /dev/net/tun ] || fail "needs /dev/net/tun"
for command in ip nsenter unshare python3 mpirun; do
    command -v "$command" >/dev/null || fail "needs $command; scripts/setup.sh netlab installs it"
done
[ -x "$program" ] || fail "no program $program; make build"
ldd "$program" | grep libmpi >/dev/null || fail "$program is built without MPI"
blast=$("$root/scripts/oracle.sh") || fail "nothing to compare with"

lab() {
    "$here/netlab" --lab "$lab" "$@"
}

# Labs of tests that run at the same time have names of their own.
lab=${NETLAB:-fb$$}
work=$(mktemp -d)
trap 'status=$?; lab down || true; rm -rf "$work"; exit $status' EXIT
trap 'exit 130' INT TERM

# data COUNT: the database $work/db of 20,000 proteins (Debian's mmseqs2-examples), and COUNT queries in $work/q.fa.
data() {
    local examples=/usr/share/doc/mmseqs2/example-data
    [ -e "$examples/DB.fasta.gz" ] || fail "needs the proteins of mmseqs2-examples; scripts/setup.sh netlab installs them"
    gzip -dc "$examples/DB.fasta.gz" >"$work/db.fa"
    gzip -dc "$examples/QUERY.fasta.gz" | awk -v most="$1" '/^>/ { n++ } n <= most' >"$work/q.fa"
    [ "$(grep -c '^>' "$work/q.fa")" -eq "$1" ] || fail "there are less than $1 queries"
    "$blast/makeblastdb" -dbtype prot -in "$work/db.fa" -out "$work/db" -title proteins >/dev/null
}

# expect NAME ARGUMENT...: what BLAST+ reports, in $work/NAME.
expect() {
    blastp=("$blast/blastp")
    expect_of "$@"
}

# expect_alone NAME ARGUMENT...: what FleetBLAST reports as one process, where BLAST+ would take minutes.
expect_alone() {
    blastp=("$program" blastp)
    expect_of "$@"
}

expect_of() {
    local to=$work/$1
    shift
    (cd "$work" && "${blastp[@]}" -query q.fa -db db -num_threads "$(nproc)" "$@" -out "$to")
    [ -s "$to" ] || fail "nothing is expected: the search has no hits"
}

# ranks MPIRUN-OPTION... -- ARGUMENT...: a search on hosts of the lab; its exit code.
ranks() {
    local launcher=()
    while [ "$1" != -- ]; do
        launcher+=("$1")
        shift
    done
    shift
    (cd "$work" && lab mpirun --bind-to none "${launcher[@]}" "$program" blastp -query q.fa -db db -num_threads 1 "$@")
}

# same EXPECTED REPORT WHAT
same() {
    cmp "$work/$1" "$work/$2" || fail "$3: other bytes"
    echo "ok $name: $3: the same $(wc -c <"$work/$2") bytes"
}

# bytes [--reset]: how many have crossed the links between sites, in all, since the start or the last reset.
bytes() {
    lab stats --json "$@" | python3 -c 'import json, sys; print(sum(l["bytes"] for l in json.load(sys.stdin)["links"]))'
}
