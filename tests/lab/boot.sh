#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Boots a kernel and keeps what it sends: tests/lab/boot.sh ACCEL SMP VMLINUZ IMAGE OUT SECONDS
# OUT receives the files of /out and the console.

set -u
accel=$1
smp=$2
vmlinuz=$3
image=$4
out=$5
seconds=$6
mkdir -p "$out" || exit 1
# no_timer_check: where the host is busy, the kernel's test of the emulated timer may fail, and panic.
timeout -k 5 "$seconds" qemu-system-x86_64 -accel "$accel" -cpu max -smp "$smp" -m 1024 \
    -display none -no-reboot -nodefaults -serial "file:$out/console" -serial "file:$out/out.tar.gz" \
    -kernel "$vmlinuz" -initrd "$image" \
    -append 'console=ttyS0 quiet panic=1 tsc=reliable no_timer_check' </dev/null >"$out/qemu.log" 2>&1
status=$?
# A panic ends QEMU with 0 too: what counts is that the results are whole.
if [ "$status" != 0 ] || ! tar -xzf "$out/out.tar.gz" -C "$out" 2>/dev/null; then
    cat "$out/qemu.log" >&2
    tail -n 20 "$out/console" >&2
    echo "the kernel sent no results (QEMU ended with status $status)" >&2
    exit 1
fi
rm "$out/out.tar.gz"
