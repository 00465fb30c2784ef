# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations through ``hla-run --device=cpu`` against the reference.

They are drawn from a fixed seed, so that a failure is the same failure tomorrow.
``HLA_TEST_SEED=N`` draws others, ``HLA_TEST_CONFIGS=N`` how many. A failure prints how
to write the one configuration to a directory.
"""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from configurations import Configuration
from draws import configurations
from programs import state_dtype
from tool_runner import Runner

SEED = int(os.environ.get("HLA_TEST_SEED", "20251027"))
COUNT = int(os.environ.get("HLA_TEST_CONFIGS", "512"))


class Pool:
    """Runs configurations ahead of the tests that look at them, on all cores."""

    def __init__(self, tools, directory):
        self.tools = tools
        self.directory = directory
        self.executor = ThreadPoolExecutor(os.cpu_count())
        self.futures = {}

    def submit(self, index, configuration):
        self.futures[index] = self.executor.submit(self._run, index, configuration)

    def _run(self, index, configuration):
        directory = self.directory / str(index)
        directory.mkdir()
        problem = configuration.problem()
        outputs = Runner(self.tools, directory).run(configuration, problem)
        shutil.rmtree(directory)
        return problem.failures(outputs, state_dtype(configuration.program.dtype))


@pytest.fixture(scope="module")
def pool(request, tools, tmp_path_factory):
    pool = Pool(tools, tmp_path_factory.mktemp("random"))
    for item in request.session.items:
        if item.function is test_random:
            pool.submit(*(item.callspec.params[n] for n in ("index", "configuration")))
    yield pool
    pool.executor.shutdown(cancel_futures=True)


def case_id(value):
    return value.program.name if isinstance(value, Configuration) else str(value)


@pytest.mark.parametrize(
    "index, configuration", configurations(SEED, COUNT).items(), ids=case_id
)
def test_random(pool, index, configuration):
    failures = pool.futures[index].result()
    assert not failures, (
        f"{'; '.join(failures)}\n{configuration}\n"
        f"test/Integration/draws.py {SEED} {index} -o DIR writes it"
    )
