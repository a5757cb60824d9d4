# SPDX-License-Identifier: BSD-3-Clause
"""compare: bad command lines, two saved results in all forms, and a short measurement."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from examples import curves, near, read_json, rows, run

compare = sys.argv[1]

assert "lbsched-compare (lbsched) " + os.environ["LBSCHED_VERSION"] + "\n" == run(compare, "--version")
assert run(compare, "--help").startswith("usage: lbsched-compare")
for words, said in [
    ([], "two files"),
    (["x"], "two files"),
    (["x", "y", "z"], "two files"),
    (["--measure", "x"], "--measure x"),
    (["--measure", "users", "x"], "unexpected argument x"),
    (["-m", "batch", "-c", "class=x"], "--condition class=x"),
    (["-m", "batch", "-c", "nice"], "--condition nice"),
    (["-m", "batch", "-c", "cores=0"], "--condition cores=0"),
    (["-m", "batch", "-c", "nice=0", "-c", "nice=1", "-c", "nice=2"], "--condition nice=2"),
    (["-m", "batch", "-c", "nice=0", "-o", "a", "-o", "b"], "--save: 1 expected"),
    (["-o", "a", "x", "y"], "--save and --condition are for --measure"),
    (["-m", "batch", "--plot", "x.svg"], "--plot"),
    (["-m", "users", "--plot", "x"], ".svg"),
    (["--points", "0", "x", "y"], "--points 0"),
    (["--transport", "x", "x", "y"], "--transport x"),
    (["--repeats", "0", "x", "y"], "--repeats 0"),
    (["--jobs", "0", "x", "y"], "--jobs 0"),
    (["--seconds", "0", "x", "y"], "--seconds 0"),
    (["--time-limit", "0", "x", "y"], "--time-limit 0"),
    (["--budget", "0", "x", "y"], "--budget 0"),
    (["--seed", "-1", "x", "y"], "--seed -1"),
]:
    run(compare, *words, status=2, said=said)
run(compare, "/nonexistent", "/nonexistent", status=1, said="cannot read /nonexistent")

KERNBENCH = ["elapsed_s", "system_s", "user_s", "cpu_percent", "jobs_per_minute", "migrations_per_s",
             "mean_slice_ms", "switches_per_s", "idle_waiting_percent", "valid"]


def save(path, meta, columns, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in meta.items())
        file.write(",".join(["label"] + columns) + "\n")
        file.writelines(",".join([label] + [repr(value) for value in values]) + "\n"
                        for label, values in lines)


def kernbench(path, name, means):
    """Runs scattered evenly about means; the last of them was disturbed, and is far off."""
    lines = []
    for run_ in range(11):
        spread = 1 + (run_ - 4.5) * 0.001 if run_ < 10 else 2
        lines.append(("parallel 32", [mean * spread for mean in means] + [float(run_ < 10)]))
    save(path, {"workload": "batch", "condition": name, "runs": 11, "disturbed_runs": 1}, KERNBENCH,
         lines)


def sdet(path, name, peak, slope):
    lines = []
    for users in (1, 2, 4, 8, 16):
        rate = peak * (users / 4 if users < 4 else 1 - slope * (users / 4 - 1))
        lines += [(f"users {users}", [rate * (1 + (run_ - 4.5) * 0.002), 1.0]) for run_ in range(10)]
    save(path, {"workload": "users", "condition": name, "peak_jobs_per_minute": peak,
                "users_at_peak": 4, "largest_users": 16, "slope_past_peak_percent": -slope},
         ["jobs_per_minute", "valid"], lines)


with tempfile.TemporaryDirectory() as folder:
    old, new = os.path.join(folder, "old.csv"), os.path.join(folder, "new.csv")
    kernbench(old, "2.6.0-test8", [45.2, 100.97, 566.65, 1476.25, 40, 10, 5, 200, 1])
    kernbench(new, "2.6.0-test8-nick", [44.81, 93.98, 568.49, 1477.5, 44, 20, 2.5, 400, 3])
    text = run(compare, old, new)
    expected = """\
Job batch: parallel 32
                                            Elapsed                     System                       User                        CPU
             2.6.0-test8         45.2 (45.07-45.33)          101 (100.7-101.3)          566.6 (565-568.3)           1476 (1472-1480)
        2.6.0-test8-nick        44.81 (44.68-44.94)        93.98 (93.71-94.25)        568.5 (566.9-570.1)           1478 (1473-1482)

