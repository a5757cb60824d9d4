# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the examples share."""
import json
import math
import re
import subprocess
import sys


def judge(done, status, said):
    what = f"{' '.join(done.args)}\n{done.stdout}{done.stderr}"
    assert done.returncode == status, f"status {done.returncode}, expected {status}: {what}"
    if said is None:
        assert done.stderr == "", f"stderr is not empty: {what}"
    else:
        assert said in done.stderr, f"stderr lacks {said!r}: {what}"
    return done.stdout


def run(*command, status=0, said=None, **options):
    """Runs a program and asserts its exit status, and that stderr holds `said` (None: nothing)."""
    command = [str(word) for word in command]
    return judge(subprocess.run(command, capture_output=True, text=True, timeout=300, **options),
                 status, said)


def patient(*command):
    """What comes of a command with --budget. Where others use the machine it may come out of that,
    which is not what is tested: then it has more."""
    command = [str(word) for word in command]
    at = command.index("--budget") + 1
    while True:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 1 or "the budget of" not in done.stderr or float(command[at]) > 60:
            return done
        command[at] = str(2 * float(command[at]))


def read_json(text):
    """One JSON value as the standard has it: Python alone would take NaN and Infinity."""

    def refuse(name):
        raise AssertionError(f"{name} is not JSON: {text}")

    return json.loads(text, parse_constant=refuse)


def rows(table):
    """A table in JSON as a list of dictionaries."""
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def near(value, expected, relative=1e-6):
    assert math.isclose(value, expected, rel_tol=relative, abs_tol=1e-12), f"{value} != {expected}"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def curves(svg):
    """The titles of the curves in an SVG that gnuplot drew."""
    return [line.split("<title>")[1].split("</title>")[0]
            for line in svg.splitlines() if 'id="gnuplot_plot_' in line and "<title>" in line]


def points(svg, title):
    """Where an SVG that gnuplot drew has the points of a curve, in pixels, that of the key left out."""
    for part in svg.split('<g id="gnuplot_plot_')[1:]:
        if f"<title>{title}</title>" in part:
            found = re.findall(r"<use xlink:href='#gpPt\d+' transform='translate\(([-\d.]+),([-\d.]+)\)",
                               part)
            # Error bars draw theirs twice.
            return [(float(x), float(y)) for x, y in dict.fromkeys(found)][:-1]
    raise AssertionError(f"no curve {title}")


def check_points(svg, expected):
    """Every curve's points, given as {title: [(x, y)]} in the axes' own units (logarithms of a
    logarithmic axis), are where one and the same linear map puts them, to half a pixel."""
    assert curves(svg) == list(expected), curves(svg)
    pairs = []
    for title, values in expected.items():
        drawn = points(svg, title)
        assert len(drawn) == len(values), f"{title}: {len(drawn)} points of {len(values)}"
        pairs += zip(values, drawn)
    for axis in (0, 1):
        told = [(value[axis], pixel[axis]) for value, pixel in pairs]
        (low, at_low), (high, at_high) = min(told), max(told)
        assert low < high and abs(at_high - at_low) > 100, f"axis {axis}: {low} to {high}"
        for value, pixel in told:
            at = at_low + (value - low) / (high - low) * (at_high - at_low)
            assert abs(at - pixel) <= 0.5, f"axis {axis}: {value} at {pixel}, expected at {at}"
