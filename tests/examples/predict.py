# SPDX-License-Identifier: BSD-3-Clause
"""predict: worked cases, chance, files, forms of output, bad input."""
import math
import os
import sys
import tempfile

from examples import near, read_json, rows, run

predict = sys.argv[1]


class Answer:
    def __init__(self, text):
        table = read_json(text)
        self.metadata = table["metadata"]
        *self.processes, self.makespan = rows(table)
        *numbers, last = table["labels"]
        assert numbers == [str(i) for i in range(len(numbers))] and last == "makespan"


def answer(*arguments):
    return Answer(run(predict, "--json", *arguments))


def means(result):
    return [row["mean_s"] for row in result.processes]


def check_means(result, expected):
    assert len(means(result)) == len(expected)
    for value, other in zip(means(result), expected):
        near(value, other)


# The worked cases of docs/model.md. Nothing is left to chance in any of their durations.
worked = {
    "none": [3, 6, 7, 10, 9, 12],
    "lazy": [3, 6, 7, 9.5, 9, 11.5],
    "active": [3, 6, 7, 9.5, 9, 11.5],
    "immediate": [3, 5.5, 7.5, 9, 10, 11],
}
for policy, expected in worked.items():
    result = answer("--cores", 2, "--policy", policy, 1, 2, 3, 4, 5, 6)
    assert result.metadata["cores"] == "2" and result.metadata["policy"] == policy
    check_means(result, expected)
    near(result.makespan["mean_s"], max(expected))
    assert result.makespan["exact"] == 1 and result.makespan["stddev_s"] == 0
for preset, policy in {"windows-7": "lazy", "linux-2.6.22": "active",
                       "linux-2.6.31": "immediate"}.items():
    check_means(answer("-c2", "--preset", preset, 1, 2, 3, 4, 5, 6), worked[policy])
check_means(answer("-c4", "-p", "active", 3, 7, 4, 9, 12, 5, 8, 6),
            [6, 12, 8, 15, 15, 10, 12, 12])
# A weight so large that one process has a core for itself.
check_means(answer("-c4", "--weights", "10000", 10, *[1] * 7), [10] + [7 / 3] * 7)

# Two sockets of two cores that are balanced by weight: a core idles beside a heavy process, and the
# others take longer than where all cores are one group.
heavy = ["-c4", "-p", "active", "--first-cores", "0,0,1,2,3", "--weights", "1,0.01,0.01,0.01,0.01",
         10, 1, 1, 1, 1]
check_means(answer("--group-cores", 2, *heavy), [10, 2, 2, 2, 2])
near(answer("--group-cores", 4, *heavy).processes[0]["mean_s"], 11 - 1 / 1.01)

# Three equal processes on core 1, of which core 0 takes one after a second: which of them is
# chance, and each duration has a spread; the end of all is the same whoever it was.
three = ["-c2", "-p", "lazy", "--first-cores", "0,1,1,1", 1, 4, 4, 4]
result = answer("--exact", *three)
expected = (14 / 3 + 6.5 + 6.5) / 3
check_means(result, [1, expected, expected, expected])
near(result.processes[1]["stddev_s"], math.sqrt(2) / 3 * (6.5 - 14 / 3))
near(result.makespan["mean_s"], 6.5)
assert result.makespan["exact"] == 1 and result.makespan["stddev_s"] < 1e-6
# Of unequal ones the end of all depends on chance: 7.5, 25/3 or 20/3 s.
unequal = ["-c2", "-p", "lazy", "--first-cores", "0,1,1,1", 1, 2, 4, 6]
result = answer("--exact", *unequal)
check_means(result, [1, 34 / 9, 5.5, 7.5])
makespan = result.makespan
near(makespan["mean_s"], 7.5)
near(makespan["stddev_s"], math.sqrt(25 / 54))
near(makespan["min_s"], 20 / 3)
near(makespan["max_s"], 25 / 3)
sampled = answer("--samples", 5000, *unequal)
for row, mean in zip(sampled.processes + [sampled.makespan], [1, 34 / 9, 5.5, 7.5, 7.5]):
    assert row["exact"] == 0
    assert abs(row["mean_s"] - mean) <= 5 * row["standard_error_s"] < 0.2
# The seed decides.
assert run(predict, "--samples", 100, *unequal) == run(predict, "--samples", 100, *unequal)
assert answer("--samples", 100, "--seed", 1, *unequal).makespan != \
    answer("--samples", 100, "--seed", 2, *unequal).makespan

# Against running alone, and how much of the cores was used: 21 s of work in 2 * 11.5 s.
result = answer("-c2", "-p", "lazy", 1, 2, 3, 4, 5, 6)
for row, expected in zip(result.processes, worked["lazy"]):
    assert row["alone_s"] == row["work_s"]
    near(row["slowdown"], expected / row["work_s"])
near(result.makespan["utilisation"], 21 / 23)

# For ever.
result = answer("-c1", 1, "inf")
assert result.processes[1]["mean_s"] is None
near(means(result)[0], 2)
near(result.makespan["mean_s"], 2)

