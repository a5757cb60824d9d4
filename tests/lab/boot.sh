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
timeout -k 5 "$seconds" qemu-system-x86_64 -accel "$accel" -cpu max -smp "$smp" -m 1024 \
    -display none -no-reboot -nodefaults -serial "file:$out/console" -serial "file:$out/out.tar.gz" \
    -kernel "$vmlinuz" -initrd "$image" \
    -append 'console=ttyS0 quiet panic=1 tsc=reliable' </dev/null >"$out/qemu.log" 2>&1
status=$?
if [ "$status" != 0 ]; then
    cat "$out/qemu.log" >&2
    tail -n 5 "$out/console" >&2
    echo "qemu ended with status $status" >&2
    exit 1
fi
tar -xzf "$out/out.tar.gz" -C "$out" || exit 1
rm "$out/out.tar.gz"
