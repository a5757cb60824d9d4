#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Meson project that has lbsched as a subproject, and wants the model alone. usage:
# subproject.sh LBSCHED SOURCE_DIR CC
set -eu
root=$1 source=$2
export CC="$3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$source/subproject/meson.build" "$source/program.c" "$work"
mkdir -p "$work/subprojects/lbsched"
cp -r "$root/meson.build" "$root/meson_options.txt" "$root/include" "$root/lib" \
    "$work/subprojects/lbsched"
# One that is installed would be taken instead.
export PKG_CONFIG_LIBDIR="$work/none"
meson setup --buildtype=plain "$work/build" "$work" >"$work/log" 2>&1 &&
    ninja -C "$work/build" program >>"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
if readelf -d "$work/build/subprojects/lbsched/lib/liblbsched.so" | grep hwloc; then
    echo "the model alone needs no hwloc" >&2
    exit 1
fi
got=$("$work/build/program")
[ "$got" = '3 5.5 7.5 9 10 11' ] || { echo "$got" >&2; exit 1; }
