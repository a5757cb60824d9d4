# SPDX-License-Identifier: BSD-3-Clause
"""--html: a page that holds all it needs, opened in Chromium: light and dark, narrow and wide."""
import base64
import html
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import browser
from examples import check_points, curves, read_json, rows, run, skip

detect, weights, compare = sys.argv[1:]
have_gnuplot = shutil.which("gnuplot") is not None


def pictures(page):
    return [base64.b64decode(data, validate=True).decode()
            for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)]


def read(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    # Nothing is fetched: neither markup nor style names anything outside.
    assert not re.search(r"<(script|link|iframe)|url\(|@import", page), path
    assert all(link.startswith("data:") for link in re.findall(r'(?:src|href)="([^"]*)"', page))
    assert page.count("<table>") == page.count("</table>") >= 1 and page.endswith("</html>\n")
    return page


with tempfile.TemporaryDirectory() as folder:
    made = []
    path = os.path.join(folder, "weights.html")
    told = run(weights, "--model", "4x4", "--repeats", 1, "--seconds", 1, "--json", "--html", path)
    page, table = read(path), rows(read_json(told))
    made.append(path)
    # The page's table is what was printed, and so are the picture's points.
    cells = [[html.unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", row)]
             for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)]
    column = cells[0].index("idle_percent")
    assert [float(row[column]) for row in cells[1:]] == [row["idle_percent"] for row in table]
    if have_gnuplot:
        svg, = pictures(page)
        drawn = {title: [(nice, row[name]) for nice, row in enumerate(table)] for title, name in
                 (("ideal", "ideal_idle_percent"), ("modelled", "idle_percent"),
                  ("static rule", "static_idle_percent"))}
        assert curves(svg) == list(drawn)
        modelled = re.sub(r"<title>(ideal|static rule)</title>", "", svg)
        check_points(modelled, {"modelled": drawn["modelled"]})

    # Two results that differ by a tenth, at each number of users.
    results = [os.path.join(folder, name) for name in ("base.csv", "other.csv")]
    for result, name, factor in zip(results, ("nice 0 & < >", "nice 5"), (1, 1.1)):
        with open(result, "w", encoding="utf-8") as file:
            file.write(f"# workload: users\n# condition: {name}\n# finding_run_load: others <were> there\n"
                       "label,jobs_per_minute,valid\n")
            file.writelines(f"users {users},{factor * users * 100 * (1 + (run_ - 4.5) * 0.002)},1\n"
                            for users in (1, 2, 4) for run_ in range(10))
    path = os.path.join(folder, "compare.html")
    told = run(compare, "--html", path, *results)
    page = html.unescape(read(path))
    assert "nice 5 against nice 0 & < >" in page and page.count("others <were> there") == 2, page
    for users in (1, 2, 4):
        verdict, = [line for line in told.splitlines() if line.startswith(f"users {users}: ")]
        assert f"<li>{verdict}</li>" in page and "times 1.100" in verdict, verdict
    if have_gnuplot:
        svg, = pictures(page)
        check_points(svg, {title: [(math.log(users), factor * users * 100) for users in (1, 2, 4)]
                           for title, factor in zip(curves(svg), (1, 1.1), strict=True)})
    made.append(path)

    if os.environ["LBSCHED_EXPERIMENT"] == "1" and len(os.sched_getaffinity(0)) >= 2:
        path = os.path.join(folder, "detect.html")
        done = subprocess.run([detect, "--budget", "4", "--json", "--html", path],
                              capture_output=True, text=True, timeout=100, check=False)
        if done.returncode == 1:
            print(f"skipped: the page of detect: {done.stderr}")
        else:
            page, result = html.unescape(read(path)), read_json(done.stdout)
            made.append(path)
            for said in [f"Balancing: {result['verdict']['policy']}", result["machine"],
                         *result["verdict"]["reasons"],
                         *(f["text"] for f in result["host_findings"] + result["run_findings"])]:
                assert said in page, said
            if have_gnuplot:
                assert "Duration of a unit of work over time" in pictures(page)[0]
    run(detect, "--html", "x", "--self-test", status=2, said="--html")
    run(weights, "--model", "2x2", "--repeats", 1, "--seconds", 1, "--html",
        os.path.join(folder, "no", "x.html"), status=1, said="No such file")
    run(weights, "--model", "2x2", "--repeats", 1, "--seconds", 1, "--html", "/dev/full", status=1,
        said="No space left")
    # Without gnuplot there is a page all the same.
    bare = os.path.join(folder, "bare.html")
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    os.symlink("/bin/sh", os.path.join(tools, "sh"))
    run(os.path.abspath(weights), "--model", "2x2", "--repeats", 1, "--seconds", 1, "--html", bare,
        env=os.environ | {"PATH": tools})
    assert "gnuplot is not installed" in read(bare) and pictures(read(bare)) == []

    # Where gnuplot fails, in the middle or at once, and where pictures have no place, the page is there,
    # says what it lacks, and the status is an error's.
    for name, script in (("fails", "exit 3"), ("killed", "kill -9 $$"), ("silent", "exec cat >/dev/null")):
        broken = os.path.join(folder, name)
        os.mkdir(broken)
        with open(os.path.join(broken, "gnuplot"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncase $1 in --version) exit 0 ;; esac\n{script}\n")
        os.chmod(os.path.join(broken, "gnuplot"), 0o755)
        path = os.path.join(broken, "page.html")
        run(os.path.abspath(compare), "--html", path, *results, status=1, said="cannot plot to",
            env=os.environ | {"PATH": f"{broken}:{os.environ['PATH']}"})
        page = read(path)
        assert "A picture is missing here" in page and pictures(page) == [], page

    # The pages of a build without experiments are no others.
    if os.environ["LBSCHED_EXPERIMENT"] == "0":
        sys.exit(0)
    if browser.chromium is None:
        skip("the pages were not opened: Chromium is not installed")
    for path, width, dark in [(made[-1], 400, False), (made[1], 1400, False), (made[0], 400, True)]:
        seen = browser.look(path, width=width, dark=dark)
        assert seen["dark"] == dark and seen["loaded"] == [], seen
        assert seen["needed"] <= seen["width"], f"wider than the window: {seen}"
        light = [sum(map(int, re.findall(r"\d+", seen[what])[:3])) for what in ("text", "ground")]
        assert (light[0] > 600 and light[1] < 150) if dark else (light[0] < 150 and light[1] > 600)
        assert len(seen["pictures"]) >= (1 if have_gnuplot else 0)
        for alternative, natural, shown in seen["pictures"]:
            # In a narrow window a picture keeps a width at which its letters can be read.
            assert alternative and natural > 0 and 640 <= shown <= max(seen["width"], 640), seen
