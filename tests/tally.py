#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts what a `meson test` run did, from its testlog.json.

tally.py RUN TESTLOG prints a line for every test that failed or skipped something, with the reason
that it printed, then `passed failed skipped` as the last line. A line `skipped: REASON` of a test
that passed counts as one more skip: a part of it did not run.
"""
import json
import sys


def tally(run, lines):
    passed = failed = skipped = 0
    for line in lines:
        test = json.loads(line)
        name = f"{run}: {test['name']}"
        reasons = [
            text[len("skipped:"):].strip()
            for text in (test.get("stdout") or "").splitlines()
            if text.startswith("skipped:")
        ]
        if test["result"] == "SKIP":
            skipped += 1
            print(f"skipped  {name}: {'; '.join(reasons) or 'no reason given'}")
        elif test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += 1
            for reason in reasons:
                skipped += 1
                print(f"skipped  a part of {name}: {reason}")
        else:
            failed += 1
            print(f"FAILED   {name} ({test['result']})")
            for stream in ("stdout", "stderr"):
                for text in (test.get(stream) or "").splitlines()[-40:]:
                    print(f"    {text}")
    return passed, failed, skipped


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8", errors="replace") as log:
        print(*tally(sys.argv[1], log))
