# SPDX-License-Identifier: BSD-3-Clause
"""mpi-sweep: on any number of ranks the answer of one process; mpi-detect: who differs, one
measurement a node."""
import os
import shutil
import subprocess
import sys

from examples import skip

detect, sweep = sys.argv[1:]
if shutil.which("mpirun") is None:
    skip("no mpirun (Debian: openmpi-bin)")
environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                            "OMPI_MCA_mpi_yield_when_idle": "1"}


def mpi(ranks, *command, status=0):
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), *map(str, command)],
                          env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done
    return done.stdout


alone = subprocess.run([sweep, "501"], capture_output=True, text=True, timeout=100, check=True).stdout
assert len(alone.splitlines()) == 9 and "e+" not in alone, alone
assert all(line.split(",")[2] == "501" for line in alone.splitlines()[1:])
assert mpi(3, sweep, 501) == alone
for words in (["0"], ["1e3"], ["-1"], ["2000001"], ["1", "x"], ["1", "1", "1"]):
    done = subprocess.run([sweep, *words], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 2 and "usage" in done.stderr and done.stdout == "", done
# Fewer realisations than ranks, and another seed.
two, other = (subprocess.run([sweep, *words], capture_output=True, text=True, check=True).stdout
              for words in (["2"], ["501", "2"]))
assert mpi(3, sweep, 2) == two and other != alone

data = os.path.join(os.environ["LBSCHED_ROOT"], "tests/data")
lazy, immediate, none = (os.path.join(data, f"{name}.csv")
                         for name in ("windows-7", "linux-2.6.31", "none"))
told = mpi(4, detect, lazy, immediate, lazy, none, status=3).splitlines()
assert len(told) == 5 and told[4] == "4 nodes, 2 are as most: lazy", told
for line, expected in zip(told, ("windows-7.csv: lazy (", "linux-2.6.31.csv: immediate (",
                                 "windows-7.csv: lazy (", "none.csv: error DIFFERS: ")):
    assert line.startswith(expected), told
assert ["DIFFERS" in line for line in told] == [False, True, False, True, False], told
assert "No such file" in told[3], told

# Two ranks on this node: one measures, once.
done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", detect, "1"], env=environment,
                      capture_output=True, text=True, timeout=100, check=False)
assert done.returncode in (0, 3) and done.stdout.splitlines()[-1].startswith("1 nodes, "), done
assert len(done.stdout.splitlines()) == 2, done
