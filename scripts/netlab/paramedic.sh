#!/bin/bash
# Measures metadata against direct writing between two sites (docs/paramedic.md): paramedic.sh FILE CELL..., where a cell is
# DELAY/RATE or DELAY/RATE/encrypted, such as 50ms/100mbit, and each run appends a line to FILE: the two names of its cell in a table
# (AXES: `rate delay`, or others of rate, delay, link, queries, targets, ratio), way, seconds, bytes over the link, bytes of the report.
# paramedic.py makes the table and the pictures of it. Not one of the tests: it takes minutes, and a machine alone.
#
# QUERIES, TARGETS: the job. RATIO=C:I makes it one MPI job of C ranks that search, on two hosts, and I that make the report, with
# `direct` and `sshfs` on C ranks; else it is a process at each site. WAYS: which ways.
#
# All hosts share this machine's cores, so that what expands takes them from what searches. Ways that write directly are `direct`, the report by one
# plain TCP stream, in blocks of 4 MB, to a file that is synced in the end, and `sshfs`, -out on a file system of the other site. A run counts from the
# start of the search until the report is whole at the other site.
. "$(dirname "$0")/lib.sh"
[ $# -ge 2 ] || fail "name a file for the figures, and cells such as 50ms/100mbit"
figures=$(realpath -m "$1")
shift
queries=${QUERIES:-48}
targets=${TARGETS:-5000}
ratio=${RATIO:-}
ways=${WAYS:-direct oids hits report auto}
axes=${AXES:-rate delay}

peptides "$queries"
cd "$work"
key_here=$("$program" keygen here)
key_there=$("$program" keygen there)
# Two queries are a block.
export BATCH_SIZE=120
options=(-query q.fa -db db -outfmt 5 -max_target_seqs "$targets" -evalue 1000 -comp_based_stats 0 -block_residues 120)
if [ "$ratio" ]; then
    compute=${ratio%:*} io=${ratio#*:}
    [ "$compute" -gt 0 ] && [ "$io" -gt 0 ] || fail "RATIO is not C:I"
    options+=(-num_threads 1)
else
    options+=(-num_threads 2)
fi

cat >sink.py <<'PYTHON'
import os, socket
listener = socket.create_server(("", 4712))
print("ready", flush=True)
connection, _ = listener.accept()
with open("direct", "wb") as report:
    while piece := connection.recv(1 << 20):
        report.write(piece)
    report.flush()
    os.fsync(report.fileno())
connection.send(b"!")
PYTHON
cat >source.py <<'PYTHON'
import socket, sys
connection = socket.create_connection(("B1", 4712))
while block := sys.stdin.buffer.read(4 << 20):
    connection.sendall(block)
connection.shutdown(socket.SHUT_WR)
sys.exit(connection.recv(1) != b"!")
PYTHON

# await FILE TEXT: until a line of a file has that.
await() {
    for _ in $(seq 1000); do
        grep -q "$2" "$1" && return
        sleep 0.02
    done
    fail "nothing listens: $(cat "$1")"
}

# searching ARGUMENT...: at the first site, a process or ranks of two hosts.
searching() {
    if [ "$ratio" ]; then
        local second=$((compute / 2))
        job "A1:$((compute - second))$([ "$second" = 0 ] || echo ",A2:$second")" "$@"
    else
        lab exec A1 -- env -C "$work" "$program" blastp "${options[@]}" "$@"
    fi
}

# job HOSTS ARGUMENT...: ranks of these hosts.
job() {
    local hosts=$1
    shift
    lab mpirun --bind-to none -x BATCH_SIZE --wdir "$work" --host "$hosts" "$program" blastp "${options[@]}" "$@"
}

direct() {
    lab exec B1 -- env -C "$work" python3 sink.py >sink.log 2>&1 &
    local sink=$!
    await sink.log ready
    start=$(date +%s.%N)
    searching | lab exec A1 -- env -C "$work" python3 source.py || fail "direct writing"
    end=$(date +%s.%N)
    wait $sink
}

sshfs() {
    serve_far
    mount_far A1 A2
    start=$(date +%s.%N)
    searching -out mounted/report || fail "writing by sshfs"
    end=$(date +%s.%N)
    unmount_far A1 A2
    mv far/report report
}

by_link() {
    lab exec B1 -- env -C "$work" "$program" receive -listen 0.0.0.0:4711 -key there -peer "$key_here" -db db -out report >receive.log 2>&1 &
    local receive=$!
    await receive.log Listening
    start=$(date +%s.%N)
    searching -metadata "$1" -timing "timing.$1" -send B1:4711 -key here -peer "$key_there" >send.log 2>&1 ||
        fail "$1: $(cat send.log receive.log)"
    wait $receive || fail "$1: $(cat receive.log)"
    end=$(date +%s.%N)
}

# The same in one job: the ranks that search are on hosts of the first site, those of the report on one of the other.
ranks_of_both() {
    local second=$((compute / 2))
    start=$(date +%s.%N)
    job "A1:$((compute - second))$([ "$second" = 0 ] || echo ",A2:$second"),B1:$io" -metadata "$1" -io_ranks "$io" -out report || fail "$1"
    end=$(date +%s.%N)
}

"$program" blastp "${options[@]}" >expected
for cell; do
    IFS=/ read -r delay rate encrypted <<<"$cell"
    lab up --site A=2 --site B=2 --delay "A-B=$delay" --rate "A-B=$rate" --tcp-buffer 64m --slots 16 ${encrypted:+--encrypt A-B}
    link=${encrypted:-plain} names=
    for axis in $axes; do names+="${!axis} "; done
    for way in $ways; do
        rm -f direct report
        bytes --reset >/dev/null
        case $way in
            direct) direct && mv direct report ;;
            sshfs) sshfs ;;
            *) if [ "$ratio" ]; then ranks_of_both "$way"; else by_link "$way"; fi ;;
        esac
        cmp -s expected report || fail "$way: other bytes"
        crossed=$(bytes)
        echo "$names$way $(echo "$end - $start" | bc) $crossed $(stat -c %s expected)" | tee -a "$figures"
    done
    lab down
done
