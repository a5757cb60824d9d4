# SPDX-License-Identifier: BSD-3-Clause
"""whatif: worked cases, works from three kinds of recording, a verdict, the picture, bad input."""
import json
import math
import os
import shutil
import sys
import tempfile

from examples import check_points, near, read_json, rows, run

whatif, classify, predict, simulate = sys.argv[1:]
policies = ["none", "lazy", "active", "immediate"]

# The worked case of docs/model.md: the ends of all, and what each task takes on 2 cores.
durations = {
    "none": [3, 6, 7, 10, 9, 12],
    "lazy": [3, 6, 7, 9.5, 9, 11.5],
    "active": [3, 6, 7, 9.5, 9, 11.5],
    "immediate": [3, 5.5, 7.5, 9, 10, 11],
}
# Task 0 in two units: its durations add up.
works = "task,duration\n0,0.5\n0,0.5\n1,2\n2,3\n3,4\n4,5\n5,6\n"


def answer(*words, **options):
    table = read_json(run(whatif, "--json", *words, **options))
    return table, [row | {"policy": label} for row, label in zip(rows(table), table["labels"])]


table, found = answer("-c", "2,6", "-", input=works)
assert table["metadata"] == {"tasks": "6", "works_from": "durations"}
assert [(row["cores"], row["policy"]) for row in found] == [(c, p) for c in (2, 6) for p in policies]
for row in found:
    took = durations[row["policy"]] if row["cores"] == 2 else [1, 2, 3, 4, 5, 6]
    near(row["makespan_s"], max(took))
    near(row["mean_s"], sum(took) / 6)
    near(row["slowdown"], sum(t / w for t, w in zip(took, [1, 2, 3, 4, 5, 6])) / 6)
    near(row["utilisation"], 21 / (row["cores"] * max(took)))
    assert row["bound_s"] == (10.5 if row["cores"] == 2 else 6)
    assert row["exact"] == 1 and row["verdict"] == 0
each, found = answer("-c", 2, "--each", "-", input=works)
assert each["labels"] == [f"task {task}" for task in range(6)]
for task, row in enumerate(found):
    assert row["work_s"] == task + 1 and row["cores"] == 2
    for policy in policies:
        near(row[f"{policy}_s"], durations[policy][task])

# By default 4, 8 and 64 cores; text and CSV say the same.
assert [row["cores"] for row in answer("-", input=works)[1]] == [4] * 4 + [8] * 4 + [64] * 4
csv = run(whatif, "-c2", "--csv", "-", input=works).splitlines()
assert [line.split(",")[5] for line in csv if line[0] != "#"] == \
    ["makespan_s", "12", "11.5", "11.5", "11"], csv
text = run(whatif, "-c2", "-", input=works)
assert all(policy in text for policy in policies) and "11.5" in text

with tempfile.TemporaryDirectory() as folder:
    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as output:
            output.write(content)
        return path

    # Traces: by CPU time where that is known, else by units, whoever shared a core meanwhile.
    trace = os.path.join(folder, "trace.csv")
    run(predict, "-c2", "-p", "lazy", "--trace", trace, "--unit-work", 0.3, 1, 2, 3, 4, 5, 6)
    table, found = answer("-c2", trace)
    assert table["metadata"]["works_from"] == "CPU time"
    for row in found:
        near(row["makespan_s"], max(durations[row["policy"]]))
    table, found = answer("-c12", os.path.join(os.environ["LBSCHED_ROOT"],
                                               "tests/data/windows-7.csv"))
    assert table["metadata"]["works_from"] == "units" and table["metadata"]["tasks"] == "12"
    # 319 units of one second is what the longest task did there.
    assert all(row["makespan_s"] == row["bound_s"] == round(row["bound_s"]) for row in found), found

    # The verdict of the machine, as classify prints it and as the library writes it.
    seen = run(simulate, "--policy", "lazy", "--cores", 4, "--tasks-per-core", 3, "--seed", 1,
               "--order", "designed", "--gap", 2)
    printed = file("verdict.json", run(classify, "--json", "-", input=seen))
    table, found = answer("-v", printed, "-c2,4", "-", input=works)
    assert table["metadata"]["verdict"] == "lazy"
    assert [row["verdict"] for row in found] == [0, 1, 0, 0] * 2
    short = "# lbsched-trace: 1\n# cores: 2\ntask,start_s,end_s\n0,0,0.01\n0,0.01,0.02\n"
    unknown = file("unknown.json", run(classify, "--json", "-", input=short, status=3))
    table, found = answer("-v", unknown, "-c2", "-", input=works)
    assert table["metadata"]["verdict"] == "unknown"
    assert [row["verdict"] for row in found] == [0] * 4

    # A delay that was measured counts under the verdict's policy alone.
    delayed = read_json(open(printed, encoding="utf-8").read())["verdict"]
    delayed["measures"]["balance_delay_s"] = 100
    late = file("late.json", json.dumps(delayed))
    _, found = answer("-v", late, "-c2", "-", input=works)
    for row, expected in zip(found, (12, 12, 11.5, 11)):
        near(row["makespan_s"], expected)

    # The picture: the points are the table's.
    if shutil.which("gnuplot") is None:
        print("skipped: the picture: gnuplot is not installed")
    else:
        svg = os.path.join(folder, "plot.svg")
        _, found = answer("-v", printed, "-c", "2,3,4,64", "--plot", svg, "-", input=works)
        titles = ["none", "lazy (the verdict)", "active", "immediate"]
        with open(svg, encoding="utf-8") as drawn:
            check_points(drawn.read(), {
                title: [(math.log(row["cores"]), row["makespan_s"] / row["bound_s"])
                        for row in found[number::4]]
                for number, title in enumerate(titles)})

    for words, said in [
        ([], "one file"),
        (["a", "b"], "one file"),
        (["-c", "0", "-"], "--cores 0"),
        (["-c", "4,,8", "-"], "--cores 4,,8"),
        (["-c", "", "-"], "--cores"),
        (["-c", ",".join(["1"] * 65), "-"], "up to 64"),
        (["--samples", "0", "-"], "--samples 0"),
        (["--seed", "x", "-"], "--seed x"),
        (["--plot", "x.gif", "-"], ".svg"),
        (["--plot", "x.svg", "--each", "-"], "--each"),
        (["--nonsense", "-"], "nonsense"),
    ]:
        run(whatif, *words, status=2, said=said)
    run(whatif, os.path.join(folder, "none.csv"), status=1, said="No such file")
    run(whatif, "-", input="", status=1, said="-")
    run(whatif, "--plot", os.path.join(folder, "x.svg"), "-", input="task,duration\n0,0\n", status=1,
        said="no task has work")
    run(whatif, "-", input="task,duration\n0,x\n", status=1, said="line 2")
    run(whatif, "-", input="# lbsched-trace: 1\n# cores: 2\ntask,start_s,end_s\n", status=1,
        said="no task")
    for bad in ("", "{", '{"verdict": {"policy": "lazy"', '{"verdict": 3}', "[]"):
        run(whatif, "-v", file("bad.json", bad), "-", input=works, status=1, said="bad.json")
