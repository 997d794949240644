#!/bin/bash
# What the first of the hosts of scripts/test-nfs.sh does: mounts, shows that bytes can be lost, searches and compares.
set -euo pipefail
cd "$SHARED"
hosts=(n1 n2 n3 n4)
# shellcheck disable=SC1091 # RUNS, MODES and OUTPUT.
. ./settings
on() { ./remote.sh "$@"; }
fail() {
    echo "FAILED test-nfs: $*"
    exit 1
}

# everywhere COMMAND: on every host at the same time; fails unless all say that it succeeded. `$NUMBER` is the host's.
everywhere() {
    local host
    for host in "${hosts[@]}"; do
        on "$host" "{ $*; } 2>&1 && echo done" >"said.$host" &
    done
    wait
    for host in "${hosts[@]}"; do
        tail -n 1 "said.$host" | grep -x done >/dev/null || fail "on $host: $(cat "said.$host")"
    done
}

# lost LENGTH STRETCHES: bytes lost of a file that the hosts write together in stretches of so many bytes.
lost() {
    rm -rf meeting
    mkdir meeting
    on server ": >/export/control"
    everywhere "perl $SHARED/share.pl /report/control \$((NUMBER - 1)) 4 $1 $2 $SHARED/meeting"
    on server "perl $SHARED/lost.pl /export/control 4 $1 $2"
}

# same NUMBER FORMAT: whether the server and each host have the bytes of one process.
same() {
    local number=$1 expected=$SHARED/expected$2
    on server "cmp $expected /export/report && echo same" >said.server
    [ "$(cat said.server)" = same ] || fail "$mode, run $number: on the server: $(cat said.server)"
    everywhere "cmp $expected /report/report"
}

shapes=("-groups 1" "-groups 2" "-groups 4" "-groups 2 -write_buffer 100000" "-groups 1 -checkpoint /report/kept")
search() {
    local number=$1 format=$2
    # shellcheck disable=SC2046,SC2086 # Options are several words.
    mpirun --allow-run-as-root -n 4 --host n1,n2,n3,n4 --bind-to none --mca plm_rsh_agent "$SHARED/remote.sh" \
        --mca btl_tcp_if_include vec0 --mca oob_tcp_if_include vec0 --mca btl self,tcp \
        -x FLEETBLAST_KERNEL=avx2 "$SHARED/fleetblast" blastp -query q.fa -db db -num_threads 1 -output "$OUTPUT" \
        -block_residues 10000 -partitions 8 $(./options.sh "$format") ${shapes[number % ${#shapes[@]}]} -out /report/report
}

for host in server "${hosts[@]}"; do
    until on $host "echo here" 2>/dev/null | grep here >/dev/null; do sleep 1; done
done
until on server "rpcinfo -t 127.0.0.1 nfs 3" 2>/dev/null | grep ready >/dev/null; do sleep 1; done

for mode in $MODES; do
    # With fsid=0, what is exported is the root of NFS 4.
    from=/export
    [[ $mode != vers=4* ]] || from=/
    everywhere "mount -t nfs -o $mode server:$from /report"
    echo "== $mode: $(grep ' /report ' /proc/self/mountinfo)"
    grep -E ' /report .* - nfs4? .*local_lock=none' /proc/self/mountinfo >/dev/null || fail "no mount with locks"
    shared=$(lost 10007 400)
    apart=$(lost 65536 64)
    echo "of 4002800 bytes in stretches of 10007, hosts that write side by side lose $shared; of 4194304 in stretches of 65536, $apart"
    [ "$apart" -eq 0 ] || fail "bytes of pages that are not shared are lost"
    [[ $mode = *noac* ]] || [ "$shared" -gt 0 ] || fail "this mount loses nothing: it cannot show anything"
    began=$SECONDS
    for ((number = 0; number < RUNS; number++)); do
        format=$((number % 2 * 6))
        search "$number" $format >said.search 2>&1 || fail "$mode, run $number: $(cat said.search)"
        same "$number" $format
        rm /report/report
        (((number + 1) % 10)) || echo "$mode: $((number + 1)) of $RUNS runs"
    done
    echo "ok $mode: $RUNS runs, all bytes are there, $(((SECONDS - began) / RUNS)) s each"
    everywhere "umount /report"
done
