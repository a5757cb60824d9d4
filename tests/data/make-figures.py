#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the three time series of "Detect Dynamic Load-balancing Strategy Experiment" (Hauck) as
traces, from what its text says of them: twelve tasks on four cores, three to a core, each measuring
the same unit of 1000 ms again and again and ending one after another. Who shares a core, who ends
and who moves is the text's; the text does not say it all, and the rest is the policy's doing.
The text's 300 iterations before the first end are 30 here.

    make-figures.py DIRECTORY
"""
import random
import sys

UNIT = 1.0
FIRST_END = 90.0  # 30 units at three tasks to a core
GAP = 24.0


class Series:
    def __init__(self, lists, seed):
        self.lists = lists  # of task numbers, one for each core; None: all share evenly
        self.random = random.Random(seed)
        self.tasks = sorted(t for l in lists for t in l)
        self.alive = set(self.tasks)
        self.now = 0.0
        self.units = []
        self.begun = {t: 0.0 for t in self.tasks}
        self.left = {t: self.work() for t in self.tasks}
        self.index = {t: 0 for t in self.tasks}
        self.even = False

    def work(self):
        return UNIT * (1 + 0.003 * self.random.gauss(0, 1))

    def rate(self, task):
        if self.even:
            return min(1.0, 4 / len(self.alive))
        return 1 / next(len(l) for l in self.lists if task in l)

    def next_unit(self, task):
        self.begun[task] = self.now
        self.left[task] = self.work()
        if self.even and len(self.alive) > 4 and len(self.alive) % 4 != 0:
            # The deviation that the text's table has where tasks are no multiple of cores.
            self.left[task] *= 1 + 0.08 * self.random.gauss(0, 1)

    def run_until(self, stop):
        while self.now < stop:
            step = min(self.left[t] / self.rate(t) for t in self.alive)
            step = min(step, stop - self.now)
            self.now += step
            for t in sorted(self.alive):
                self.left[t] -= step * self.rate(t)
            for t in sorted(self.alive):
                if self.left[t] <= 1e-12:
                    self.units.append((t, self.index[t], self.begun[t], self.now))
                    self.index[t] += 1
                    self.next_unit(t)

    def end(self, task, time):
        """The task ends with the first unit that it completes after `time`."""
        self.run_until(time)
        count = self.index[task]
        while self.index[task] == count:
            self.run_until(self.now + self.left[task] / self.rate(task))
        self.alive.remove(task)
        for l in self.lists:
            if task in l:
                l.remove(task)

    def move(self, task, core):
        for l in self.lists:
            if task in l:
                l.remove(task)
        self.lists[core].append(task)

    def write(self, path, title):
        with open(path, "w") as out:
            out.write("# lbsched-trace: 1\n# cores: 4\n# unit_work_s: 1\n")
            out.write(f"# title: {title}\n")
            out.write("# source: made from the description by make-figures.py\n")
            out.write("task,unit,start_s,end_s\n")
            for t, i, a, b in sorted(self.units):
                out.write(f"{t},{i},{a:.6f},{b:.6f}\n")


def balance_lazily(s):
    for core, l in enumerate(s.lists):
        givers = [g for g in s.lists if len(g) > 1]
        if not l and givers:
            s.move(s.random.choice(s.random.choice(givers)), core)


def balance_actively(s):
    while True:
        short = min(range(4), key=lambda c: len(s.lists[c]))
        givers = [g for g in s.lists if len(g) > len(s.lists[short]) + 1]
        if not givers:
            return
        s.move(s.random.choice(s.random.choice(givers)), short)


def windows_7():
    s = Series([[2, 6, 11], [5, 8, 9], [1, 4, 10], [3, 7, 12]], 7)
    s.end(2, FIRST_END)  # tasks 6 and 11 speed up, nobody else
    s.end(6, s.now + GAP)  # task 11 has a core to itself
    s.end(11, s.now + GAP)  # its core is idle:
    s.move(9, 0)  # task 9 is put there, tasks 5 and 8 stay
    for t in (4, 12, 8, 1, 9, 7, 3, 10, 5):
        s.end(t, s.now + GAP)
        balance_lazily(s)
    return s


def linux_2_6_22():
    s = Series([[1, 3, 5], [7, 10, 11], [2, 4, 6], [8, 9, 12]], 22)
    s.end(1, FIRST_END)
    s.end(3, s.now + GAP)  # one core runs task 5 alone, the others three each:
    s.move(7, 0)  # at once one of tasks 7, 10 and 11 is put beside it, and all three get faster
    for t in (8, 2, 12, 10, 6, 5, 9, 11, 4, 7):
        s.end(t, s.now + GAP)
        balance_actively(s)
    return s


def linux_2_6_31():
    s = Series([[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]], 31)
    s.even = True  # from the first end on all remaining tasks are even
    s.end(3, FIRST_END)
    for t in (9, 1, 6, 12, 4, 10, 2, 8, 5, 11, 7):
        s.end(t, s.now + GAP)
    return s


for name, make, title in (
    ("windows-7", windows_7, "Windows 7, 4 cores"),
    ("linux-2.6.22", linux_2_6_22, "Linux 2.6.22, 4 cores"),
    ("linux-2.6.31", linux_2_6_31, "Linux 2.6.31, 4 cores"),
):
    make().write(f"{sys.argv[1]}/{name}.csv", title)
