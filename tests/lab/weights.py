# SPDX-License-Identifier: BSD-3-Clause
"""What run.sh kept of `weights --json`: what weight differences cost each scheduler, beside the
historical table of seeds/001 and the static rule of docs/weights.md."""
import json

import models

# Idle percent of 4 sockets of 4 cores, Linux 2.6.25-rc6, by nice level: seeds/001.
HISTORY = [0, 0, 0, 0, 0, 0.17, 1.06, 7.62, 4.47, 11.78, 13.52, 14.92, 14.33, 17.47, 15.89, 18.69,
           16.63, 17.04, 17.86, 18.13]
GROUP = 4  # CPUs: of the historical machine, and of policies/groups.bpf.c
BOUND = 2.0  # percentage points


def rule(groups, ratio):
    """Percent that idles by the static rule: one soaker a core, one normal task in the first group."""
    soakers = [GROUP] * groups
    while True:
        loads = [n * ratio + (i == 0) for i, n in enumerate(soakers)]
        mean, high, low = sum(loads) / groups, loads.index(max(loads)), loads.index(min(loads))
        if (soakers[high] == 0 or loads[high] <= 1.25 * loads[low]
                or min(loads[high] - mean, mean - loads[low]) < ratio):
            break
        soakers[high] -= 1
        soakers[low] += 1
    idle = sum(max(0, GROUP - n - (i == 0)) for i, n in enumerate(soakers))
    return 100 * idle / (groups * GROUP)


def unused(row, cores):
    """Percent of the cores' time that no worker used, by their CPU clocks. Where many virtual CPUs
    share few real ones, ticks are lost and idle_percent is not to be had: a busy CPU counts few of
    its ticks, an idle one all of its time."""
    return 100 - row["soaker_percent"] - row["normal_percent"] / cores


def read(folder):
    """LABEL: [rows of the runs], how many cores, and faults."""
    rows, cores, faults = {}, 0, []
    for base in models.numbered(folder, ".status"):
        fault = models.failed(base)
        if fault:
            faults.append("%s: %s" % (folder, fault))
            continue
        with open(base + ".json") as file:
            table = json.load(file)
        cores = int(table["metadata"]["cores"])
        for label, values in zip(table["labels"], table["rows"]):
            rows.setdefault(label, []).append(dict(zip(table["columns"], values)))
    return rows, cores, faults


class Column:
    """One scheduler's answers."""

    def __init__(self, kernel, scheduler, folder):
        self.name = kernel if scheduler == "default" else "%s %s" % (kernel, scheduler)
        rows, cores, self.faults = read(folder)
        self.labels, self.ratio, self.idle, self.normal, self.rule = list(rows), {}, {}, {}, {}
        for label, runs in rows.items():
            self.ratio[label] = runs[0]["weight_ratio"]
            self.idle[label] = sum(unused(run, cores) for run in runs) / len(runs)
            self.normal[label] = sum(run["normal_percent"] for run in runs) / len(runs)
            self.rule[label] = rule(cores // GROUP, self.ratio[label])
            expected = self.rule[label] if scheduler == "groups" else 0
            if scheduler in ("default", "groups") and abs(self.idle[label] - expected) > BOUND:
                self.faults.append("%s, %s: %.2f %% idle, expected %.2f within %.1f points"
                                   % (self.name, label, self.idle[label], expected, BOUND))


def table(columns):
    """Column headings and rows for table.py's print_table()."""
    names = ["level", "2.6.25 (seed)", "rule"]
    for column in columns:
        names += [column.name + ": idle %", "normal task %"]
    rows = []
    for label in columns[0].labels:
        nice = int(label[5:]) if label.startswith("nice ") else len(HISTORY)
        row = [label, "%.2f" % HISTORY[nice] if nice < len(HISTORY) else "17.59",
               "%.2f" % columns[0].rule[label]]
        for column in columns:
            row += (["%.2f" % column.idle[label], "%.1f" % column.normal[label]]
                    if label in column.idle else ["-", "-"])
        rows.append(row)
    return names, rows

