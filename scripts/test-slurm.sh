#!/bin/bash
# Runs docs/fleetblast.sbatch under a Slurm of its own on this machine until the time limit nears: the search is told to
# end, queued again, and resumed; its report must have the bytes of a search that nobody interrupted. Takes some minutes.
# Needs root, slurm-wlm, munge and Open MPI (Debian: apt-get install --no-install-recommends slurm-wlm munge openmpi-bin),
# and the program built with MPI: test-slurm.sh PROGRAM QUERY DB, with so much to search that two minutes do not suffice.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
program=$(realpath "$1") query=$(realpath "$2") db=$(realpath -m "$3")
script=$(realpath "$(dirname "$0")/../docs/fleetblast.sbatch")
host=$(hostname)
dir=$(mktemp -d)
export SLURM_CONF=$dir/slurm.conf OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

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

own_munged=
cleanup() {
    scontrol shutdown >/dev/null 2>&1 || true
    # They write to the directory to their end.
    timeout 20 bash -c 'while pgrep -x "slurmctld|slurmd" >/dev/null; do sleep 0.2; done' || true
    [ -z "$own_munged" ] || pkill -x munged || true
    rm -rf "$dir"
}
trap cleanup EXIT
mkdir -p "$dir/state" /run/munge
chown munge: /run/munge
if ! pgrep -x munged >/dev/null; then
    runuser -u munge -- munged
    own_munged=yes
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
ended=$(grep -c "ended early, as a signal told" "$dir/log" || true)
[ "$ended" -gt 0 ] || { echo "FAILED: the search was through before the signal; give it more to do"; exit 1; }
cmp "$dir/expected" "$dir/report"
[ ! -e "$dir/report.checkpoint" ] || { echo "FAILED: the checkpoint is still there"; exit 1; }
echo "ok: ended early $ended times, resumed to the same $(wc -c <"$dir/report") bytes"
