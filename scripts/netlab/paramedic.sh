#!/bin/bash
# Measures metadata against direct writing between two sites (docs/paramedic.md): paramedic.sh FILE CELL..., where a cell is
# DELAY/RATE, such as 50ms/100mbit or 0ms/1gbit, and each run appends a line to FILE: delay, rate, way, seconds, bytes over the link,
# bytes of the report. paramedic.py makes the table and the pictures of it. Not one of the tests: it takes minutes, and a machine alone.
#
# A site is one host. Both share this machine's cores, so that what expands takes them from what searches. Direct writing is the report
# by one plain TCP stream, in blocks of 4 MB, to a file that is synced in the end. A run counts from the start of the search until the report is
# whole at the other site.
. "$(dirname "$0")/lib.sh"
[ $# -ge 2 ] || fail "name a file for the figures, and cells such as 50ms/100mbit"
figures=$(realpath -m "$1")
shift
queries=${QUERIES:-48}
ways=${WAYS:-direct oids hits report auto}

# An output-heavy job: short queries that find thousands of short sequences with long titles, as they are in nr.
python3 - "$work" "$queries" <<'PYTHON'
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
cd "$work"
key_here=$("$program" keygen here)
key_there=$("$program" keygen there)
# Two queries are a block.
search=(env BATCH_SIZE=120 "$program" blastp -query q.fa -db db -outfmt 5 -max_target_seqs 5000 -evalue 1000 -comp_based_stats 0 -num_threads 2 -block_residues 120)

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

direct() {
    lab exec B1 -- python3 "$work/sink.py" >sink.log 2>&1 &
    local sink=$!
    await sink.log ready
    start=$(date +%s.%N)
    lab exec A1 -- bash -c "set -o pipefail; cd '$work'; ${search[*]} | python3 source.py" || fail "direct writing"
    end=$(date +%s.%N)
    wait $sink
}

metadata() {
    lab exec B1 -- bash -c "cd '$work'; exec '$program' receive -listen 0.0.0.0:4711 -key there -peer $key_here -db db -out report" >receive.log 2>&1 &
    local receive=$!
    await receive.log Listening
    start=$(date +%s.%N)
    lab exec A1 -- bash -c "cd '$work'; ${search[*]} -metadata $1 -timing timing.$1 -send B1:4711 -key here -peer $key_there" >send.log 2>&1 ||
        fail "$1: $(cat send.log receive.log)"
    wait $receive || fail "$1: $(cat receive.log)"
    end=$(date +%s.%N)
    cmp -s direct report || fail "$1: other bytes"
    rm report
}

"${search[@]}" -timing alone >direct
for cell; do
    lab up --site A=1 --site B=1 --delay "A-B=${cell%/*}" --rate "A-B=${cell#*/}" --tcp-buffer 64m
    for way in $ways; do
        bytes --reset >/dev/null
        case $way in
            direct) direct ;;
            *) metadata "$way" ;;
        esac
        crossed=$(bytes)
        echo "${cell%/*} ${cell#*/} $way $(echo "$end - $start" | bc) $crossed $(stat -c %s direct)" | tee -a "$figures"
        [ "$way" != auto ] || python3 -c 'import json; print(json.load(open("timing.auto"))["metadata"])'
    done
    lab down
done
