#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The large table of how the classifier does: random traces of the time-slice simulator, 2 to 64
# cores, 2 to 6 tasks a core, each noise in a third of them (tests/sim/draw.h, draw_form()). Takes
# some twenty minutes.
#
#     tests/sim/form.sh [COUNT [FIRST]]    traces (default 10,000) from that seed on (1,000,000)
#
# Builds a release under build-form/ and runs it in pieces, each in a process of its own behind $RUN
# (a wrapper, if one is wanted). Wrong verdicts are printed as they come, then the tables. The exit
# status is 0 if at most 1 in 1,000 was wrong and 99 % of the decidable were decided.

set -eu
cd "$(dirname "$0")/../.."
count=${1:-10000}
first=${2:-1000000}
piece=200
out=build-form

[ -d "$out" ] || meson setup "$out" --buildtype=release -Dexperiment=disabled >/dev/null
${RUN:-} ninja -C "$out" tests/sim/confusion >/dev/null
sums=$out/form-$first-$count.sums
rm -f "$sums"
done=0
while [ "$done" -lt "$count" ]; do
    n=$((count - done < piece ? count - done : piece))
    ${RUN:-} "$out/tests/sim/confusion" --form --first $((first + done)) --count "$n" \
        --add "$sums" | grep '^WRONG' || true
    done=$((done + n))
done
"$out/tests/sim/confusion" --add "$sums" --count 0 --require-form
