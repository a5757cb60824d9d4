#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of the laboratory as one table: table.py FOLDER

FOLDER holds what run.sh kept of each run: KERNEL/SCHEDULER/N.{status,json,csv,events,...}, and
likewise KERNEL/{model,profile,latency,events,weights}-SCHEDULER and KERNEL/host-SMP. Exit status
1 if a verdict is wrong, a run failed or a scheduler did not do what its name says. A row of which
more than one run in ten ended as unknown is listed with what was missing, which is no failure yet.
"""
import collections
import json
import os
import statistics
import sys

import load
import models
import truth
import weights

# What is known of a scheduler: the policy, and the queues where they are known too.
TRUTHS = {
    "default": ("immediate", "per_core"),
    "rr": ("lazy", "per_core"),
    "none": ("none", "per_core"),
    "lazy": ("lazy", "per_core"),
    "active": ("active", "per_core"),
    "immediate": ("immediate", "per_core"),
    "single": ("immediate", "single"),
}
KERNELS = ["5.10", "6.1", "6.12", "7"]


def kernel_key(kernel):
    return KERNELS.index(kernel) if kernel in KERNELS else len(KERNELS)


class Row:
    def __init__(self, folder, kernel, scheduler):
        self.kernel, self.scheduler = kernel, scheduler
        self.truth = TRUTHS.get(scheduler)
        self.runs = self.right = self.unknown = 0
        self.wrong, self.failed, self.missing = [], [], collections.Counter()
        self.queues = collections.Counter()
        self.probabilities, self.seconds, self.errors, self.moves = [], [], [], []
        self.policies = collections.Counter()
        names = [n[:-7] for n in os.listdir(folder) if n.endswith(".status")]
        for name in sorted(names, key=int):
            self.add(os.path.join(folder, name))

    def add(self, base):
        self.runs += 1
        run = "%s, %s, run %s" % (self.kernel, self.scheduler, os.path.basename(base))
        with open(base + ".status") as file:
            status = file.read().strip()
        if status not in ("0", "3"):
            with open(base + (".scheduler" if status == "scheduler" else ".err")) as file:
                lines = file.read().strip().splitlines()
            self.failed.append("%s: status %s: %s" % (run, status, lines[-1] if lines else ""))
            return
        with open(base + ".json") as file:
            answer = json.load(file)
        if os.path.exists(base + ".events") and self.scheduler in truth.MAY_MOVE:
            found = truth.check(self.scheduler, truth.load(base + ".events"))
            self.moves.append(found["moves"])
            faults = found["faults"]
            if faults:
                self.failed.append("%s: the scheduler: %s%s"
                                   % (run, faults[0],
                                      " (and %d more)" % (len(faults) - 1) if faults[1:] else ""))
        verdict = answer["verdict"]
        policy = verdict["policy"]
        self.policies[policy] += 1
        self.seconds.append(last_end(base + ".csv"))
        if policy == "unknown":
            self.unknown += 1
            for reason in verdict["reasons"]:
                self.missing[reason.split(":")[0]] += 1
            return
        self.probabilities.append(verdict["probabilities"][policy])
        self.queues[verdict["queues"]] += 1
        if answer.get("batch"):
            self.errors.append(answer["batch"]["mean_error_percent"])
        if self.truth is None:
            return
        if policy != self.truth[0]:
            self.wrong.append("%s: %s, which is %s: %s"
                              % (run, policy, self.truth[0], "; ".join(verdict["reasons"])))
        elif verdict["queues"] not in (self.truth[1], "unknown"):
            self.wrong.append("%s: queues %s, which are %s: %s"
                              % (run, verdict["queues"], self.truth[1], "; ".join(verdict["reasons"])))
        else:
            self.right += 1

    def too_many_unknown(self):
        return self.unknown > 0.1 * self.runs

    def cells(self):
        def median(values, form):
            return form % statistics.median(values) if values else "-"
        return [self.kernel, self.scheduler, " or ".join(self.truth[:1]) if self.truth else "?",
                str(self.runs), str(self.right) if self.truth else "-", str(len(self.wrong)),
                str(self.unknown), " ".join("%s %d" % pair for pair in self.policies.most_common()),
                " ".join("%s %d" % pair for pair in self.queues.most_common()) or "-",
                median(self.probabilities, "%.4f"), median(self.seconds, "%.1f"),
                median(self.errors, "%.1f"), median(self.moves, "%.0f")]


COLUMNS = ["kernel", "scheduler", "truth", "runs", "right", "wrong", "unknown", "verdicts", "queues",
           "prob.", "s", "error %", "moves"]


def last_end(path):
    """How long the experiment took: when its last unit ended. The units are the file's first table."""
    ends, column = [0], None
    with open(path) as file:
        for line in file:
            fields = line.rstrip("\n").split(",")
            if line[0] == "#":
                if column is not None:
                    break
            elif column is None:
                column = fields.index("end_s")
            else:
                ends.append(float(fields[column]))
    return max(ends)


def folders_of(folder):
    """KERNEL, NAME and the path of each row, in the order of the table."""
    order = list(TRUTHS)
    for kernel in sorted(os.listdir(folder), key=kernel_key):
        path = os.path.join(folder, kernel)
        if os.path.isdir(path):
            for name in sorted(os.listdir(path),
                               key=lambda s: order.index(s) if s in order else len(order)):
                yield kernel, name, os.path.join(path, name)


def print_table(columns, rows):
    table = [columns] + rows
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    for i, line in enumerate(table):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
        if i == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    verdicts, model_rows, host_rows, measures, costs, faults = [], [], [], [], [], []
    for kernel, name, path in folders_of(sys.argv[1]):
        if name.startswith("model-"):
            row, found = models.model_row(kernel, name[6:], path)
            model_rows += [row] if row else []
        elif name.startswith("host-"):
            row, found = models.host_row(kernel, name[5:], path)
            host_rows += [row] if row else []
        elif name.startswith(models.MEASURES):
            tables, found = models.measure_tables(kernel, name, path)
            measures += tables
        elif name.startswith("weights-"):
            column = weights.Column(kernel, name[8:], path)
            costs += [column] if column.labels else []
            found = column.faults
        elif name.startswith(load.PREFIXES):
            found = []  # load.py tells
        else:
            row = Row(path, kernel, name)
            verdicts += [row] if row.runs > 0 else []
            found = row.wrong + row.failed
        faults += found
    if verdicts:
        print_table(COLUMNS, [row.cells() for row in verdicts])
    for row in verdicts:
        if row.too_many_unknown():
            print("\n%s, %s: %d of %d unknown, which is too many; what was missing:"
                  % (row.kernel, row.scheduler, row.unknown, row.runs))
            for reason, times in row.missing.most_common(4):
                print("  %d times: %s" % (times, reason))
    if model_rows:
        print("\nThe model of the scheduler's own policy, and processor sharing, against the ends of "
              "random workloads:")
        print_table(models.MODEL_COLUMNS, model_rows)
    if host_rows:
        print("\nWhat was found about the machine:")
        print_table(models.HOST_COLUMNS, host_rows)
    for title, columns, rows in measures:
        print("\n%s:" % title)
        print_table(columns, rows)
    if costs:
        print("\nWhat weight differences cost: idle while work waits, and what a normal task gets of a "
              "core:")
        print_table(*weights.table(costs))
    if faults:
        print("\nwrong:")
    for fault in faults:
        print("  " + fault)
    passed = sum(row.right for row in verdicts)
    passed += len(model_rows) + len(host_rows) + len(measures) + len(costs)
    print("\n%d passed, %d failed" % (passed, len(faults)))
    return 1 if faults or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