# A file says the same as the command line, and arrivals beside.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "works.csv")

    def file(text):
        with open(path, "w", encoding="utf-8") as works:
            works.write(text)
        return path

    table = "work_s,first_core,weight\n1,0,\n2,1,\n4,1,2\n6,1,\n"
    assert run(predict, "-c2", "-p", "lazy", "--file", file(table)) == \
        run(predict, "-c2", "-p", "lazy", "--first-cores", "0,1,1,1", "--weights", ",,2", 1, 2, 4, 6)
    late = answer("-c1", "--file", file("work_s,arrival_s\n1,0\n1,5\n"))
    check_means(late, [1, 1])
    near(late.makespan["mean_s"], 6)
    assert run(predict, "-c2", "-p", "lazy", "--file", "-", input=table) == \
        run(predict, "-c2", "-p", "lazy", "--file", file(table))
    # A trace of what it predicts: it ends when the makespan does, and is classified as it was made.
    trace = os.path.join(folder, "trace.csv")
    run(predict, "-c2", "-p", "lazy", "--trace", trace, "--unit-work", 0.5, "--slice", 0.1,
        1, 2, 3, 4, 5, 6)
    with open(trace, encoding="utf-8") as lines:
        text = lines.read()
    units, slices = text.split("# table: slices\n")
    assert "# policy: lazy\n" in units and "# unit_work_s: 0.5\n" in units
    for part, column, count in (units, 3, 42), (slices, 2, None):
        ends = [line.split(",") for line in part.splitlines() if line[0].isdigit()]
        near(max(float(row[column]) for row in ends), 11.5)
        assert count in (len(ends), None)
    run(predict, "-c2", "--trace", trace, 1, "inf", status=1, said="infinite")
    run(predict, "-c2", "--trace", trace, "--slice", 0.1, 1, status=1, said="slices")
    run(predict, "-c2", "--trace", os.path.join(folder, "no", "trace"), 1, status=1,
        said="No such file")
    # Bad files.
    run(predict, "-c2", "--file", file("work_s,wieght\n1,2\n"), status=1, said="wieght")
    run(predict, "-c2", "--file", file("work_s\n1\nx\n"), status=1, said="3")
    run(predict, "-c2", "--file", file("first_core\n1\n"), status=1, said="work")
    run(predict, "-c2", "--file", file("work_s,first_core\n1,2\n"), status=1, said="2")
    run(predict, "-c2", "--file", file("work_s,first_core\n1,0.5\n"), status=1, said="0.5")
    run(predict, "-c2", "--file", file("work_s,weight\n1,0\n"), status=1, said="weight")
    run(predict, "-c2", "--file", os.path.join(folder, "none.csv"), status=1,
        said="No such file")
    run(predict, "-c2", "--file", path, 1, status=2, said="either")

# The other forms.
text = run(predict, "-c2", "-p", "none", 1, 2, 3, 4, 5, 6)
assert [float(line.split()[2]) for line in text.splitlines() if line[0].isdigit()] == \
    worked["none"], text
csv = run(predict, "-c2", "-p", "none", "--csv", 1, 2, 3, 4, 5, 6)
lines = [line.split(",") for line in csv.splitlines() if not line.startswith("#")]
column = lines[0].index("mean_s")
assert [float(line[column]) for line in lines[1:]] == worked["none"] + [12], csv
assert "lbsched-predict (lbsched) " + os.environ["LBSCHED_VERSION"] + "\n" == run(predict, "--version")
assert run(predict, "--help").startswith("usage: lbsched-predict")

# Wrong command lines, and what the library refuses.
for words, said in [
    ([1], "--cores"),
    (["-c0", 1], "--cores 0"),
    (["-c-1", 1], "--cores -1"),
    (["-c2x", 1], "--cores 2x"),
    (["-c2"], "works"),
    (["-c2", "--", -1], "work -1"),
    (["-c2", "nan"], "work nan"),
    (["-c2", "1,5"], "work 1,5"),
    (["-c2", "-p", "unknown", 1], "--policy unknown"),
    (["-c2", "--weights", "1,2", 1], "--weights"),
    (["-c2", "--weights", "x", 1], "x"),
    (["-c2", "--first-cores", "0,1", 1], "--first-cores"),
    (["-c2", "--samples", "0", 1], "--samples 0"),
    (["-c2", "--seed", "-1", 1], "--seed -1"),
    (["-c2", "--group-cores", "0", 1], "--group-cores 0"),
    (["-c2", "--exact", "--samples", 3, 1], "--exact and --samples"),
    (["-c2", "--preset", "windows-7", "-p", "lazy", 1], "--preset"),
    (["-c2", "--preset", "windows-7", "--balance-delay", 1, 1], "--preset"),
    (["-c2", "--file", "-", "--weights", 1], "--file"),
    (["-c2", "--unit-work", "0", "--trace", "x", 1], "--unit-work 0"),
    (["-c2", "--slice", "0.1", 1], "--trace"),
    (["-c2", "--plot", "x.gif", 1], ".svg"),
    (["-c2", "--chart", "pie", 1], "--chart pie"),
    (["-c2", "--chart", "slices", "--plot", "x.svg", 1], "--slice"),
    (["--nonsense"], "nonsense"),
]:
    run(predict, *words, status=2, said=said)
run(predict, "-c2", "--preset", "plan-9", 1, status=1, said="plan-9")
run(predict, "-c3", "-p", "active", "--group-cores", 2, 1, status=1, said="group_cores is 2")
run(predict, "-c2", "-p", "lazy", "--first-cores", "2", 1, status=1, said="2")
run(predict, "-c2", "--rotation-time", "0.3", "--exact", 1, 2, 3, status=1, said="lbsched-predict: ")
run("sh", "-c", '"$1" -c1 1 >/dev/full', "sh", predict, status=1, said="No space left")
