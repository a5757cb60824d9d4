# SPDX-License-Identifier: BSD-3-Clause
"""simgrid-host: in the simulation jobs end when the model says, and under immediate when SimGrid does."""
import subprocess
import sys

from examples import near, run

simgrid_host, sanitized = sys.argv[1:]


def simulate(*words):
    if sanitized == "no":
        return run(simgrid_host, *words)
    # SimGrid's actors change stacks by themselves, of which AddressSanitizer warns when one is killed.
    done = subprocess.run([simgrid_host, *map(str, words)], capture_output=True, text=True, timeout=100,
                          check=True)
    assert "ERROR" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.stdout



# Golden: job 0 of 1 s shares its core with jobs 4 and 8 of weights 1 and 2 (none, lazy, active).
golden = {0: [2.386667, 2.386667, 2.386667, 2.484682], 5: [9.143333, 7.58, 7.58, 7.335552],
          9: [11.8] * 4}
told = simulate(4, 1)
table = {int(line.split()[0]): [float(word) for word in line.split()[1:]]
         for line in told.splitlines() if line.split()[0].isdigit() and line.split()[1][0].isdigit()
         and "cores" not in line}
assert sorted(table) == list(range(12)), told
for job, ends in golden.items():
    for value, expected in zip(table[job][1:5], ends):
        near(value, expected, 1e-6)
for job, (_, none, lazy, active, immediate, simgrid) in table.items():
    near(immediate, simgrid, 1e-6)
assert table[11][1:] == [float("inf")] * 5

# The program itself fails where they are 1e-9 s apart.
for cores, seed in (1, 1), (2, 2), (3, 3), (12, 4):
    told = simulate(cores, seed)
    assert told.count("predicted at once: at most") == 4, told
for words in ([0], [1001], ["4x"], [""], [4, "x"], [4, -1], [4, 1, 1], ["--help"]):
    run(simgrid_host, *words, status=2, said="usage")
