#!/bin/bash
# Runs docs/fleetblast.sbatch under a Slurm of its own on this machine until the time limit nears: the search is told to
# end, queued again, and resumed; its report must have the bytes of a search that nobody interrupted. Takes some minutes.
# Needs root, slurm-wlm, munge and Open MPI (Debian: scripts/setup.sh slurm), no other Slurm on this machine, and the program
# built with MPI: test-slurm.sh [PROGRAM [QUERY DB]]; else target/release/fleetblast, and the proteins of mmseqs2-examples,
# the queries so many times that two minutes do not suffice.
set -euo pipefail
fail() {
    echo "FAILED test-slurm: $*" >&2
    exit 1
}
case $# in
0 | 1 | 3) ;;
*) sed -n '2,7s/^# //p' "$0" >&2; exit 2 ;;
esac
root=$(realpath "$(dirname "$0")/..")
[ "$(id -u)" -eq 0 ] || fail "needs root, to start Slurm's daemons"
for command in slurmctld slurmd sbatch srun munged mpirun; do
    command -v "$command" >/dev/null || fail "needs $command; scripts/setup.sh slurm installs it"
done
# A pattern for pgrep may have 15 characters.
runs_slurm() {
    pgrep -x slurmctld >/dev/null || pgrep -x slurmd >/dev/null
}
runs_slurm && fail "a Slurm runs on this machine"
program=$(realpath -m "${1:-${CARGO_TARGET_DIR:-$root/target}/release/fleetblast}")
[ -x "$program" ] || fail "no program $program; make build"
ldd "$program" | grep libmpi >/dev/null || fail "$program is built without MPI"
script=$root/docs/fleetblast.sbatch
host=$(hostname)
dir=$(mktemp -d)
export SLURM_CONF=$dir/slurm.conf OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
own_munged=
cleanup() {
    scontrol shutdown >/dev/null 2>&1 || true
    # They write to the directory to their end.
    timeout 20 bash -c 'while pgrep -x slurmctld || pgrep -x slurmd; do sleep 0.2; done' >/dev/null || true
    # Its processes, one on each line.
    if [ -n "$own_munged" ]; then
        xargs kill <<<"$own_munged" || true
        # A socket that nobody listens to costs every mpirun two seconds.
        rm -f /run/munge/munge.socket.2
    fi
    rm -rf "$dir"
}
trap cleanup EXIT
if [ $# -eq 3 ]; then
    query=$(realpath "$2") db=$(realpath -m "$3")
else
    blast=$("$root/scripts/oracle.sh")
    query=$dir/q.fa db=$dir/db
    examples=/usr/share/doc/mmseqs2/example-data
    gzip -dc "$examples/DB.fasta.gz" >"$dir/db.fa"
    "$blast/makeblastdb" -dbtype prot -in "$dir/db.fa" -out "$db" >/dev/null
    gzip -dc "$examples/QUERY.fasta.gz" >"$dir/once.fa"
    # Some three minutes on all processors, by the time that the queries once take.
    begun=$(date +%s%N)
    "$program" blastp -query "$dir/once.fa" -db "$db" -outfmt 6 -out "$dir/once"
    times=$((180000000000 / ($(date +%s%N) - begun) + 1))
    for _ in $(seq $times); do cat "$dir/once.fa"; done >"$query"
fi
cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$host
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdSpoolDir=$dir/spool.%n
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdLogFile=$dir/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
NodeName=$host CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF

mkdir -p "$dir/state" /run/munge
chown munge: /run/munge
if ! pgrep -x munged >/dev/null; then
    runuser -u munge -- munged
    own_munged=$(pgrep -x munged)
fi
slurmctld
slurmd
sleep 3

"$program" blastp -query "$query" -db "$db" -outfmt 6 -num_threads "$(nproc)" -out "$dir/expected"
job=$(sbatch --parsable --ntasks=3 --ntasks-per-node=3 --time=2 --signal=B:USR1@60 -o "$dir/log" \
    --export="ALL,QUERY=$query,DB=$db,OUT=$dir/report,FLEETBLAST=$program" "$script" -outfmt 6)
# Slurm waits two minutes before it starts a job again.
for _ in $(seq 120); do
    state=$(squeue --noheader --job "$job" --format %T 2>/dev/null || true)
    [ -n "$state" ] || break
    sleep 10
done
cat "$dir/log"
ended=$(grep -c "ended early by a signal" "$dir/log" || true)
[ "$ended" -gt 0 ] || fail "the search was through before the signal; give it more to do"
cmp "$dir/expected" "$dir/report" || fail "other bytes than the search that nobody interrupted"
[ ! -e "$dir/report.checkpoint" ] || fail "the checkpoint is still there"
echo "ok: ended early $ended times, resumed to the same $(wc -c <"$dir/report") bytes"
