# SPDX-License-Identifier: BSD-3-Clause
"""The program of README.md, linked as README.md says, prints what README.md says; that of the quick start
links."""
import os
import re
import shutil
import sys
import tempfile

from examples import run, skip

build, libdir, *compiler = sys.argv[1:]
with open(os.path.join(os.environ["LBSCHED_ROOT"], "README.md"), encoding="utf-8") as file:
    readme = file.read()
program = re.search(r"```c\n(.*?)```\n\nIt prints (.*?) s\.", readme, re.DOTALL)
expected = re.findall(r"[0-9.]+[0-9]", program[2])
for tool in ("meson", "pkg-config"):
    if shutil.which(tool) is None:
        skip(f"{tool} is not installed")

with tempfile.TemporaryDirectory() as folder:
    # Installed as a packager would, and found through pkg-config under another prefix.
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
    found = [root for root, _, files in os.walk(folder) if "lbsched.pc" in files]
    assert len(found) == 1, found
    prefix = found[0].removesuffix(os.path.join(libdir, "pkgconfig"))
    lib = os.path.join(prefix, libdir)
    config = ["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs"]
    environment = os.environ | {"PKG_CONFIG_PATH": found[0]}

    source, binary = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program[1])

    flags = run(*config, "lbsched", env=environment).split()
    run(*compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", binary)
    printed = re.findall(r"process \d+: ([0-9.]+) s",
                         run(binary, env=os.environ | {"LD_LIBRARY_PATH": lib}))
    assert printed == expected, f"{printed} != {expected}"

    # The quick start's program measures: that it compiles and links is what is looked at here.
    with open(os.path.join(os.environ["LBSCHED_ROOT"], "docs", "quick-start.md"),
              encoding="utf-8") as file:
        quick, = re.findall(r"```c\n(.*?)```", file.read(), re.DOTALL)
    with open(source, "w", encoding="utf-8") as file:
        file.write(quick)
    run(*compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", binary)
