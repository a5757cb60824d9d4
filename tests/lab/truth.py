#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Did a scheduler do what its name says? From the events that tests/lab/policies/lists.bpf.h kept.

usage: truth.py POLICY FILE.events

Each move is held against the policy's rule. The lists are then counted again from the events alone
and held against the kernel's own lengths of the queues, and the time is added up in which the policy
asked for a move that had not come. Prints one JSON object; "faults" is empty if all is well.
"""
import json
import sys

JOIN, LEAVE, MOVE, SAMPLE = range(4)

# May a task move from a list of `a` to one of `b`, both as they are before?
MAY_MOVE = {
    "none": lambda a, b: False,
    "lazy": lambda a, b: a >= 2 and b == 0,
    "active": lambda a, b: a >= b + 2,
    "immediate": lambda a, b: a >= 2 and a >= b + 1,
    "single": lambda a, b: True,
}
# Must one, when these are the longest and the shortest list?
MUST_MOVE = {
    "none": lambda a, b: False,
    "lazy": lambda a, b: a >= 2 and b == 0,
    "active": lambda a, b: a >= b + 2,
    "immediate": lambda a, b: a >= b + 2,
    "single": lambda a, b: False,
}


def load(path):
    """The events in the order of their times, without those of tasks that are in no list."""
    with open(path) as file:
        entries = json.load(file)
    values = [e["formatted"]["value"] if "formatted" in e else e["value"] for e in entries]
    return sorted(values, key=lambda e: e["time"])


def check(policy, events):
    lists = {}  # Of each task that is in one.
    faults, moves, samples, agreeing = [], [], 0, 0
    late_since, late_ns, longest_late_ns = None, 0, 0
    cpus = 1 + max((e["from"] for e in events), default=0)
    start = events[0]["time"] if events else 0

    def length(cpu):
        return sum(1 for there in lists.values() if there == cpu)

    for event in events:
        time, pid, to = event["time"], event["pid"], event["to"]
        if event["kind"] == JOIN:
            lists[pid] = to
        elif event["kind"] == LEAVE:
            lists.pop(pid, None)
        elif event["kind"] == MOVE:
            if policy != "single" and pid in lists:
                before = event["from_length"], event["to_length"]
                if not MAY_MOVE[policy](*before):
                    faults.append("at %.3f s a task moved from a list of %d to one of %d"
                                  % ((time - start) * 1e-9, *before))
            if pid in lists:
                moves.append(time)
                lists[pid] = to
        else:
            # One of the list runs, unless somebody does who is in none. Ticks come to all CPUs at
            # once: of a queue that all share, others may just be taking one and putting one back.
            there = len(lists) if policy == "single" else length(event["from"])
            running = 2 * cpus - 1 if policy == "single" else 1
            samples += 1
            agreeing += there - running <= to <= there
        lengths = [length(cpu) for cpu in range(cpus)]
        if MUST_MOVE[policy](max(lengths), min(lengths)):
            if late_since is None:
                late_since = time
        elif late_since is not None:
            late_ns += time - late_since
            longest_late_ns = max(longest_late_ns, time - late_since)
            late_since = None
    span = events[-1]["time"] - start if events else 0
    if samples == 0:
        faults.append("no queue was sampled")
    elif agreeing < 0.98 * samples:
        faults.append("%d of %d samples of the queues' lengths differ from the events"
                      % (samples - agreeing, samples))
    if late_ns > 0.02 * span:
        faults.append("a move was due for %.3f of %.3f s" % (late_ns * 1e-9, span * 1e-9))
    return {"moves": len(moves), "samples": samples, "samples_agreeing": agreeing,
            "due_s": late_ns * 1e-9, "longest_due_s": longest_late_ns * 1e-9,
            "span_s": span * 1e-9, "faults": faults}


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MAY_MOVE:
        sys.exit(__doc__)
    result = check(sys.argv[1], load(sys.argv[2]))
    print(json.dumps(result))
    sys.exit(1 if result["faults"] else 0)
