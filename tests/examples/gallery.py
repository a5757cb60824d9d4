# SPDX-License-Identifier: BSD-3-Clause
"""docs/gallery.md: its model column is what predict says, its claims about verdicts are classify's, and
its pictures are of the traces that they name."""
import os
import re
import sys

from examples import curves, points, read_json, rows, run

predict, classify = sys.argv[1:]
root = os.environ["LBSCHED_ROOT"]
with open(os.path.join(root, "docs", "gallery.md"), encoding="utf-8") as file:
    text = file.read()

table = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([-+][\d.]+) % \|$", text,
                   re.MULTILINE)
assert [int(row[0]) for row in table] == list(range(1, 13)), table
unit = float(table[0][1])
for running, measured, deviation, model, differs in table:
    answer = read_json(run(predict, "--json", "-c4", "-p", "immediate",
                           *[unit / 1000] * int(running)))
    told = 1000 * rows(answer)[0]["mean_s"]
    assert f"{told:.2f}" == model or abs(told - float(model)) < 0.0051, (running, told, model)
    assert f"{100 * (told - float(measured)) / float(measured):+.2f}" == differs, running
multiples = [float(row[2]) for row in table if int(row[0]) in (4, 8, 12)]
others = [float(row[2]) for row in table if int(row[0]) > 4 and int(row[0]) % 4 != 0]
assert max(multiples) < min(others)

for system, policy in (("windows-7", "lazy"), ("linux-2.6.22", "active"),
                       ("linux-2.6.31", "immediate")):
    trace = os.path.join(root, "tests", "data", f"{system}.csv")
    verdict = read_json(run(classify, "--json", trace))["verdict"]
    assert verdict["policy"] == policy and verdict["probabilities"][policy] > 0.99, verdict
    with open(trace, encoding="utf-8") as file:
        tasks = [line.split(",")[0] for line in file if line[0].isdigit()]
    with open(os.path.join(root, "docs", "pictures", f"{system}.svg"), encoding="utf-8") as file:
        svg = file.read()
    assert curves(svg) == [f"task {task}" for task in range(1, 13)], curves(svg)
    for task in range(1, 13):
        # Points that fall on one another are one.
        assert 0.9 * tasks.count(str(task)) <= len(points(svg, f"task {task}")) \
            <= tasks.count(str(task)), (system, task)
for picture in re.findall(r"!\[[^]]+\]\((pictures/[^)]+)\)", text):
    assert os.path.exists(os.path.join(root, "docs", picture)), picture
