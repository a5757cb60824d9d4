# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the examples share."""
import json
import math
import subprocess
import sys


def run(*command, status=0, said=None, **options):
    """Runs a program and asserts its exit status, and that stderr holds `said` (None: nothing)."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    what = f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    assert done.returncode == status, f"status {done.returncode}, expected {status}: {what}"
    if said is None:
        assert done.stderr == "", f"stderr is not empty: {what}"
    else:
        assert said in done.stderr, f"stderr lacks {said!r}: {what}"
    return done.stdout


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
