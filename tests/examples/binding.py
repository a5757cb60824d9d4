# SPDX-License-Identifier: BSD-3-Clause
"""examples/python: structs as the header has them, predictions, a verdict, errors, detection."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile

from examples import near, run

library, classify, compiler = sys.argv[1:4]
root = os.environ["LBSCHED_ROOT"]
os.environ["LBSCHED_LIBRARY"] = library
folder = os.path.join(root, "examples", "python")
sys.path.insert(0, folder)
import lbsched  # noqa: E402

assert lbsched.version() == os.environ["LBSCHED_VERSION"]

# Structs: every member at the offset that the compiler gives it, and no other members.
for name, struct in (("lb_model_options", lbsched.ModelOptions), ("lb_duration", lbsched.Duration),
                     ("lb_experiment_options", lbsched.ExperimentOptions)):
    names = [field[0] for field in struct._fields_]
    lines = "".join(f'printf("%zu ", offsetof({name}, {field}));' for field in names)
    program = (f'#include <lbsched/lbsched.h>\n#include <stdio.h>\nint main(void) {{ {lines}'
               f'printf("%zu\\n", sizeof({name})); return 0; }}\n')
    with tempfile.TemporaryDirectory() as place:
        binary = os.path.join(place, "offsets")
        run(compiler, "-x", "c", "-I", os.path.join(root, "include"), "-o", binary, "-",
            input=program)
        told = [int(number) for number in run(binary).split()]
    assert told == [getattr(struct, field).offset for field in names] + [ctypes.sizeof(struct)], name

# Predictions: the worked case of docs/model.md.
for policy, expected in (lbsched.NONE, [3, 6, 7, 10, 9, 12]), (lbsched.LAZY, [3, 6, 7, 9.5, 9, 11.5]), \
        (lbsched.IMMEDIATE, [3, 5.5, 7.5, 9, 10, 11]):
    model = lbsched.Model(2, policy)
    assert model.cores == 2 and model.policy == lbsched.POLICIES[policy]
    for duration, value in zip(model.durations([1, 2, 3, 4, 5, 6]), expected, strict=True):
        near(duration.mean, value)
        assert duration.exact == 1 and duration.completion == 1
options = lbsched.ModelOptions()
options.balance_delay = 100
near(lbsched.Model(2, lbsched.LAZY, options).durations([1, 2, 3, 4, 5, 6])[5].mean, 12)
assert lbsched.Model(2).durations([]) == []

# Errors are exceptions with the library's words.
for attempt, said in ((lambda: lbsched.Model(0), "cores"),
                      (lambda: lbsched.Model(2).durations([1, -1]), "-1"),
                      (lambda: lbsched.classify("/none/such"), "/none/such")):
    try:
        attempt()
        raise AssertionError("no error")
    except lbsched.Error as error:
        assert said in str(error) and error.status < 0, error

# A verdict, from here and from the program.
trace = os.path.join(root, "tests/data/windows-7.csv")
verdict = lbsched.classify(trace)
assert verdict.policy == "lazy" and verdict.model().policy == "lazy"
assert verdict.data["probabilities"]["lazy"] >= 0.95
printed = run(classify, "--json", trace)
assert f'"policy": "{verdict.policy}"' in printed and verdict.data["reasons"][0] in printed
told = run(sys.executable, os.path.join(folder, "example.py"), trace)
assert "lazy" in told and len(re.findall("CPU seconds take", told)) == 6, told
missing = subprocess.run([sys.executable, os.path.join(folder, "example.py"), "/none/such"],
                         capture_output=True, text=True, check=False)
assert missing.returncode == 1 and "/none/such" in missing.stderr, missing

# Detection: workers are started, the callback is asked, and asks to stop.
if os.environ["LBSCHED_EXPERIMENT"] == "0":
    try:
        lbsched.detect()
        raise AssertionError("no error")
    except lbsched.Error as error:
        assert error.status == -5, error  # LB_ERR_UNSUPPORTED
elif len(os.sched_getaffinity(0)) < 2:
    print("skipped: detection: this process may use one core only")
else:
    fractions = []
    try:
        lbsched.detect(budget=2, progress=lambda fraction: fractions.append(fraction) or True)
        raise AssertionError("not cancelled")
    except lbsched.Error as error:
        assert error.status == -9, error  # LB_ERR_CANCELLED
    assert len(fractions) == 1 and 0 <= fractions[0] <= 1, fractions
    # Beside others a budget may not do.
    for budget in (2, 8, 32):
        try:
            verdict = lbsched.detect(budget=budget)
            break
        except lbsched.Error as error:
            assert error.status == -10 and budget < 32, error  # LB_ERR_TIMEOUT
    assert verdict.policy in lbsched.POLICIES and verdict.data["reasons"]
    print(f"detected in 2 s: {verdict.policy}")
