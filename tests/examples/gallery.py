# SPDX-License-Identifier: BSD-3-Clause
"""docs/gallery.md: its model column is what predict says, its claims about verdicts are classify's, its
percentages compare's, and its pictures are of the traces that they name."""
import math
import os
import re
import sys
import tempfile

from examples import curves, near, points, read_json, rows, run

predict, classify, compare = sys.argv[1:]
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

# ---- schedulers compared ----


def table_below(words):
    """The cells of the first table below those words, the head left out."""
    lines = text[text.index(words):].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|---"))
    cells = []
    for line in lines[first + 1:]:
        if not line.startswith("|"):
            return cells
        cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


def result(folder, name, meta, column, values):
    """A result with a row for each value, as lbsched-compare saves it."""
    path = os.path.join(folder, f"{name}.csv")
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"# {key}: {value}\n" for key, value in meta.items())
        out.write(f"label,{column}\n")
        out.writelines(f"x,{value}\n" for value in values)
    return path


def relative(folder, column, base, other):
    """The only row of what lbsched-compare makes of two lists of runs."""
    paths = [result(folder, name, {"condition": name}, column, values)
             for name, values in (("base", base), ("other", other))]
    row, = rows(read_json(run(compare, "--json", "--metric", column, *paths)))
    return row


with tempfile.TemporaryDirectory() as folder:
    for words in ("Kernbench, 2 jobs", "Kernbench, all jobs"):
        kernels = table_below(words)
        assert [kernel[0] for kernel in kernels] == [f"2.6.0-test8{end}" for end in ("", "-nick", "-nick2")]
        for kernel in kernels:
            for column, name in enumerate(("elapsed_s", "system_s", "user_s", "cpu_percent"), 1):
                row = relative(folder, name, [kernels[0][column]], [kernel[column]])
                assert f"{row['relative_percent']:.2f}" == kernel[column + 4], (kernel, name, row)

    base, other = ([(float(line[1][:-2]), float(line[2][:-2])) for line in table_below("SDET, 128")])
    runs = [[mean + sign * deviation / math.sqrt(2) for sign in (-1, 1)]
            for mean, deviation in (base, other)]
    row = relative(folder, "throughput", *runs)
    near(row["relative_percent"], other[0])
    near(row["stddev_base_percent"], base[1])
    near(row["relative_stddev_percent"], other[1])

    lines = table_below("Reaim: the most")
    results = [result(folder, f"reaim{i}",
                      {"workload": "users", "condition": f"{line[0]} {line[1]}",
                       "peak_jobs_per_minute": line[2], "largest_users": line[3]},
                      "jobs_per_minute", [line[2]]) for i, line in enumerate(lines)]
    for line, path in zip(lines, results):
        # Kernel, peak, users, Pct: the second of the two lines below the heads.
        told = run(compare, results[0], path).split("Pct\n")[1].splitlines()[1]
        assert line[2] in told.split() and line[3] in told.split() and told.endswith(f" {line[5]}"), told
