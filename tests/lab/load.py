#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What run.sh kept of `lbsched-compare --measure`: load.py PROGRAMS FOLDER

FOLDER holds KERNEL/{batch,few,users,messages}-SCHEDULER/N.csv, N counting the boots of a kernel, all
of which were made in turn: round N of each is a block. Every kernel and scheduler is compared with
the first. Exit status 1 if a run failed, 77 if there is none.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

import models

WORKLOADS = ["batch", "few", "users", "messages"]
PREFIXES = tuple(name + "-" for name in WORKLOADS)
KERNELS = ["5.10", "6.1", "6.12", "7"]
SCHEDULERS = ["default", "rr", "lazy", "immediate"]
FEW = 5  # jobs, as run.sh has it
MASK = (1 << 64) - 1


def place(names, name):
    return (names.index(name) if name in names else len(names), name)


def work_of(job):
    """A job's arithmetic relative to the mean: lib/experiment/batch.c."""
    rounds, value = 8000000, job
    value = ((value ^ (value >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    value = ((value ^ (value >> 27)) * 0x94d049bb133111eb) & MASK
    value ^= value >> 31
    return (rounds // 2 + value % rounds) / rounds


def read(path):
    """Metadata, columns and rows of a saved result."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = file.readlines()
    meta = [line for line in lines if line[0] == "#"]
    rows = list(csv.reader(line for line in lines if line[0] != "#"))
    return meta, rows[0], rows[1:]


def merge(folder, name, path):
    """All boots' runs as one result, each boot a block. Returns faults; no file: no runs."""
    faults, merged = [], []
    for base in models.numbered(folder, ".status"):
        fault = models.failed(base)
        if fault:
            faults.append("%s: %s" % (folder, fault))
            continue
        meta, columns, rows = read(base + ".csv")
        for row in rows:
            row[columns.index("block")] = os.path.basename(base)
        merged += rows
    if merged:
        kept = [line for line in meta if line.split(":")[0] not in ("# condition", "# runs",
                                                                    "# disturbed_runs")]
        invalid = sum(float(row[columns.index("valid")]) == 0 for row in merged)
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.write("# condition: %s\n# runs: %d\n# disturbed_runs: %d\n"
                       % (name, len(merged), invalid))
            file.writelines(kept)
            csv.writer(file, lineterminator="\n").writerows([columns] + merged)
    return faults


def mean_duration(programs, policy):
    words = [str(work_of(job)) for job in range(FEW)]
    done = subprocess.run([os.path.join(programs, "lbsched-predict"), "--cores", "2", "--policy",
                           policy, "--json"] + words, capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)
    at = table["columns"].index("mean_s")
    return sum(row[at] for row in table["rows"][:FEW]) / FEW


def lazy_against_immediate(programs, paths):
    """Does the real scheduler's mean duration of a job differ as the model says?"""
    if "7 lazy" not in paths or "7 immediate" not in paths:
        return
    predicted = mean_duration(programs, "lazy") / mean_duration(programs, "immediate")
    done = subprocess.run([os.path.join(programs, "lbsched-compare"), "--json", "--metric",
                           "job_mean_s", paths["7 immediate"], paths["7 lazy"]],
                          capture_output=True, text=True, check=True)
    table = json.loads(done.stdout)
    row = dict(zip(table["columns"], table["rows"][0]))
    ratio, low, high = ("-" if row[name] is None else "%.3f" % row[name]
                        for name in ("ratio", "ratio_low", "ratio_high"))
    print("lazy against immediate, mean duration of %d jobs at once: the model says %.3f times, "
          "measured %s (%s to %s), p %.3g\n" % (FEW, predicted, ratio, low, high, row["p"]))


def main():
    programs, folder = sys.argv[1:]
    faults, shown = [], 0
    with tempfile.TemporaryDirectory() as work:
        for workload in WORKLOADS:
            paths = {}
            for kernel in sorted(os.listdir(folder), key=lambda name: place(KERNELS, name)):
                rows = [name for name in os.listdir(os.path.join(folder, kernel))
                        if name.startswith(workload + "-")]
                for row in sorted(rows, key=lambda name: place(SCHEDULERS, name.split("-", 1)[1])):
                    name = "%s %s" % (kernel, row.split("-", 1)[1])
                    path = os.path.join(work, "%s-%d.csv" % (workload, len(paths)))
                    faults += merge(os.path.join(folder, kernel, row), name, path)
                    if os.path.exists(path):
                        paths[name] = path
            base, *others = list(paths) or [None]
            for other in others:
                print("---- %s: %s and %s ----" % (workload, base, other), flush=True)
                subprocess.run([os.path.join(programs, "lbsched-compare"), paths[base],
                                paths[other]], check=True)
                shown += 1
            if workload == "few":
                lazy_against_immediate(programs, paths)
    for fault in faults:
        print("FAILED   " + fault)
    return 1 if faults else 0 if shown else 77


if __name__ == "__main__":
    sys.exit(main())
