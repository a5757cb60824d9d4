#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into an empty place and links a program against it as its users do: pkg-config, shared
# and static. usage: run.sh BUILD_DIR SOURCE_DIR COMPILER
set -eu
build=$1 source=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work meson install -C "$build" --no-rebuild --quiet
pc=$(find "$work" -name lbsched.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
export PKG_CONFIG_PATH="${pc%/*}"
config() { pkg-config --define-variable=prefix="$work$prefix" "$@" lbsched; }

(cd "$work" && find . -type f -o -type l | sort)
config --cflags --libs
case $(config --libs) in
*hwloc*) echo "hwloc is private: a program that links the shared library must not ask for it" >&2; exit 1 ;;
esac

expected='3 5.5 7.5 9 10 11'
libdir=$(config --variable=libdir)
"$compiler" -std=c99 "$source/program.c" -o "$work/shared" $(config --cflags --libs)
got=$(LD_LIBRARY_PATH=$libdir "$work/shared")
[ "$got" = "$expected" ] || { echo "shared: $got instead of $expected" >&2; exit 1; }

rm "$libdir"/liblbsched.so*
"$compiler" -std=c99 "$source/program.c" -o "$work/static" $(config --static --cflags --libs)
got=$("$work/static")
[ "$got" = "$expected" ] || { echo "static: $got instead of $expected" >&2; exit 1; }
echo "shared and static: $got"
