# SPDX-License-Identifier: BSD-3-Clause
"""classify: verdicts of simulated traces, unknown ones, forms of output, bad input."""
import os
import sys
import tempfile

from examples import near, read_json, rows, run

classify, simulate = sys.argv[1:]
policies = ["none", "lazy", "active", "immediate"]


def trace(policy, *options):
    """As the seed's figures: 12 tasks on 4 cores, of which two of one core end first."""
    return run(simulate, "--policy", policy, "--cores", 4, "--tasks-per-core", 3, "--seed", 1,
               "--order", "designed", "--gap", 2, *options)


for policy in policies:
    text = trace(policy)
    assert "# decidable: yes" in text
    result = read_json(run(classify, "--json", "-", input=text))
    verdict = result["verdict"]
    assert verdict["policy"] == policy, verdict
    near(sum(verdict["probabilities"].values()), 1)
    assert verdict["probabilities"][policy] >= 0.95
    assert len(verdict["reasons"]) > 0
    # The table begins where one task runs and the model is that of the verdict.
    profile = rows(result["profile"])
    assert profile[-1]["concurrency"] <= 12 and profile[0]["concurrency"] >= 1
    if policy == "immediate":
        for row in profile:
            near(row["model_s"], 0.01 * max(1, row["concurrency"] / 4), 0.05)
    spoken = run(classify, "-", input=text)
    assert policy in spoken and "running" in spoken
    for reason in verdict["reasons"]:
        assert reason in spoken, f"{reason} is missing in\n{spoken}"

    # The seed's kind of record, tasks and durations alone, tells the same.
    table = text.split("# table:")[0]
    units = [line.split(",") for line in table.splitlines() if line[0].isdigit()]
    units.sort(key=lambda unit: (int(unit[0]), float(unit[2])))
    durations = "".join(f"{u[0]} {float(u[3]) - float(u[2]):.9f}\n" for u in units)
    alone = read_json(run(classify, "--json", "--cores", 4, "-", input=durations))["verdict"]
    assert alone["policy"] == policy, alone

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "trace.csv")

    def file(text):
        with open(path, "w", encoding="utf-8") as output:
            output.write(text)
        return path

    # The same from a file as from standard input.
    text = trace("lazy")
    assert run(classify, file(text)) == run(classify, "-", input=text)

    # A trace that cannot tell: three units of one task.
    head = "# lbsched-trace: 1\n# cores: 2\ntask,start_s,end_s\n"
    short = head + "0,0,0.01\n0,0.01,0.02\n0,0.02,0.03\n"
    result = read_json(run(classify, "--json", file(short), status=3))
    assert result["verdict"]["policy"] == "unknown" and result["verdict"]["reasons"]
    assert "unknown" in run(classify, path, status=3)

    # A trace that could, but lacks the moment which tells lazy from active.
    lacking = run(simulate, "--policy", "lazy", "--cores", 2, "--tasks-per-core", 2, "--seed", 1)
    verdict = read_json(run(classify, "--json", file(lacking), status=3))["verdict"]
    assert verdict["policy"] == "unknown"
    assert "lazy" in verdict["reasons"][0] and "active" in verdict["reasons"][0], verdict

    # No number is no word: where too few units fell into a row it has a dash.
    assert "nan" not in run(classify, path, status=3)

    # Three lines: nothing at all was measured, or it is no trace.
    run(classify, file(head), status=1, said="no task")
    run(classify, file("one\ntwo\nthree\n"), status=1, said=f"{path}: line 1")
    run(classify, file(head.replace("# cores: 2\n", "") + "0,0,1\n"), status=1, said="cores")
    run(classify, file(head + "0,0.5,0.2\n"), status=1, said="line 4")
    run(classify, file(""), status=1, said="line 1")
    run(classify, os.path.join(folder, "none.csv"), status=1, said="No such file")
    run(classify, folder, status=1, said=folder)
    run(classify, file(head + "0,0,0.01\n"), "--plot", "x.gif", status=2, said=".svg")

# More sureness than a trace can give.
sure = read_json(run(classify, "--json", "--confidence", "0.5", "-", input=trace("none")))
assert sure["verdict"]["policy"] == "none"

assert "lbsched-classify (lbsched) " + os.environ["LBSCHED_VERSION"] + "\n" == run(classify, "--version")
assert run(classify, "--help").startswith("usage: lbsched-classify")
for words, said in [
    ([], "one trace file"),
    (["a", "b"], "one trace file"),
    (["--confidence", "1", "-"], "--confidence 1"),
    (["--confidence", "0.4", "-"], "--confidence 0.4"),
    (["--confidence", "nan", "-"], "--confidence nan"),
    (["--nonsense"], "nonsense"),
]:
    run(classify, *words, status=2, said=said)
run(classify, "-", input="task,duration\n0,1\n", status=1, said="(--cores)")
