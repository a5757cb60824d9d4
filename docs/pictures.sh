#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Draws the pictures of the manual anew, with a build's tools and gnuplot: docs/pictures.sh BUILD
# They are kept here, so that neither README nor the manual needs gnuplot.
set -eu
cd "$(dirname "$0")/.."
tools=$1/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep NAME: with the line that every file has, behind the first, which is XML's.
keep() {
    sed '1a <!-- SPDX-License-Identifier: BSD-3-Clause -->' "$work/$1" >"docs/pictures/$1"
}

for system in windows-7 linux-2.6.22 linux-2.6.31; do
    "$tools/lbsched-classify" "tests/data/$system.csv" --plot "$work/$system.svg" >/dev/null
    keep "$system.svg"
done
"$tools/lbsched-classify" tests/data/linux-2.6.31.csv --chart profile --plot "$work/profile.svg" \
    >/dev/null
keep profile.svg
"$tools/lbsched-predict" --cores 4 --policy lazy --slice 0.2 --trace "$work/lazy.csv" \
    1 2 3 4 5 6 7 8 >/dev/null
"$tools/lbsched-classify" "$work/lazy.csv" --chart slices --plot "$work/slices.svg" >/dev/null ||
    [ $? = 3 ]
keep slices.svg
"$tools/lbsched-weights" --model 4x4 --plot "$work/weights.svg" >/dev/null
keep weights.svg
printf 'task,duration\n0,8\n1,7\n2,6\n3,5\n4,4\n5,3\n6,2\n7,1\n8,8\n9,7\n10,6\n11,5\n' >"$work/works.csv"
"$tools/lbsched-whatif" --cores 2,3,4,6,8,16 --plot "$work/whatif.svg" "$work/works.csv" >/dev/null
keep whatif.svg
