# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs on random shapes, in views of all kinds, against float64.

``make_bundles.py --count`` draws the programs, ``--shapes`` says how many shapes each
is launched on. A program's shapes are one test, which reports all that fail.
"""

import random

from device import VIEWS, launch, make_launch
from draws import GPU, more_configurations


def test_random(random_case, pytestconfig):
    program = random_case.program
    seed, count = (pytestconfig.getoption(x) for x in ("--shape-seed", "--shapes"))
    failures = []
    for configuration in more_configurations(program, seed, count, GPU):
        views = random.Random(configuration.seed).sample(VIEWS, len(VIEWS))
        problem = make_launch(configuration, views, views)
        launch(random_case, problem.arguments)
        try:
            problem.check()
        except AssertionError as failure:
            failures.append(f"{configuration}\n  views {views}: {failure}")
    assert not failures, "\n".join(failures)
