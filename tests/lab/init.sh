#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The guest's first process: does the jobs of /lab/jobs and sends /out as a tar file over the second
# serial line. A line of a job is NAME SCHEDULER COMMAND...; the scheduler is default, rr or that of
# /lab/SCHEDULER.bpf.o.

/bin/busybox mkdir -p /proc /sys /dev /tmp /out
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=/lib
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
ifconfig lo 127.0.0.1 up
stty -F /dev/ttyS1 raw -echo
for cpu in /sys/devices/system/cpu/cpu[0-9]*/online; do
    echo 1 >"$cpu"
done
echo "lab: $(grep -c ^processor /proc/cpuinfo) CPUs"

bpftool() {
    LD_LIBRARY_PATH=/tools /tools/ld-linux-x86-64.so.2 /tools/bpftool "$@"
}

running() {
    cat /sys/kernel/sched_ext/root/ops 2>/dev/null
}

# Is the scheduler there, and is it that of the job?
start() {
    [ -e "/lab/$1.bpf.o" ] || return 0
    mkdir -p "/sys/fs/bpf/$1"
    bpftool struct_ops register "/lab/$1.bpf.o" "/sys/fs/bpf/$1" || return 1
    [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] && running >&2
}

# Still there at the end: the kernel throws out a scheduler that lets tasks starve.
stop() {
    [ -e "/lab/$1.bpf.o" ] || return 0
    state=$(cat /sys/kernel/sched_ext/state)
    bpftool map dump name lab_events -j >"/out/$2.events" 2>/dev/null
    rm -rf "/sys/fs/bpf/$1"
    while [ "$(cat /sys/kernel/sched_ext/state)" != disabled ]; do
        sleep 0.1
    done
    [ "$state" = enabled ]
}

while read -r name scheduler command; do
    read -r began _ </proc/uptime
    class=
    [ "$scheduler" = rr ] && class='chrt -r 1'
    status=scheduler
    if start "$scheduler" 2>"/out/$name.scheduler"; then
        cd /out && $class $command >"/out/$name.json" 2>"/out/$name.err" </dev/null
        status=$?
        stop "$scheduler" "$name" || status=scheduler
    fi
    read -r ended _ </proc/uptime
    echo "$status" >"/out/$name.status"
    echo "lab: $name: status $status, $began to $ended s"
done </lab/jobs
dmesg >/out/dmesg
tar -c -C /out . | gzip -1 >/tmp/out.tar.gz
cat /tmp/out.tar.gz >/dev/ttyS1
poweroff -f
