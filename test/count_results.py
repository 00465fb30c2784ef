#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up JUnit files: one line a suite, then `N passed, N failed`.

    count_results.py SUITE:STATUS=FILE[,FILE...] ...

STATUS is the exit status of the suite's run. A suite counts as one failure
more if it has no result or ran no test, so that one that silently finds
nothing does not pass, or if its run failed though no test did, as after a crash.
Exits with 1 if anything failed.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(path):
    """(passed, failed, skipped) of one JUnit file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def line(passed, failed, skipped):
    text = f"{passed} passed, {failed} failed"
    return f"{text}, {skipped} skipped" if skipped else text


def count_suite(names, status):
    """The sums over a suite's files, and what is wrong apart from failed tests."""
    sums = [0, 0, 0]
    problem = "" if names else "no results"
    for name in names:
        try:
            result = count(Path(name))
        except (OSError, ElementTree.ParseError) as error:
            problem = f"cannot read {name}: {error}"
            continue
        sums = [a + b for a, b in zip(sums, result)]
    if not problem and sums[0] + sums[1] == 0:
        problem = "no test was run"
    if not problem and status != 0 and sums[1] == 0:
        problem = f"the run ended with status {status}"
    if problem:
        sums[1] += 1
    return sums, problem


def main(arguments):
    total = [0, 0, 0]
    for argument in arguments:
        name, _, files = argument.partition("=")
        suite, _, status = name.partition(":")
        sums, problem = count_suite(list(filter(None, files.split(","))), int(status))
        total = [a + b for a, b in zip(total, sums)]
        print(f"  {suite:<8} {line(*sums)}" + (f" ({problem})" if problem else ""))
    print()
    print(line(*total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
