# SPDX-License-Identifier: BSD-3-Clause
"""machines.py PROGRAM ROOT: recorded machines of hwloc's tests, where they are there (LBSCHED_SHARED
names the folder of fixtures; lstopo makes of each what a program loads)."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

program, source = sys.argv[1:]
shared = os.environ.get("LBSCHED_SHARED") or os.path.join(source, "..", "shared")
machines = os.path.join(shared, "fixtures", "machines")
lstopo = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")

# cores, physical cores, the first CPU's number, and what of each finding; no others may be found.
EXPECTED = {
    "offline-cpu0-node0": (17, 17, 4, {
        "offline": "CPUs 0-3,21-23 are there but offline",
        "sparse": "gaps (CPUs 4-20)"}),
    "20em64t-hybrid-1p6c2t+2ca4co1t": (20, 14, 0, {
        "frequency": "powersave on 20 cores, and turbo",
        "smt": "20 cores are hyperthreads of 14",
        "core_kinds": "(8: CPUs 12-19; 12: CPUs 0-11)"}),
    "32amd64-4s2n4c-cgroup2": (6, 6, 0, {
        "frequency": "ondemand on 6 cores",
        "partial_domain": "the 6 cores are a part"}),
    "16em64t-4s2c2t-offlines": (12, 7, 0, {
        "smt": "12 cores are hyperthreads of 7",
        "offline": "CPUs 2,5,13-14 are there but offline",
        "sparse": "gaps (CPUs 0-1,3-4,6-12,15)"}),
    "256ia64-64n2s2c": (256, 256, 0, {}),
}

if not os.path.isdir(machines):
    print(f"skipped: no {machines} (LBSCHED_SHARED names the folder above fixtures)")
    sys.exit(77)
if lstopo is None:
    print("skipped: no lstopo (Debian's hwloc-nox has it)")
    sys.exit(77)

for name, (cores, physical, first, findings) in EXPECTED.items():
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(os.path.join(machines, name + ".tar.bz2")) as archive:
            # Caches and the like are most of the files, and nothing here looks at them.
            archive.extractall(folder, [member for member in archive
                                        if not any("/" + part + "/" in member.name for part in
                                                   ("cache", "cpuidle", "stats", "bus", "hypervisor",
                                                    "virtual", "pci0000:00", "thermal_throttle"))])
        root = os.path.join(folder, os.listdir(folder)[0])
        xml = os.path.join(folder, "topology.xml")
        subprocess.run([lstopo, "--of", "xml", "-f", xml], check=True,
                       env={**os.environ, "HWLOC_FSROOT": root, "HWLOC_COMPONENTS": "linux,stop"})
        done = subprocess.run([program, xml, root], capture_output=True, text=True, check=True)
        assert done.stderr == "", done
        told = dict(line.split(": ", 1) for line in done.stdout.splitlines())
        print(name, told)
        assert int(told.pop("cores")) == cores and int(told.pop("physical")) == physical
        assert told.pop("quota") == "inf" and int(told.pop("first")) == first
        assert told.keys() == findings.keys(), (told.keys(), findings.keys())
        for kind, words in findings.items():
            assert words in told[kind], (kind, told[kind])
