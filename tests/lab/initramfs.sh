#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Packs what the guest needs: tests/lab/initramfs.sh CACHE JOBS IMAGE [PROGRAM | SCHEDULER.bpf.o]...
# Programs bring their libraries.

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cache=$1
jobs=$2
image=$3
shift 3
root=$image.root
rm -rf "$root"
mkdir -p "$root/bin" "$root/lib" "$root/lab" || exit 1
cp "$here/init.sh" "$root/init" && chmod 755 "$root/init" || exit 1
cp /bin/busybox "$root/bin/" || exit 1
ln -s busybox "$root/bin/sh"
cp "$jobs" "$root/lab/jobs" || exit 1
for file in "$@"; do
    case $file in
    *.bpf.o)
        cp "$file" "$root/lab/" || exit 1
        if [ ! -d "$root/tools" ]; then
            mkdir "$root/tools"
            cp -L "$cache"/tools/usr/sbin/bpftool "$cache"/tools/usr/lib64/ld-linux-x86-64.so.2 "$root/tools/"
            for library in libc.so.6 libm.so.6 libbpf.so.1 libelf.so.1 libz.so.1 libzstd.so.1 libcap.so.2 \
                libcrypto.so.3; do
                cp -L "$cache/tools/usr/lib/x86_64-linux-gnu/$library" "$root/tools/"
            done
        fi
        ;;
    *)
        cp "$file" "$root/bin/" || exit 1
        ldd "$file" | awk '$2 == "=>" { print $3 }' | while read -r library; do
            cp -Ln "$library" "$root/lib/"
        done
        loader=$(ldd "$file" | awk '$1 ~ /^\/.*ld-linux/ { print $1 }')
        mkdir -p "$root$(dirname "$loader")"
        cp -Ln "$loader" "$root$loader"
        ;;
    esac
done
(cd "$root" && find . | cpio -o -H newc --quiet) >"$image" || exit 1
rm -rf "$root"
