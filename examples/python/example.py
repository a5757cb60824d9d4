#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How does this machine (or the one of a trace file) share its cores, and how long will six processes
take there that need 1 to 6 CPU seconds?

    example.py [TRACE]
"""
import sys

import lbsched


def main():
    verdict = lbsched.classify(sys.argv[1]) if len(sys.argv) > 1 else lbsched.detect()
    print(f"lbsched {lbsched.version()}: {verdict.policy}")
    for reason in verdict.data["reasons"]:
        print(f"- {reason}")
    if verdict.policy == "unknown":
        return 3
    model = verdict.model()
    print(f"on {model.cores} cores, {model.policy}:")
    for work, took in zip(range(1, 7), model.durations([1, 2, 3, 4, 5, 6])):
        print(f"{work} CPU seconds take {took.mean:.3f} s (from {took.min:.3f} to {took.max:.3f})")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except lbsched.Error as error:
        sys.exit(f"example.py: {error}")
