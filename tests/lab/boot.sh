#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Boots a kernel and keeps what it sends: tests/lab/boot.sh QEMU ACCEL SMP VMLINUZ IMAGE OUT SECONDS
# QEMU is a folder as of fetch.sh, or nothing: the system's. OUT receives the files of /out and the
# console.

set -u
folder=$1
accel=$2
smp=$3
vmlinuz=$4
image=$5
out=$6
seconds=$7
mkdir -p "$out" || exit 1
qemu=qemu-system-x86_64
# Kernels up to 6.1 believe in the hardware threads of an emulated Intel CPU only.
cpu=max
case $smp in
*threads=*) cpu=max,vendor=GenuineIntel ;;
esac
set --
if [ -n "$folder" ]; then
    qemu=$folder/usr/bin/qemu-system-x86_64
    set -- -L "$folder/usr/share/qemu" -L "$folder/usr/share/seabios"
fi
# no_timer_check: where the host is busy, the kernel's test of the emulated timer may fail, and panic.
# maxcpus=1: a kernel changes its code while it boots, and QEMU 7.2's emulation does not always keep
# another CPU from running what was there (panics in one of ten boots). init.sh starts
# the other CPUs.
timeout -k 5 "$seconds" "$qemu" "$@" -accel "$accel" -cpu "$cpu" -smp "$smp" -m 1024 \
    -display none -no-reboot -nodefaults -serial "file:$out/console" -serial "file:$out/out.tar.gz" \
    -kernel "$vmlinuz" -initrd "$image" \
    -append 'console=ttyS0 quiet panic=1 tsc=reliable no_timer_check maxcpus=1' \
    </dev/null >"$out/qemu.log" 2>&1 &
pid=$!
trap 'kill "$pid"; exit 143' INT TERM HUP
wait "$pid"
status=$?
# A panic ends QEMU with 0 too: what counts is that the results are whole.
if [ "$status" != 0 ] || ! tar -xzf "$out/out.tar.gz" -C "$out" 2>/dev/null; then
    cat "$out/qemu.log" >&2
    tail -n 20 "$out/console" >&2
    echo "the kernel sent no results (QEMU ended with status $status)" >&2
    exit 1
fi
rm "$out/out.tar.gz"