What may explain it: parallel 32
                                       Migrations/s                   Slice ms                 Switches/s             Idle waiting %
             2.6.0-test8           10 (9.972-10.03)            5 (4.986-5.014)          200 (199.4-200.6)           1 (0.9972-1.003)
        2.6.0-test8-nick           20 (19.94-20.06)          2.5 (2.493-2.507)          400 (398.9-401.1)            3 (2.991-3.009)

Relative to 2.6.0-test8: jobs_per_minute
                           Throughput     Std. Dev
parallel 32
             2.6.0-test8       100.0%         0.3%
        2.6.0-test8-nick       110.0%         0.3%

parallel 32: jobs_per_minute times 1.100 (1.097 to 1.103), p 1.08e-05 adjusted: larger
    one run and the next of the same condition are 0.1 and 0.1 % apart
2.6.0-test8: 1 of 11 runs were disturbed and left out (it does not say by what)
2.6.0-test8-nick: 1 of 11 runs were disturbed and left out (it does not say by what)
"""
    assert text == expected, text
    table = read_json(run(compare, old, new, "--json", "--metric", "elapsed_s"))
    assert table["metadata"]["base.condition"] == "2.6.0-test8"
    row, = rows(table)
    near(row["ratio"], 44.81 / 45.2, 1e-4)
    assert row["runs_base"] == 10 and row["invalid_base"] == 1 and row["difference"] == 0
    csv = run(compare, old, new, "--csv").splitlines()
    assert [line.split(",")[0] for line in csv if line[0] != "#"] == ["label", "parallel 32"]
    run(compare, old, new, "--metric", "nonsense", status=1, said="nonsense")

    sdet(old, "linux-2.6.0-test8", 5432.77, 0.01)
    sdet(new, "nick_v16", 4923.08, 0.1)
    text = run(compare, old, new, "--metric", "jobs_per_minute")
    assert "5432.77" in text and "Max JPM" in text
    # 4923.08 of 5432.77, whatever reaim's own table took for the whole.
    assert "-9.38" in [line for line in text.splitlines() if "4923.08" in line][0], text
    assert "users 16: jobs_per_minute times" in text and "smaller" in text
    svg = os.path.join(folder, "plot.svg")
    if shutil.which("gnuplot") is not None:
        run(compare, old, new, "--plot", svg)
        with open(svg, encoding="utf-8") as file:
            assert curves(file.read()) == ["linux-2.6.0-test8", "nick v16"]

    measure = ["--measure", "batch", "--jobs", 2, "--points", 2, "--repeats", 1]
    if os.environ["LBSCHED_EXPERIMENT"] == "0":
        run(compare, *measure, status=1, said="no experiments")
        sys.exit(0)
    environment = os.environ | {"TMPDIR": folder}
    before = sorted(os.listdir(folder))
    run(compare, *measure, "--", "sh", "-c", "exit 5", status=1, said="exited with status 5",
        env=environment)
    run(compare, *measure, "--time-limit", 0.5, "--", "sleep", "1000", status=1,
        said="time limit of 0.5 s", env=environment)
    assert sorted(os.listdir(folder)) == before
    run(compare, *measure, "--save", old, "--", "true", env=environment)
    with open(old, encoding="utf-8") as file:
        assert "# command: true\n" in file.read()
    saves = ["--save", old, "--save", new]
    table = read_json(run(compare, *measure, *saves, "--json", "-c", "name=plain", "-c",
                          "name=idle,class=idle,cores=1,competitors=1,competitor=idle",
                          env=environment))
    assert table["metadata"]["other.condition"] == "idle"
    assert table["metadata"]["other.class"] == "SCHED_IDLE, nice 0"
    assert rows(table)[0]["runs_base"] + rows(table)[0]["invalid_base"] == 2
    # What was saved reads back.
    assert "parallel 2" in run(compare, old, new, env=environment)

# Interrupted, it ends at once and leaves nothing behind.
for number in (signal.SIGINT, signal.SIGTERM):
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([compare, "--measure", "batch", "--jobs", "1000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": folder})
        time.sleep(0.5)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 128 + number and "interrupted" in err and out == "", (out, err)
        assert os.listdir(folder) == []
