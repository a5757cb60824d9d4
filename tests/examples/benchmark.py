# SPDX-License-Identifier: BSD-3-Clause
"""busy-cores, of Google Benchmark (its JSON) and of plain C (a table): findings, and both slowdowns."""
import json
import math
import os
import subprocess
import sys
import tempfile

from examples import near, run

program, kind = sys.argv[1:]
cores = len(os.sched_getaffinity(0))
busy_counts = [0] + [1 << i for i in range(8) if 1 << i <= 2 * cores and 1 << i < 128]


def check(findings, results):
    """What was found about the host, and (busy, slowdown, model_slowdown) for each benchmark."""
    for finding, sentence in findings.items():
        assert finding.startswith("finding_") and " " in sentence, (finding, sentence)
    assert [result[0] for result in results] == busy_counts, results
    for busy, slowdown, model in results:
        near(model, max(1, (busy + 1) / cores))
        assert math.isfinite(slowdown) and slowdown > 0
    near(results[0][1], 1)
    print("busy, slowdown, by the model:", results)


if kind == "google":
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        done = subprocess.run([program, "--benchmark_min_time=0.02", f"--benchmark_out={path}"],
                              capture_output=True, text=True, timeout=100, check=True)
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    context = told["context"]
    if os.environ["LBSCHED_EXPERIMENT"] == "0":
        assert "host not looked at" in done.stderr
    else:
        assert context["lbsched"] == os.environ["LBSCHED_VERSION"]
        assert context["lbsched_cores"] == str(cores)
        assert context["lbsched_host"] in done.stderr
    findings = {key.removeprefix("lbsched_"): value for key, value in context.items()
                if key.startswith("lbsched_finding_")}
    for sentence in findings.values():
        assert sentence in done.stderr
    check(findings, [(int(b["name"].split(":")[1].split("/")[0]), b["slowdown"],
                      b["model_slowdown"]) for b in told["benchmarks"]])
    run(program, "--nonsense", status=2, said="nonsense")
else:
    if os.environ["LBSCHED_EXPERIMENT"] == "0":
        run(program, 0.02, status=1, said="no experiments")
        sys.exit(0)
    lines = run(program, 0.02).splitlines()
    metadata = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    header, *table = [line.split(",") for line in lines if not line.startswith("#")]
    assert header == ["busy", "mean_ms", "slowdown", "model_slowdown"], header
    assert f"{cores} core" in metadata.pop("host")
    check(metadata, [(int(row[0]), float(row[2]), float(row[3])) for row in table])
    for word in (0, "1x", "nan", "-1", ""):
        run(program, word, status=2, said="usage")
