#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Can the oracle comparison fail? Breaks the engine on purpose, in a copy of the tree, in one place
# at a time: each time the comparison must fail.
#
#     tests/oracle/mutations.sh [NAME...]    all, or some of them
#
# Takes some minutes. A mutation that no longer fits the source is a failure too: mend it here.

set -u
cd "$(dirname "$0")/../.." || exit 1
LBSCHED_SHARED=$(cd "${LBSCHED_SHARED:-../shared}" 2>/dev/null && pwd)
export LBSCHED_SHARED
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
{ git ls-files -co --exclude-standard || exit 1; } | tar cf - -T - | tar xf - -C "$copy"
cd "$copy" || exit 1

build() {
    ninja -C build tests/oracle/check_engine tests/oracle/check_online \
        tests/oracle/check_rotation >build.log 2>&1
}
compare() {
    timeout 300 build/tests/oracle/check_engine 4000 >compare.log 2>&1 &&
        timeout 300 build/tests/oracle/check_online 1000 >compare.log 2>&1 &&
        timeout 300 build/tests/oracle/check_rotation >compare.log 2>&1
}

meson setup build -Dexamples=false -Dexperiment=disabled >build.log 2>&1 && build || {
    tail build.log
    exit 1
}
compare || {
    echo "the comparison fails without a mutation:"
    tail -n 5 compare.log
    exit 1
}

wanted=" $* " caught=0 failed=0

# mutation NAME FILE SED-SCRIPT
mutation() {
    [ "$wanted" = "  " ] || case $wanted in *" $1 "*) ;; *) return ;; esac
    cp "$2" original
    sed "$3" original >"$2"
    if cmp -s original "$2"; then
        verdict="does not fit $2 any more"
    elif ! build; then
        verdict="does not compile"
    elif compare; then
        verdict="was not noticed"
    else
        verdict=
    fi
    cp original "$2"
    if [ -n "$verdict" ]; then
        failed=$((failed + 1))
        echo "FAILED   $1: $verdict"
    else
        caught=$((caught + 1))
        echo "caught   $1: $(grep -m 1 FAILED compare.log | cut -c 1-70)"
    fi
}

model=lib/model
mutation window $model/engine.h 's/\(LBI_WINDOW\) 1e-12/\1 1e-10/'
mutation lazy-giver $model/balance.c 's/shortest == 0 ? 2 :/shortest == 0 ? 3 :/'
mutation active-giver $model/balance.c 's/shortest + 2;/shortest + 3;/'
mutation longest-ignored $model/balance.c '/length = engine->longest;/s/longest/shortest + 2/'
mutation first-is-last $model/balance.c 's/giver->oldest/giver->newest/'
mutation slowest-first $model/model.c 's/a->speed > b->speed ? -1 : 1/a->speed > b->speed ? 1 : -1/'
mutation merged-lost $model/exact.c 's/probability += probability;/probability += 0;/'
mutation no-work-is-placed $model/engine.c 's/if (!(work > 0))/if (!(work >= 0))/'
mutation woken-to-shortest $model/engine.c 's/core == LBI_ANY_CORE ? lbi_lengths_shortest/true ? lbi_lengths_shortest/'
mutation check-is-put-off $model/engine.c 's/ && engine->check_time == INFINITY &&/ \&\&/'
mutation by-time-in-the-window $model/plan.c 's/if (count > 0 \&\& actions\[0\]/if (false \&\& actions[0]/'
mutation ignored-for-good $model/plan.c 's/action->order == 0 || action->crowded/action->order == 0/'
mutation cap-of-all-cores $model/sharing.c 's/: speed \/ (double)m;/: speed \/ engine->model->options.cores;/'
mutation one-too-few $model/engine.c 's/lbi_random_below(&engine->random, ways)/lbi_random_below(\&engine->random, ways - 1)/'
mutation commit-unsorted $model/engine.c 's/if (!engine->in_order)/if (false)/'
mutation same-weight $model/sim.c 's/if (!completed && weight != weight_of(sim, slot))/if (false)/'
mutation clone-forgets $model/sim.c 's/clone->identities, sim->identities, n /clone->identities, sim->identities, n \/ 2 /'
mutation sleeper-keeps-work $model/sim.c 's/sim->engine.places\[slot\].either.remaining = remaining;/(void)0;/'
mutation rotates-to-any $model/balance.c 's/uint32_t to = longest + /uint32_t to = /'
mutation hazard-of-one $model/engine.c 's/hazard \* mean \/ rotating;/hazard * mean;/'
mutation drained-too-far $model/drain.c 's/return first \* (1 - 1e-9);/return first * 1.1;/'
mutation drained-by-all $model/drain.c 's/m = left < cores ? left : cores;/m = cores;/'
mutation groups-alike $model/groups.c 's/define IMBALANCE 1.25/define IMBALANCE 1.0/'
mutation groups-above-the-mean $model/groups.c 's/b->groups \* b->heaviest - b->all >= least/true/'
mutation groups-below-the-mean $model/groups.c 's/b->all - b->groups \* b->lightest >= least/true/'
mutation tree-of-less $model/tree.c 's/(uint64_t)node\[0\])\]/(uint64_t)node[0] - 1)]/'

echo "$caught caught, $failed failed"
[ "$failed" = 0 ] && [ "$caught" -gt 0 ]
