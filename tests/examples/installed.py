# SPDX-License-Identifier: BSD-3-Clause
"""What `meson install` puts where: exactly this. Man pages without a warning of groff; completion."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from examples import run, skip

build, libdir, version, soversion, *tools = sys.argv[1:]


def words_for(script, *words):
    """What bash offers for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in words)
    code = (f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
            "_lbsched \"${COMP_WORDS[0]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return run("bash", "-c", code).split()


with tempfile.TemporaryDirectory() as folder:
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
    found = sorted(os.path.relpath(os.path.join(root, name), folder)
                   for root, _, names in os.walk(folder) for name in names)
    prefix = next(path for path in found if path.endswith("/lbsched.h"))
    prefix = prefix.removesuffix("include/lbsched/lbsched.h")
    manual = f"{prefix}share/doc/lbsched/html/"
    found = [path.removeprefix(prefix) for path in found if not path.startswith(manual)]
    completions = "share/bash-completion/completions/"
    expected = [f"bin/lbsched-{tool}" for tool in tools]
    expected += [f"share/man/man1/lbsched-{tool}.1" for tool in tools]
    expected += [f"{completions}lbsched-{tool}" for tool in tools] + [f"{completions}lbsched"]
    expected += ["include/lbsched/lbsched.h", f"{libdir}/pkgconfig/lbsched.pc"]
    expected += [f"{libdir}/liblbsched{end}"
                 for end in (".a", ".so", f".so.{soversion}", f".so.{version}")]
    assert found == sorted(expected), set(found) ^ set(expected)

    root = os.path.join(folder, prefix)
    environment = os.environ | {"LD_LIBRARY_PATH": os.path.join(root, libdir)}
    for tool in tools:
        name = f"lbsched-{tool}"
        program = os.path.join(root, "bin", name)
        assert run(program, "--version", env=environment) == f"{name} (lbsched) {version}\n"
        help_text = run(program, "--help", env=environment)
        assert help_text.startswith(f"usage: {name} "), help_text
        # Each option is in the page and is completed.
        options = set(re.findall(r"^ +(?:-[A-Za-z], )?(--[a-z-]+)", help_text, re.MULTILINE))
        assert {"--help", "--version"} <= options, options
        with open(os.path.join(root, "share/man/man1", f"{name}.1"), encoding="utf-8") as file:
            page = file.read()
        plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
            assert f".SH {section}\n" in plain, (name, section)
        for option in options:
            assert re.search(rf"^\.TP\n.*{option}\b", plain, re.MULTILINE), (name, option)
    script = os.path.join(root, completions, "lbsched-predict")
    environment_path = os.path.join(root, "bin", "lbsched-predict")
    os.environ["LD_LIBRARY_PATH"] = environment["LD_LIBRARY_PATH"]
    assert words_for(script, environment_path, "--pr") == ["--preset"]
    assert words_for(script, environment_path, "-p", "la") == ["lazy"]
    os.chdir(root)
    assert words_for(script, environment_path, "inc") == ["include"]

    if shutil.which("groff") is None:
        skip("the man pages' form was not looked at: groff is not installed")
    for tool in tools:
        path = os.path.join(root, "share/man/man1", f"lbsched-{tool}.1")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", path],
                              capture_output=True, text=True, check=True)
        assert done.stderr == "", done.stderr
