#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What model and classifier cost, in one table: ratios first, each the median over interleaved
# pairs.
#
#     tests/bench/run.sh [PAIRS]    pairs for each row, 10 or more (default 15)
#
# Builds a release under build-bench/ and runs it on the first CPU allowed; a quiet machine is
# the caller's affair. Leaves build-bench/scaling.csv and, with gnuplot, build-bench/scaling.svg.

set -eu
cd "$(dirname "$0")/../.."
pairs=${1:-15}
out=build-bench

[ -d "$out" ] || meson setup "$out" --buildtype=release >/dev/null
ninja -C "$out" benchmarks >/dev/null

cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(uname -sr)," \
    "$(cc --version | head -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
taskset -c "$cpu" "$out/tests/bench/bench" "$pairs"
taskset -c "$cpu" "$out/tests/bench/bench_classify" "$pairs"
if [ -x "$out/tests/bench/bench_simgrid" ]; then
    taskset -c "$cpu" "$out/tests/bench/bench_simgrid" "$pairs"
else
    echo "skipped: SimGrid: not installed when this was configured (Debian: libsimgrid-dev)"
fi

echo
echo "cost of one realisation, as a power of processes (100 to 1,000,000 on 64 cores) and of" \
    "cores (4 to 40,000 for 100,000 processes)"
taskset -c "$cpu" "$out/tests/bench/scaling" >"$out/scaling.csv"
if command -v gnuplot >/dev/null 2>&1; then
    gnuplot -e "input='$out/scaling.csv'; output_='$out/scaling.svg'" tests/bench/scaling.gp
    echo "plot: $out/scaling.svg"
else
    echo "skipped: the plot of $out/scaling.csv: no gnuplot"
fi
