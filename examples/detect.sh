#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How does this machine share its cores? Installs what is missing to find out (Debian, as root),
# builds lbsched under build-detect/ and runs the detect example with the arguments given. Exits
# with its status; `examples/detect.sh --help` tells which.

set -u
# The arguments may name files: they stay relative to where the caller is.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$root/build-detect

# shellcheck source=tests/packages.sh
. "$root/tests/packages.sh"
need_to_build
need libhwloc-dev pkg-config --exists 'hwloc >= 2.0'
case " $* " in
*" --plot"* | *" --html"*) need gnuplot-nox gnuplot --version ;;
esac
mkdir -p "$build" || exit 1
[ -w "$build" ] || {
    echo "$0: $build is not yours to write; run $build/examples/lbsched-detect if it is there" >&2
    exit 1
}
install_missing "$build/install.log" >&2 || exit 1

{
    [ -e "$build/build.ninja" ] ||
        meson setup "$build" "$root" --buildtype=release -Dexperiment=enabled -Dtests=false \
            -Ddocs=false
} >"$build/build.log" 2>&1 && ninja -C "$build" examples/lbsched-detect >>"$build/build.log" 2>&1 || {
    cat "$build/build.log" >&2
    echo "$0: lbsched could not be built" >&2
    exit 1
}
exec "$build/examples/lbsched-detect" "$@"
