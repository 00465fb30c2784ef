#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small launches of every bundle under compute-sanitizer, several at a time.

    sanitize.py --bundles DIR [--tools memcheck,racecheck,synccheck] [--jobs N]
                [--logs DIR] [-- PYTEST_ARGUMENT...]

A sanitizer works on one core for the most part, so the tests are dealt to N processes.
Only the kernels of the bundles are watched: those of the oracle, which are torch's, are
most of the work. Prints a line a tool, with what its logs report; fails if one of them
reports an error or a hazard, or if a test fails, or if none ran; or if memcheck or
racecheck finds nothing wrong with a kernel that was broken for it.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TOOLS = ("memcheck", "racecheck", "synccheck")
_FOUND = 9

# What each tool must find: stores a GiB from where they belong; no barriers.
_FAULTS = {
    "memcheck": (r"(st\.global\S*\s+\[%rd\d+)(\+-?\d+)?\]", r"\1+1073741824]"),
    "racecheck": (r"bar(rier)?\.sync\b[^;]*;", ""),
}


def kernel_names(bundles):
    manifests = [json.loads(p.read_text()) for p in bundles.glob("*/*/manifest.json")]
    return sorted({x["kernel"] for m in manifests for x in m["launches"]})


def command(tool, names, bundles, shard, log, rest):
    watched = [x for name in names for x in ("--kernel-name", f"kne={name}")]
    return [
        *("compute-sanitizer", "--tool", tool, "--log-file", str(log)),
        # Start-up of torch and jax asks for what this driver may not have.
        *("--report-api-errors", "no", "--error-exitcode", str(_FOUND), *watched),
        *(sys.executable, "-m", "pytest", str(_HERE), "-m", "sanitizer", "-q"),
        *("-p", "no:cacheprovider", "--bundles", str(bundles), "--shard", shard, *rest),
    ]


def passed(output):
    return int((re.findall(r"(\d+) passed", output) or ["0"])[-1])


def break_bundle(bundles, directory, fault):
    """A copy of the suite, with the fault in the PTX of its first bundle; its name."""
    shutil.copytree(bundles, directory)
    entry = json.loads((directory / "suite.json").read_text())[0]
    path = directory / entry["bundle"]
    manifest = json.loads((path / "manifest.json").read_text())
    # Without a cubin, the driver compiles the PTX.
    files = manifest["files"] = {"ptx": manifest["files"]["ptx"]}
    ptx = path / files["ptx"]["path"]
    text, count = re.subn(*fault, ptx.read_text())
    if count == 0:
        raise ValueError(f"expected PTX that {fault[0]} matches, but got {ptx}")
    ptx.write_text(text)
    files["ptx"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path.name


def finds_fault(tool, arguments):
    """Whether ``tool`` sees what is wrong with a broken kernel."""
    if tool not in _FAULTS:
        return True
    with tempfile.TemporaryDirectory() as parent:
        directory = Path(parent) / "bundles"
        name = break_bundle(arguments.bundles, directory, _FAULTS[tool])
        names, log = kernel_names(directory), arguments.logs / f"{tool}-broken.log"
        rest = [*arguments.rest, "-k", name]
        line = command(tool, names, directory, "0/1", log, rest)
        status = subprocess.run(line, capture_output=True, check=False).returncode
    print(f"{tool}: status {status} of a broken kernel, expected {_FOUND}")
    return status == _FOUND


def run(tool, arguments):
    """Whether ``tool`` is content; prints what it says."""
    names = kernel_names(arguments.bundles)
    jobs = []
    for i in range(arguments.jobs):
        log = arguments.logs / f"{tool}-{i}.log"
        shard = f"{i}/{arguments.jobs}"
        line = command(tool, names, arguments.bundles, shard, log, arguments.rest)
        output = (arguments.logs / f"{tool}-{i}.out").open("w+")
        process = subprocess.Popen(line, stdout=output, stderr=subprocess.STDOUT)
        jobs.append((process, log, output))
    tests, good = 0, True
    for process, log, output in jobs:
        status = process.wait()
        output.seek(0)
        text = output.read()
        tests += passed(text)
        # 5: fewer tests than processes.
        if status not in (0, 5):
            good = False
            report = log.read_text() if log.exists() else ""
            print(f"{tool}: status {status}\n{text[-2000:]}\n{report[:4000]}")
    print(f"{tool}: {tests} tests passed, {'clean' if good and tests else 'NOT CLEAN'}")
    return good and tests > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bundles", type=Path, required=True)
    parser.add_argument("--tools", default=",".join(_TOOLS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--logs", type=Path)
    parser.add_argument("rest", nargs="*", help="arguments of pytest, after --")
    arguments = parser.parse_args()
    if arguments.logs is None:
        arguments.logs = Path(tempfile.mkdtemp(prefix="sanitize-"))
    arguments.logs.mkdir(parents=True, exist_ok=True)
    print(f"logs in {arguments.logs}")
    tools = arguments.tools.split(",")
    good = [finds_fault(tool, arguments) & run(tool, arguments) for tool in tools]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
