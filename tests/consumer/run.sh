#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs into an empty place and links programs against it as its users do: make and pkg-config,
# C and C++11, shared and static, and CMake. usage: run.sh BUILD_DIR SOURCE_DIR CC
set -eu
build=$1 source=$2
export CC="$3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$work/root" -name lbsched.pc)
# pkg-config puts this before the paths that it finds in the file.
prefix=$(sed -n 's/^prefix=//p' "$pc")
export PKG_CONFIG_PATH="${pc%/*}"
export PKG_CONFIG="pkg-config --define-variable=prefix=$work/root$prefix"
libdir=$($PKG_CONFIG --variable=libdir lbsched)

$PKG_CONFIG --cflags --libs lbsched
case $($PKG_CONFIG --libs lbsched) in
*hwloc*) echo "hwloc is private: a program that links the shared library must not ask for it" >&2; exit 1 ;;
esac

# same NAME PROGRAM...: prints what the model says of six processes.
same() {
    name=$1
    shift
    got=$("$@")
    [ "$got" = '3 5.5 7.5 9 10 11' ] || { echo "$name: $got" >&2; exit 1; }
    echo "ok: $name"
}

cp "$source/Makefile" "$source"/program.* "$work"
make -s -C "$work" program
same "make, shared" env LD_LIBRARY_PATH="$libdir" "$work/program"
if command -v c++ >/dev/null 2>&1; then
    make -s -C "$work" CXX=c++ program-cxx
    same "make, C++11, shared" env LD_LIBRARY_PATH="$libdir" "$work/program-cxx"
else
    echo "skipped: C++11: no C++ compiler"
fi
if command -v cmake >/dev/null 2>&1; then
    cmake -S "$source/cmake" -B "$work/cmake" -DPKG_CONFIG_EXECUTABLE="$(command -v pkg-config)" \
        -DPKG_CONFIG_ARGN="--define-variable=prefix=$work/root$prefix" >"$work/cmake.log" 2>&1 &&
        cmake --build "$work/cmake" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log" >&2; exit 1; }
    same "CMake, shared" env LD_LIBRARY_PATH="$libdir" "$work/cmake/program"
else
    echo "skipped: CMake: not installed"
fi

rm "$libdir"/liblbsched.so* "$work/program"
make -s -C "$work" STATIC=--static program
same "make, static" "$work/program"
