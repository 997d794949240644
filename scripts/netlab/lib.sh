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

# peptides QUERIES: an output-heavy job: short queries that find thousands of short sequences with long titles, as they are in nr.
peptides() {
    python3 - "$work" "$1" <<'PYTHON'
import random, sys
random.seed(1)
work, queries = sys.argv[1], int(sys.argv[2])
letters = "ARNDCQEGHILKMFPSTWYV"
words = "hypothetical conserved putative subunit kinase transporter membrane protein domain family binding".split()
ancestor = random.choices(letters, k=60)
relative = lambda share: "".join(random.choice(letters) if random.random() < share else letter for letter in ancestor)
with open(work + "/db.fa", "w") as db:
    for number in range(6000):
        titles = [" ".join(random.choices(words, k=8)) + f" [Species {random.randrange(9999)}]" for _ in range(3)]
        db.write(f">s{number} {' '.join(titles)}\n{relative(0.3)}\n")
with open(work + "/q.fa", "w") as q:
    q.writelines(f">q{number}\n{relative(0.2)}\n" for number in range(queries))
PYTHON
    "$program" makeblastdb -in "$work/db.fa" -dbtype prot -out "$work/db" -title peptides >/dev/null
}

# serve_far: the host B1 of another site serves its files, as long as the lab is there.
serve_far() {
    lab exec B1 -- socat TCP-LISTEN:7010,fork,reuseaddr,nodelay EXEC:/usr/lib/openssh/sftp-server &
    sleep 0.5
}

# mount_far HOST...: $work/mounted of these hosts is $work/far of B1, by sshfs.
mount_far() {
    mkdir -p "$work/far" "$work/mounted"
    local host
    for host; do
        lab exec "$host" -- sshfs -o directport=7010,cache=no "B1:$work/far" "$work/mounted"
        # It is there when it has been seen to be.
        lab exec "$host" -- touch "$work/mounted/$host"
        [ -e "$work/far/$host" ] || fail "$host has no file system of the other site"
    done
}

# unmount_far HOST...
unmount_far() {
    local host
    for host; do
        lab exec "$host" -- fusermount3 -u "$work/mounted"
    done
}
