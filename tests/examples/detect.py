# SPDX-License-Identifier: BSD-3-Clause
"""detect on this machine: a verdict, predictions, files."""
import os
import shutil
import subprocess
import sys
import tempfile

from examples import curves, judge, near, patient, read_json, rows, run, skip

detect, classify = sys.argv[1:]

cores = sorted(os.sched_getaffinity(0))
if len(cores) < 2:
    skip("this process may use one core only")

with tempfile.TemporaryDirectory() as folder:
    trace = os.path.join(folder, "trace.csv")
    plot = os.path.join(folder, "plot.svg")
    words = ["--json", "--seed", "7", "--budget", "20", "--trace", trace]
    if shutil.which("gnuplot") is not None:
        words += ["--plot", plot]
    # Other load may keep the trace from deciding, and may make a run worth nothing.
    for attempt in range(1, 6):
        done = patient(detect, *words)
        assert done.returncode in (0, 3), done
        assert done.stderr == "", done
        result = read_json(done.stdout)
        foreign = result["foreign_cpu_percent"]
        if done.returncode == 0 or foreign <= 2:
            break
        print(f"attempt {attempt}: {foreign} % foreign CPU time, no verdict")
    verdict = result["verdict"]
    near(sum(verdict["probabilities"].values()), 1)
    assert verdict["reasons"]
    assert result["cores"] == len(cores) and 1 <= result["physical_cores"] <= len(cores)

    # What was found is in the saved trace too, by its kind.
    with open(trace, encoding="utf-8") as file:
        metadata = dict(line[1:].strip().split(": ", 1) for line in file
                        if line.startswith("# ") and ": " in line)
    for when in ("host", "run"):
        told = {"finding_%s_%s" % (when, finding["kind"]): finding["text"]
                for finding in result[when + "_findings"]}
        assert told == {key: value for key, value in metadata.items()
                        if key.startswith("finding_%s_" % when)}, (told, metadata)
    assert verdict["disturbed"] == metadata.get("disturbed")
    if verdict["disturbed"] is not None:
        assert verdict["policy"] == "unknown" and "disturbed" in verdict["reasons"][0]

    # The saved trace gives the same verdict.
    again = read_json(run(classify, "--json", trace, status=done.returncode))
    assert again["verdict"] == verdict and again["profile"] == result["profile"]
    if shutil.which("gnuplot") is not None:
        with open(plot, encoding="utf-8") as file:
            assert curves(file.read()) == [f"task {task}" for task in range(3 * len(cores))]

    if done.returncode == 3:
        assert verdict["policy"] == "unknown" and result["batch"] is None
        skip(f"no verdict in {attempt} attempts, {foreign} % foreign CPU time: "
             + verdict["reasons"][0])
    assert verdict["probabilities"][verdict["policy"]] >= 0.95
    batch = result["batch"]
    tasks = rows(batch["tasks"])
    assert [task["task"] for task in tasks] == list(range(3 * len(cores)))
    errors = []
    for task in tasks:
        assert 0.2 <= task["work_s"] <= 2
        # Nothing ends before its work is done, predicted or measured.
        assert task["predicted_s"] >= task["work_s"] * 0.999
        assert task["measured_s"] >= task["work_s"] * 0.9
        error = 100 * (task["predicted_s"] - task["measured_s"]) / task["measured_s"]
        near(task["error_percent"], error, 1e-4)
        errors.append(abs(error))
    near(batch["mean_error_percent"], sum(errors) / len(errors), 1e-4)
    print(f"{verdict['policy']} after {attempt} attempts, {foreign} % foreign CPU time; batch: "
          f"mean error {batch['mean_error_percent']} %, {batch['foreign_cpu_percent']} % foreign")

    # A disk that is full, and a place that is not there: the verdict is printed, the status is 1.
    told = judge(patient(detect, "--budget", 2, "--trace", "/dev/full"), 1, "/dev/full")
    assert "running" in told

# Each scheduler is emulated and judged; what comes of it depends on what else runs here.
table = patient(detect, "--self-test", "--json", "--seed", "1", "--budget", "20")
assert table.returncode in (0, 3), table
table_of_tests = read_json(table.stdout)
tests = rows(table_of_tests)
labels = table_of_tests["labels"]
assert labels == ["none", "lazy", "active", "immediate", "single queue"]
assert (table.returncode == 0) == all(test["right"] == 1 for test in tests)
for label, test in zip(labels, tests):
    print(f"emulated {label}: right {test['right']}, {test['probability']:.4f} after "
          f"{test['seconds']} s, {test['foreign_percent']} % foreign CPU time")

# The other experiments: a table each.
for kind, columns in {"even": "started", "profile": "concurrency", "latency": "latency_s",
                      "events": "followed"}.items():
    table = read_json(judge(patient(detect, "--measure", kind, "--json", "--budget", "2"), 0, None))
    assert columns in table["columns"] and (kind == "latency" or table["rows"])
run(detect, "--measure", "weather", status=2, said="weather")
