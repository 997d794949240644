#!/bin/bash
# What a guest does first and last (scripts/test-nfs.sh). Its files are those of the machine that it runs on, read-only, with a
# layer of its own in memory on top, in which the programs of the NFS server are; $SHARED alone is shared by all.
set -eu
if [ "${1:-}" != inside ]; then
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /mnt
    modules=$PACKAGES/kernel/usr/lib/uml/modules/$(uname -r)
    kmod=$PACKAGES/system/usr/bin/kmod
    [ -x "$kmod" ] || kmod=/usr/bin/kmod
    (exec -a insmod "$kmod" "$modules/kernel/fs/overlayfs/overlay.ko")
    mkdir /mnt/upper /mnt/work /mnt/system
    mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/system
    cp -a "$PACKAGES"/system/{etc,usr,var} /mnt/system
    mkdir -p /mnt/system/lib/modules
    ln -sfn "$modules" /mnt/system/lib/modules/
    mount --bind /dev /mnt/system/dev
    mount -t proc proc /mnt/system/proc
    mount -t sysfs sysfs /mnt/system/sys
    for directory in run dev/shm; do
        mkdir -p "/mnt/system/$directory"
        mount -t tmpfs tmpfs "/mnt/system/$directory"
    done
    mkdir -p "/mnt/system/$SHARED"
    mount -t hostfs hostfs -o "$SHARED" "/mnt/system/$SHARED"
    exec chroot /mnt/system "$SHARED/guest.sh" inside
fi

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
hostname "$NAME"
printf '127.0.0.1 localhost\n10.77.0.10 server\n' >/etc/hosts
for number in 1 2 3 4; do echo "10.77.0.$number n$number" >>/etc/hosts; done
grep -q '^_rpc:' /etc/passwd || echo '_rpc:x:120:65534::/run/rpcbind:/usr/sbin/nologin' >>/etc/passwd
grep -q '^statd:' /etc/passwd || echo 'statd:x:121:65534::/var/lib/nfs:/usr/sbin/nologin' >>/etc/passwd
mkdir -p /run/rpcbind /run/lock /run/sendsigs.omit.d /report
ip link set lo up
ip link set vec0 up
ip addr add "10.77.0.$NUMBER/24" dev vec0
modprobe nfs
rpcbind
rpc.statd --no-notify

if [ "$NAME" = server ]; then
    modprobe nfsd
    mkdir -p /export
    mount -t ext4 /dev/ubda /export
    mount -t nfsd nfsd /proc/fs/nfsd
    echo '/export *(rw,no_root_squash,no_subtree_check,insecure,fsid=0)' >/etc/exports
    exportfs -r
    rpc.nfsd --grace-time 10 --lease-time 10 8
    rpc.mountd
fi
# Whoever asks gets a shell.
socat -t 3600 TCP-LISTEN:77,fork,reuseaddr EXEC:/bin/sh &
if [ "$NAME" = n1 ]; then
    if "$SHARED/runs.sh" >>"$SHARED/log" 2>&1; then echo passed; else echo failed; fi >"$SHARED/result.new"
    mv "$SHARED/result.new" "$SHARED/result"
fi
wait
