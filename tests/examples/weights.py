# SPDX-License-Identifier: BSD-3-Clause
"""weights: the model's table in its forms, the plot, bad command lines, and a short measurement."""
import os
import shutil
import sys
import tempfile

from examples import curves, read_json, rows, run

weights = sys.argv[1]

assert "lbsched-weights (lbsched) " + os.environ["LBSCHED_VERSION"] + "\n" == run(weights, "--version")
assert run(weights, "--help").startswith("usage: lbsched-weights")
for words, said in [
    (["x"], "x"),
    (["--levels", "0,20"], "--levels 0,20"),
    (["--levels", ""], "--levels"),
    (["--levels", "0,,1"], "--levels"),
    (["--seconds", "0.1"], "--seconds 0.1"),
    (["--repeats", "0"], "--repeats 0"),
    (["--normal", "0"], "--normal 0"),
    (["--model", "4"], "--model 4"),
    (["--model", "4x"], "--model 4x"),
    (["--model", "4096x2"], "--model 4096x2"),
    (["--plot", "x"], ".svg"),
    (["--seed", "-1"], "--seed -1"),
]:
    run(weights, *words, status=2, said=said)

# The static rule, as the design has it for four sockets of four cores.
model = ["--model", "4x4", "--repeats", 2, "--seconds", 1]
table = read_json(run(weights, *model, "--json"))
assert table["metadata"]["groups"] == "4x4"
assert table["labels"] == [f"nice {nice}" for nice in range(20)] + ["idle"]
for nice, row in enumerate(rows(table)):
    assert row["static_idle_percent"] == (0 if nice <= 6 else 12.5 if nice <= 9 else 18.75)
    assert 0 <= row["idle_low"] <= row["idle_median"] <= row["idle_high"] <= 100
csv = run(weights, *model, "--csv", "--levels", "3,idle").splitlines()
assert [line.split(",")[0] for line in csv if line[0] != "#"] == ["label", "nice 3", "idle"]
assert run(weights, *model, "--levels", "idle").count("idle") >= 2

with tempfile.TemporaryDirectory() as folder:
    svg = os.path.join(folder, "plot.svg")
    measure = ["--levels", "5,idle", "--seconds", 0.2, "--repeats", 1]
    if shutil.which("gnuplot") is not None:
        run(weights, *model, "--plot", svg)
        with open(svg, encoding="utf-8") as file:
            assert curves(file.read()) == ["ideal", "modelled", "static rule"]
    if os.environ["LBSCHED_EXPERIMENT"] == "0":
        run(weights, *measure, status=1, said="no experiments")
        sys.exit(0)
    if len(os.sched_getaffinity(0)) < 2:
        run(weights, *measure, status=1, said="core")
        sys.exit(0)
    if shutil.which("gnuplot") is not None:
        measure += ["--plot", svg]
    table = read_json(run(weights, *measure, "--json"))
    assert table["labels"] == ["nice 5", "idle"]
    for row in rows(table):
        assert 0 <= row["idle_percent"] <= 100 and row["normal_percent"] > 0
    if shutil.which("gnuplot") is not None:
        with open(svg, encoding="utf-8") as file:
            assert curves(file.read()) == ["measured", "ideal", "modelled", "static rule"]
