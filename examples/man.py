# SPDX-License-Identifier: BSD-3-Clause
"""Writes a tool's man page from its --help, which so is said once.

usage: man.py PROGRAM VERSION TOOL...
"""
import os
import re
import subprocess
import sys

program, version, *tools = sys.argv[1:]
name = os.path.basename(program)

SUMMARIES = {
    "detect": "how this machine balances processes among its cores",
    "classify": "how a trace's tasks were balanced among cores",
    "predict": "how long processes take that share cores",
    "weights": "what large weight differences cost",
    "compare": "compare schedulers, settings and kernels",
    "whatif": "how long measured work takes on other machines",
}


def escape(text):
    """What roff takes for its own: backslashes, dashes, and dots and quotes that begin a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def bold_options(text):
    """The words of an option's line: what is typed is bold, what stands for something is not."""
    return re.sub(r"(?<![A-Za-z])\\-(?:\\-)?[A-Za-z][A-Za-z]*(?:\\-[A-Za-z]+)*",
                  lambda word: f"\\fB{word[0]}\\fR", escape(text))


def synopsis(lines):
    for number, line in enumerate(lines):
        words = line.removeprefix("usage:").strip().removeprefix(name).strip()
        yield from ([".br"] if number > 0 else [])
        yield f"\\fB{escape(name)}\\fR {escape(words)}"


def options(lines):
    """A line that begins with a dash is a new option; what is indented deeper goes on."""
    columns = [parted.end() for line in lines if (parted := re.match(r" +-.*?\S  +", line))]
    column = max(set(columns), key=columns.count)
    for line in lines:
        if is_option(line):
            yield from [".TP", bold_options(line[:column].strip())]
        yield escape(line[column:].strip())


def is_option(line):
    return re.match(r" {1,8}-", line) is not None


def page(text):
    usage, _, rest = text.partition("\n")
    lines = rest.split("\n")
    usages = [usage]
    while lines and lines[0].startswith("       "):
        usages.append(lines.pop(0))
    paragraphs = [p.split("\n") for p in "\n".join(lines).strip().split("\n\n")]
    yield f'.TH {name.upper()} 1 "" "lbsched {version}" "User Commands"'
    yield ".SH NAME"
    yield f"{escape(name)} \\- {SUMMARIES[name.removeprefix('lbsched-')]}"
    yield ".SH SYNOPSIS"
    yield from synopsis(usages)
    section = None
    for paragraph in paragraphs:
        kind = "OPTIONS" if any(is_option(line) for line in paragraph) else \
            "EXIT STATUS" if re.match("Exit status|Ends with", paragraph[0]) else "DESCRIPTION"
        yield ".PP" if kind == section else f".SH {kind}"
        section = kind
        if kind == "OPTIONS":
            yield from options(paragraph)
        else:
            yield from (escape(line.strip()) for line in paragraph)
    yield ".SH SEE ALSO"
    others = [f"\\fBlbsched\\-{tool}\\fR(1)" for tool in tools if f"lbsched-{tool}" != name]
    yield ",\n".join(others + ["\\fBsched\\fR(7)"])


done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
print("\n".join(page(done.stdout)))
