#!/bin/bash
# Writes a report over a slow link, as one file and as records (docs/cluster.md): records.sh CELL..., where a cell is DELAY/RATE, such as
# 50ms/100mbit. Four ranks on two hosts search, and the report goes to a file system of another site, by sshfs. A line tells cell, strategy,
# seconds until all of it is there, and bytes over the link; each report is compared. Not one of the tests: it wants a machine alone.
# Needs sshfs, openssh-sftp-server and socat besides what lib.sh names.
. "$(dirname "$0")/lib.sh"
[ $# -ge 1 ] || fail "name cells such as 50ms/100mbit"
peptides "${QUERIES:-48}"
cd "$work"
export BATCH_SIZE=120
options=(-query q.fa -db db -outfmt 5 -max_target_seqs 5000 -evalue 1000 -comp_based_stats 0 -block_residues 120 -num_threads 1)
"$program" blastp "${options[@]}" >expected
for cell; do
    lab up --site A=2 --site B=1 --delay "A-B=${cell%/*}" --rate "A-B=${cell#*/}" --tcp-buffer 64m --slots 16
    serve_far
    for strategy in merge individual collective "records zstd" "records gzip"; do
        read -r output codec <<<"$strategy"
        mount_far A1 A2
        bytes --reset >/dev/null
        start=$(date +%s.%N)
        lab mpirun --bind-to none -x BATCH_SIZE --wdir "$work" --host A1:2,A2:2 "$program" blastp "${options[@]}" \
            -output "$output" ${codec:+-compression "$codec"} -out mounted/report || fail "$strategy"
        end=$(date +%s.%N)
        crossed=$(bytes)
        unmount_far A1 A2
        if [ "$output" = records ]; then
            "$program" cat far/report >report
        else
            mv far/report report
        fi
        cmp -s expected report || fail "$strategy: other bytes"
        rm -rf far report
        echo "$cell, $strategy: $(echo "$end - $start" | bc) s, $crossed bytes over the link, report $(stat -c %s expected)"
    done
    lab down
done
