#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hunts for input that breaks something, each program in turn, with AddressSanitizer and
# UndefinedBehaviorSanitizer.
#
#     tests/fuzz/run.sh SECONDS [NAME...]    each program (or those named) for so long
#
# What it finds interesting stays in build-fuzz/kept, so that the next run goes on from there, and
# what was run is told in build-fuzz/executions: a line for each run with program, executions and
# seconds. An input that breaks something is left in build-fuzz/found; it belongs into
# tests/fuzz/corpus, where each run of the tests tries it again. The exit status is 0 if nothing was
# found. Needs clang and its libFuzzer (Debian: clang, libclang-rt-14-dev).

set -u
cd "$(dirname "$0")/../.." || exit 1
case ${1:-} in
'' | *[!0-9]*)
    echo "usage: $0 SECONDS [NAME...]" >&2
    exit 2
    ;;
esac
seconds=$1
shift
[ $# -gt 0 ] || set -- distribution import model sim table trace verdict workload

out=$PWD/build-fuzz
if [ ! -e "$out/build.ninja" ]; then
    CC=clang meson setup "$out" -Dfuzz=true -Dexperiment=disabled -Dexamples=false -Doptimization=1 \
        -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all || exit 1
fi
mkdir -p "$out/found"
failed=0
for name; do
    ninja -j2 -C "$out" "tests/fuzz/fuzz_$name" >"$out/ninja.log" || {
        cat "$out/ninja.log"
        exit 1
    }
    mkdir -p "$out/kept/$name"
    log=$out/$name.log
    "$out/tests/fuzz/fuzz_$name" "-max_total_time=$seconds" -max_len=2000 -print_final_stats=1 \
        "-artifact_prefix=$out/found/$name-" "$out/kept/$name" "tests/fuzz/corpus/$name" \
        >"$log" 2>&1 || {
        failed=1
        echo "FAILED   $name: see $log"
        tail -n 30 "$log" | sed 's/^/    /'
        continue
    }
    sed -nE "s/^Done ([0-9]+) runs in ([0-9]+) second.*/$name \1 \2/p" "$log" | tee -a "$out/executions"
done
exit $failed
