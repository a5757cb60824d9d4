#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Latency of balancing: what lb_trace_latency() says beside the scheduler's own clock.

usage: latency.py PROBE FOLDER

For each run in FOLDER (KERNEL/SCHEDULER/N.csv with N.events, of lazy, active or immediate), each
imbalance in the table of `PROBE latency N.csv` is looked up among those that the scheduler's own
events show (of the same kind, idle or apart, within 50 ms). Prints how far the two latencies are
apart, and the two times of the move. (A task has ended for user space when its work is done, for the
scheduler when the kernel has taken it down too.) Exit status 1 if the times of five moves or
more are 1 ms or more apart at the median, 77 if there is nothing to compare.
"""
import json
import math
import os
import statistics
import subprocess
import sys

import truth

NEAR_S = 0.05


def origin(path):
    """The trace's time 0 on the clock that the scheduler reads too; None of an older trace."""
    with open(path) as file:
        for line in file:
            if line.startswith("# origin_s:"):
                return float(line.split(":")[1])
            if line[0] != "#":
                return None


def imbalances(events):
    """Those of the lists: (when it arose, how long it lasted, was a core idle, did a move end it?)."""
    lists, found = {}, []
    cpus = 1 + max(e["from"] for e in events)
    since = {}
    for event in events:
        if event["kind"] == truth.JOIN or (event["kind"] == truth.MOVE and event["pid"] in lists):
            lists[event["pid"]] = event["to"]
        elif event["kind"] == truth.LEAVE:
            lists.pop(event["pid"], None)
        else:
            continue
        lengths = [sum(1 for there in lists.values() if there == cpu) for cpu in range(cpus)]
        idle = min(lengths) == 0 and max(lengths) >= 2
        apart = not idle and max(lengths) >= min(lengths) + 2
        for kind, there in (("idle", idle), ("apart", apart)):
            if there:
                since.setdefault(kind, event["time"])
            elif kind in since:
                start = since.pop(kind)
                found.append((start * 1e-9, (event["time"] - start) * 1e-9, kind == "idle",
                              event["kind"] == truth.MOVE))
    return found


def compare(probe, base):
    text = subprocess.run([probe, "latency", base + ".csv"], check=True, stdout=subprocess.PIPE).stdout
    table = json.loads(text)
    columns = table["columns"]
    events = truth.load(base + ".events")
    offset = origin(base + ".csv")
    if offset is None:
        return [], ["%s: the trace does not tell its origin" % base]
    known = imbalances(events)
    differences, notes = [], []
    for row in table["rows"]:
        row = dict(zip(columns, row[-len(columns):]))
        time, latency = row["time_s"] + offset, row["latency_s"]
        if latency is None or not math.isfinite(latency):
            continue
        near = [k for k in known if abs(k[0] - time) < NEAR_S and k[2] == bool(row["idle"]) and k[3]]
        if not near:
            notes.append("%s: the imbalance at %.3f s is not among the events" % (base, row["time_s"]))
            continue
        match = min(near, key=lambda k: abs(k[0] - time))
        differences.append((latency, match[1], time + latency - (match[0] + match[1])))
    return differences, notes


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pairs, notes = [], []
    for folder, _, names in sorted(os.walk(sys.argv[2])):
        for name in sorted(n for n in names if n.endswith(".events")):
            base = os.path.join(folder, name[:-7])
            if os.path.basename(folder) in ("lazy", "active", "immediate") and \
                    os.path.exists(base + ".csv"):
                found, said = compare(sys.argv[1], base)
                pairs += found
                notes += said
    for note in notes:
        print(note)
    if not pairs:
        return 77
    def say(what, values):
        values = sorted(values)
        print("  %-32s median %7.3f ms, 90th percentile %7.3f ms"
              % (what, 1e3 * statistics.median(values), 1e3 * values[int(0.9 * (len(values) - 1))]))

    print("latency of balancing, %d imbalances" % len(pairs))
    say("as measured from user space", [p[0] for p in pairs])
    say("by the scheduler's clock", [p[1] for p in pairs])
    say("difference of the two", [abs(p[0] - p[1]) for p in pairs])
    say("difference of the moves' times", [abs(p[2]) for p in pairs])
    print()
    return 1 if len(pairs) >= 5 and statistics.median(abs(p[2]) for p in pairs) >= 1e-3 else 0


if __name__ == "__main__":
    sys.exit(main())
