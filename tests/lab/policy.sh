#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles a scheduler for a kernel: tests/lab/policy.sh CACHE KERNEL FILE.bpf.c FILE.bpf.o
# Exit status 77 and one line why, if that kernel takes none.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cache=$1
kernel=$2
source=$3
object=$4

# The kernel describes its own types; vmlinuz tells where in it the compressed kernel lies.
if [ ! -s "$kernel/vmlinux.h" ]; then
    "$here/fetch.sh" "$cache" bpftool || exit $?
    python3 - "$kernel/vmlinuz" <<'EOF' | zstd -dcq >"$kernel/vmlinux" 2>/dev/null
import struct, sys
image = open(sys.argv[1], "rb").read()
offset, length = struct.unpack_from("<II", image, 0x248)
offset += ((image[0x1f1] or 4) + 1) * 512
sys.stdout.buffer.write(image[offset:offset + length - 4])
EOF
    "$here/bpftool.sh" "$cache/tools" btf dump file "$kernel/vmlinux" format c \
        >"$kernel/vmlinux.h.new" 2>/dev/null
    rm -f "$kernel/vmlinux"
    if ! grep -q 'struct sched_ext_ops {' "$kernel/vmlinux.h.new"; then
        echo "$(cat "$kernel/package"): has no sched_ext that can be read from it" >&2
        exit 77
    fi
    mv "$kernel/vmlinux.h.new" "$kernel/vmlinux.h"
fi
exec clang -O2 -g -target bpf -mcpu=v3 -fms-extensions -Wall -isystem "$kernel" \
    -isystem /usr/include/x86_64-linux-gnu -I"$here/policies" -c "$source" -o "$object"
