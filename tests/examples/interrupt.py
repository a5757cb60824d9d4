# SPDX-License-Identifier: BSD-3-Clause
"""SIGINT in the middle of detect: exit status 130, and no worker left."""
import os
import signal
import subprocess
import sys
import time

from examples import skip

detect = sys.argv[1]
if len(os.sched_getaffinity(0)) < 2:
    skip("this process may use one core only")


def processes_of_session(session):
    """The processes, zombies included, of a session."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                found.append(int(name))
    return found


def wait_until(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"30 s and not yet {what}"
        time.sleep(0.01)


# The later ones come while a self-test runs, which takes ten seconds and more: however late this
# process is, they do not come too late.
for number, whole_group, delay, what in [(signal.SIGINT, False, 0, "--json"),
                                         (signal.SIGINT, True, 0.5, "--self-test"),
                                         (signal.SIGTERM, False, 1.5, "--self-test")]:
    process = subprocess.Popen([detect, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    wait_until(lambda: len(processes_of_session(process.pid)) > 1, "a worker")
    time.sleep(delay)
    # As a terminal does it, all of the group get it; kill(1) sends it to one.
    (os.killpg if whole_group else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number, (process.returncode, out, err)
    assert "interrupted" in err and out == "", (out, err)
    # The workers are gone when detect is, not some time later.
    left = processes_of_session(process.pid)
    assert left == [], f"left behind: {left}"

# A parent that dies at once, with no chance to tidy up, leaves nothing for long either.
process = subprocess.Popen([detect, "--json"], stdout=subprocess.DEVNULL, start_new_session=True)
wait_until(lambda: len(processes_of_session(process.pid)) > 1, "a worker")
process.kill()
process.wait()
wait_until(lambda: not processes_of_session(process.pid), "the end of the workers")
