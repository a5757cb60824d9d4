# SPDX-License-Identifier: BSD-3-Clause
"""--chart: slices, profile and latency have the trace's numbers as their series and points."""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from examples import check_points, curves, near, points, read_json, rows, run, skip

classify, predict, simulate = sys.argv[1:]
if shutil.which("gnuplot") is None:
    skip("gnuplot is not installed")


def boxes(svg):
    """The rectangles of each curve, as (left, right, top, bottom) in pixels, the key's left out."""
    found = {}
    for part in svg.split('<g id="gnuplot_plot_')[1:]:
        title = part.split("<title>")[1].split("</title>")[0]
        corners = [[float(number) for number in re.findall(r"[\d.]+", text)]
                   for text in re.findall(r"<polygon [^>]*points = '([^']*)'", part)]
        found[title] = [(min(c[0::2]), max(c[0::2]), min(c[1::2]), max(c[1::2]))
                        for c in corners if len(c) == 8]
    return found


with tempfile.TemporaryDirectory() as folder:
    svg = os.path.join(folder, "chart.svg")
    trace = os.path.join(folder, "trace.csv")

    def draw(kind):
        """The picture and what was printed, whether or not the trace decides."""
        done = subprocess.run([classify, "--json", "--chart", kind, "--plot", svg, trace],
                              capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode in (0, 3) and done.stderr == "", done
        with open(svg, encoding="utf-8") as file:
            return file.read(), read_json(done.stdout)

    # Slices: a rectangle each, in its core's row, from its start to its end.
    run(predict, "-c3", "-p", "lazy", "--trace", trace, "--slice", 0.25, *range(1, 8))
    with open(trace, encoding="utf-8") as file:
        text = file.read().split("# table: slices\n")[1].split("# table:")[0].splitlines()
    assert text[0] == "task,start_s,end_s,core", text[0]
    slices = [(int(task), int(core), float(start), float(end))
              for task, start, end, core in (line.split(",") for line in text[1:])]
    drawn, _ = draw("slices")
    found = boxes(drawn)
    assert list(found) == [f"task {task}" for task in range(7)], list(found)
    seen = []
    length = max(s[3] for s in slices) - min(s[2] for s in slices)
    for task in range(7):
        # Slices that no pixel parts are one rectangle.
        own = []
        for slice_ in sorted((s for s in slices if s[0] == task), key=lambda s: s[2]):
            if own and own[-1][1] == slice_[1] and slice_[2] - own[-1][3] <= length / 4000:
                own[-1] = own[-1][:3] + slice_[3:]
            else:
                own.append(slice_)
        # One more in the key.
        assert len(found[f"task {task}"]) == len(own) + 1, (task, len(found[f"task {task}"]))
        in_picture = sorted(found[f"task {task}"])[:len(own)]
        seen += zip(own, in_picture)
    first, last = min(s[2] for s, _ in seen), max(s[3] for s, _ in seen)
    left, right = min(box[0] for _, box in seen), max(box[1] for _, box in seen)
    middles = {core: {round((box[2] + box[3]) / 2) for s, box in seen if s[1] == core}
               for core in range(3)}
    assert all(len(middle) == 1 for middle in middles.values()), middles
    assert middles[0].pop() < middles[1].pop() < middles[2].pop()
    for (_, _, start, end), box in seen:
        for time, pixel in (start, box[0]), (end, box[1]):
            assert abs(left + (time - first) / (last - first) * (right - left) - pixel) <= 0.5
    # Many cores: a row of its own for each, and no key that leaves no room.
    run(predict, "-c100", "-p", "none", "--trace", trace, "--slice", 100, *[1] * 200)
    drawn, _ = draw("slices")
    rows_of_cores = sorted({box[2:] for own in boxes(drawn).values() for box in own})
    assert len(rows_of_cores) == 100, len(rows_of_cores)
    assert all(a[1] < b[0] and a[1] - a[0] >= 5 for a, b in zip(rows_of_cores, rows_of_cores[1:]))
    assert "200 tasks" in drawn and "200 tasks" in draw("units")[0]

    # The same picture of a course as of its trace.
    course = ["-c3", "-p", "lazy", "--slice", 0.25, *range(1, 8)]
    run(predict, *course, "--trace", trace)
    drawn, _ = draw("slices")
    run(predict, *course, "--chart", "slices", "--plot", svg)
    with open(svg, encoding="utf-8") as file:
        assert boxes(file.read()) == boxes(drawn)

    # Profile: the table's means and the model's.
    told = run(simulate, "--policy", "immediate", "--cores", 4, "--tasks-per-core", 3, "--seed", 1)
    with open(trace, "w", encoding="utf-8") as file:
        file.write(told)
    drawn, result = draw("profile")
    profile = [row for row in rows(result["profile"])]
    check_points(drawn, {
        title: [(row["concurrency"], row[column]) for row in profile if row[column] is not None]
        for title, column in (("measured", "mean_s"), ("model", "model_s"))})

    # Latency: every imbalance of a delayed policy lasts as long as its delay.
    run(predict, "-c2", "-p", "active", "--balance-delay", 0.4, "--first-cores", "0,0,0,0,1,1",
        "--trace", trace, "--slice", 0.01, "--unit-work", 0.1, 8, 8, 8, 8, 1, 2)
    drawn, result = draw("latency")
    near(result["verdict"]["measures"]["idle_p50_s"], 0.4)
    at = [points(drawn, title) for title in ("lists two apart", "a core idle")]
    assert len(at[0]) == len(at[1]) == 1, at
    # The axis is logarithmic, and has numbers at its ends.
    ticks = dict(re.findall(r'translate\(([\d.]+),[\d.]+\)[^>]*text-anchor="middle">\s*'
                            r"<text><tspan [^>]*>\s*([\d.]+)</tspan>", drawn))
    ticks = {float(label): float(x) for x, label in ticks.items()}
    low, high = min(ticks), max(ticks)
    def where(milliseconds):
        return ticks[low] + math.log(milliseconds / low) / math.log(high / low) \
            * (ticks[high] - ticks[low])

    # Who comes to a list that others are on waits for a turn, of 10 ms here.
    assert abs(at[1][0][0] - where(400)) <= 0.5, at
    assert where(400) - 0.5 <= at[0][0][0] <= where(410) + 0.5, at

    for kind in "latency", "slices":
        run(classify, "--chart", kind, "--plot", svg,
            os.path.join(os.environ["LBSCHED_ROOT"], "tests/data/windows-7.csv"), status=1,
            said="nothing to plot")
run(classify, "--chart", "pie", "x", status=2, said="--chart pie")
