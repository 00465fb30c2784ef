# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on random shapes, in views of all kinds, against float64.

``make_bundles.py --count`` draws the programs, ``--shapes`` says how many shapes each
is launched on. A program's shapes are one test, which reports all that fail.
"""

import random

import pytest
from device import VIEWS, launch, make_launch
from draws import GPU, more_configurations

# Few and short, past two chunks of every length.
SMALL = GPU._replace(tokens=(1, 33, 65, 130))


def test_random(random_case, pytestconfig):
    seed, count = (pytestconfig.getoption(x) for x in ("--shape-seed", "--shapes"))
    check(random_case, more_configurations(random_case.program, seed, count, GPU))


@pytest.mark.sanitizer
def test_small(random_case, pytestconfig):
    """For compute-sanitizer."""
    seed = pytestconfig.getoption("--shape-seed")
    check(random_case, more_configurations(random_case.program, seed, 2, SMALL))


def check(random_case, configurations):
    failures = []
    for configuration in configurations:
        views = random.Random(configuration.seed).sample(VIEWS, len(VIEWS))
        problem = make_launch(configuration, views, views)
        launch(random_case, problem.arguments)
        try:
            problem.check()
        except AssertionError as failure:
            failures.append(f"{configuration}\n  views {views}: {failure}")
    assert not failures, "\n".join(failures)
