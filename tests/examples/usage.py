# SPDX-License-Identifier: BSD-3-Clause
"""detect where nothing can be measured: bad command lines, no core, one core, no experiments."""
import os
import sys

from examples import run

detect = sys.argv[1]

assert "lbsched-detect (lbsched) " + os.environ["LBSCHED_VERSION"] + "\n" == run(detect, "--version")
assert run(detect, "--help").startswith("usage: lbsched-detect")
for words, said in [
    (["x"], "x"),
    (["--plot", "x"], ".svg"),
    (["--budget", "0.5"], "--budget 0.5"),
    (["--budget", "nan"], "--budget nan"),
    (["--seed", "-1"], "--seed -1"),
    (["--nonsense"], "nonsense"),
]:
    run(detect, *words, status=2, said=said)

if os.environ["LBSCHED_EXPERIMENT"] == "0":
    run(detect, status=1, said="no experiments")
    sys.exit(0)

cores = sorted(os.sched_getaffinity(0))
# On one core there is nothing to balance.
run(detect, status=1, said="core", preexec_fn=lambda: os.sched_setaffinity(0, cores[:1]))
# No core at all: hwloc is told of CPU 0 alone, and this process may only use another.
if cores[-1] != 0:
    run(detect, status=1, said="no core",
        env=os.environ | {"HWLOC_SYNTHETIC": "pu:1", "HWLOC_THISSYSTEM": "1"},
        preexec_fn=lambda: os.sched_setaffinity(0, cores[-1:]))
