# SPDX-License-Identifier: BSD-3-Clause
"""--plot: a curve for each task with its points, a dotted line for each end; no gnuplot."""
import os
import re
import shutil
import sys
import tempfile

from examples import curves, run, skip

classify, simulate = sys.argv[1:]
text = run(simulate, "--policy", "immediate", "--cores", 4, "--tasks-per-core", 3, "--seed", 1)
units = [line.split(",") for line in text.splitlines() if re.match(r"\d", line)]

with tempfile.TemporaryDirectory() as folder:
    # Without gnuplot there is a verdict, and a word about what is missing.
    svg = os.path.join(folder, "it's a plot.svg")
    run(classify, "-", "--plot", svg, input=text, env=os.environ | {"PATH": folder}, status=1,
        said="gnuplot is not installed")
    if shutil.which("gnuplot") is None:
        skip("gnuplot is not installed")

    run(classify, "-", "--plot", svg, input=text)
    with open(svg, encoding="utf-8") as file:
        drawn = file.read()
    assert curves(drawn) == [f"task {task}" for task in range(12)], curves(drawn)
    # Each unit is a point, and the key has one.
    for task, curve in enumerate(drawn.split('<g id="gnuplot_plot_')[1:]):
        points = len(re.findall("<use xlink:href='#gpPt", curve))
        expected = sum(unit[0] == str(task) for unit in units)
        assert points == expected + 1, f"task {task}: {points} points of {expected} units"

    png = os.path.join(folder, "plot.png")
    run(classify, "-", "--plot", png, input=text)
    with open(png, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    # Where it cannot open the file gnuplot would draw on standard output, into what stands there.
    told = run(classify, "-", "--plot", os.path.join(folder, "no", "plot.svg"), input=text,
               status=1, said="gnuplot failed")
    assert told == run(classify, "-", input=text)
    # It does not tell when a disk is full either.
    for name in ("full.svg", "full.png"):
        full = os.path.join(folder, name)
        os.symlink("/dev/full", full)
        run(classify, "-", "--plot", full, input=text, status=1, said="all of it")
