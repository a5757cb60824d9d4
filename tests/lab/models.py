# SPDX-License-Identifier: BSD-3-Clause
"""What run.sh kept of `probe model`, `probe host` and `detect --measure`: tables and faults."""
import json
import os
import statistics


def numbered(folder, suffix):
    names = [n[:-len(suffix)] for n in os.listdir(folder) if n.endswith(suffix)]
    return [os.path.join(folder, n) for n in sorted(names, key=int)]


def failed(base):
    """What went wrong with a run, or None."""
    with open(base + ".status") as file:
        status = file.read().strip()
    if status == "0":
        return None
    with open(base + (".scheduler" if status == "scheduler" else ".err")) as file:
        lines = file.read().strip().splitlines()
    return "status %s: %s" % (status, lines[-1] if lines else "")


def model_row(kernel, policy, folder):
    """The errors of the policy's own model and of processor sharing, per workload."""
    own, sharing, faults = [], [], []
    for base in numbered(folder, ".status"):
        fault = failed(base)
        if fault:
            faults.append("%s, model %s: %s" % (kernel, policy, fault))
            continue
        with open(base + ".json") as file:
            for workload in json.load(file)["workloads"]:
                own.append(workload["policy_error_percent"])
                sharing.append(workload["sharing_error_percent"])
    if not own:
        return None, faults
    if policy != "immediate" and statistics.mean(own) >= statistics.mean(sharing):
        faults.append("%s: the model of %s is off by %.1f %%, processor sharing by %.1f %%"
                      % (kernel, policy, statistics.mean(own), statistics.mean(sharing)))
    return [kernel, policy, "%d" % len(own), "%.1f" % statistics.mean(own), "%.1f" % max(own),
            "%.1f" % statistics.mean(sharing), "%.1f" % max(sharing)], faults


MODEL_COLUMNS = ["kernel", "scheduler", "workloads", "model: mean error %", "worst",
                 "sharing: mean error %", "worst"]


def expected_host(smp):
    """Cores and physical cores of an -smp as for QEMU."""
    parts = smp.split(",")
    threads = [int(p.split("=")[1]) for p in parts if p.startswith("threads=")]
    return int(parts[0]), int(parts[0]) // (threads[0] if threads else 1)


def host_row(kernel, smp, folder):
    row, faults = None, []
    for base in numbered(folder, ".status"):
        fault = failed(base)
        if fault:
            faults.append("%s, host %s: %s" % (kernel, smp, fault))
            continue
        with open(base + ".json") as file:
            host = json.load(file)
        cores, physical = expected_host(smp)
        kinds = [finding["kind"] for finding in host["findings"]]
        if (host["cores"], host["physical_cores"]) != (cores, physical):
            faults.append("%s, host %s: %d cores (%d physical) were found"
                          % (kernel, smp, host["cores"], host["physical_cores"]))
        if ("smt" in kinds) != (physical < cores):
            faults.append("%s, host %s: findings are %s" % (kernel, smp, ", ".join(kinds) or "none"))
        row = [kernel, smp, str(host["cores"]), str(host["physical_cores"]), " ".join(kinds) or "-"]
    return row, faults


HOST_COLUMNS = ["kernel", "-smp", "cores", "physical", "findings"]


MEASURES = ("profile-", "latency-", "events-")


def measure_tables(kernel, name, folder):
    """The table of each run: a title, the columns and the rows."""
    tables, faults = [], []
    for base in numbered(folder, ".status"):
        title = "%s, %s, %s, run %s" % (kernel, name.split("-", 1)[1], name.split("-")[0],
                                        os.path.basename(base))
        fault = failed(base)
        if fault:
            faults.append("%s: %s" % (title, fault))
            continue
        with open(base + ".json") as file:
            table = json.load(file)
        labels = table.get("labels")
        rows = [["-" if value is None else "%.6g" % value for value in row] for row in table["rows"]]
        if labels:
            rows = [[label] + row for label, row in zip(labels, rows)]
        tables.append((title, ([""] if labels else []) + table["columns"], rows))
    return tables, faults
