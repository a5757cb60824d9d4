#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The large table of how the classifier does: random traces of the time-slice simulator, 2 to 64
# cores, 2 to 6 tasks a core, each noise in a third of them (tests/sim/draw.h, draw_form()). Takes
# hours of CPU time.
#
#     tests/sim/form.sh [COUNT [FIRST]]    traces (default 10,000) from that seed on (2,000,000)
#
# Builds a release under build-form/ and runs it in pieces of at most $SECONDS_EACH (150), each in a
# process of its own behind $RUN (a wrapper, if one is wanted). Each trace leaves a line in
# build-form/rows-FIRST: started again, it goes on where it was stopped, unless the library or the
# simulator changed. Wrong verdicts are printed as they come, then the tables. The exit status is 0
# if at most 1 in 1,000 was wrong and 99 % of the decidable were decided.

set -eu
cd "$(dirname "$0")/../.."
count=${1:-10000}
first=${2:-2000000}
out=build-form

[ -d "$out" ] || meson setup "$out" --buildtype=release -Dexperiment=disabled >/dev/null
${RUN:-} ninja -C "$out" tests/sim/confusion >/dev/null
confusion=$out/tests/sim/confusion
rows=$out/rows-$first
program=$(cat "$confusion" "$out/lib/liblbsched.so" | cksum)
if [ "$(cat "$rows.program" 2>/dev/null)" != "$program" ]; then
    : >"$rows"
    echo "$program" >"$rows.program"
fi
while [ "$(wc -l <"$rows")" -lt "$count" ]; do
    ${RUN:-} "$confusion" --form --first "$first" --count "$count" \
        --seconds "${SECONDS_EACH:-150}" --rows "$rows" | grep '^WRONG' || true
done
"$confusion" --rows "$rows" --count 0 --require-form
