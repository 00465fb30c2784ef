# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations through ``hla-run --device=cpu`` against the reference: those of
a CPU, and, fewer, the tile programs that a GPU gets.

They are drawn from a fixed seed, so that a failure is the same failure tomorrow.
``HLA_TEST_SEED=N`` draws others, ``HLA_TEST_CONFIGS=N`` how many. A failure prints how
to write the one configuration to a directory.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from configurations import Configuration
from draws import TARGETS, configurations
from programs import state_dtype
from tool_runner import Runner

SEED = int(os.environ.get("HLA_TEST_SEED", "20251027"))
COUNT = int(os.environ.get("HLA_TEST_CONFIGS", "512"))


def draw(count, target):
    drawn = configurations(SEED, count, TARGETS[target])
    return [(target, index, configuration) for index, configuration in drawn.items()]


CASES = draw(COUNT, "cpu") + draw(COUNT // 4, "tiles")


class Pool:
    """Runs configurations ahead of the tests that look at them, on all cores."""

    def __init__(self, tools, directory):
        self.tools = tools
        self.directory = directory
        self.executor = ThreadPoolExecutor(os.cpu_count())
        self.futures = {}

    def submit(self, *case):
        self.futures[case] = self.executor.submit(self._run, *case)

    def _run(self, target, index, configuration):
        directory = self.directory / f"{target}-{index}"
        directory.mkdir()
        problem = configuration.problem()
        outputs = Runner(self.tools, directory).run(configuration, problem)
        shutil.rmtree(directory)
        program = configuration.program
        exact = state_dtype(program.dtype)
        operand_dtype = exact if target == "cpu" else program.operand_dtype
        return problem.failures(outputs, operand_dtype)


@pytest.fixture(scope="module")
def pool(request, tools, tmp_path_factory):
    pool = Pool(tools, tmp_path_factory.mktemp("random"))
    for item in request.session.items:
        if item.function is test_random:
            pool.submit(*(item.callspec.params[name] for name in NAMES))
    yield pool
    pool.executor.shutdown(cancel_futures=True)


def case_id(value):
    return value.program.name if isinstance(value, Configuration) else str(value)


NAMES = ("target", "index", "configuration")


@pytest.mark.parametrize(NAMES, CASES, ids=case_id)
def test_random(pool, target, index, configuration):
    failures = pool.futures[target, index, configuration].result()
    assert not failures, (
        f"{'; '.join(failures)}\n{configuration}\n"
        f"test/Integration/draws.py {SEED} {index} --target={target} -o DIR writes it"
    )
