# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Streams, graphs, wide addresses, and what a launch refuses."""

import json

import pytest
import torch
from device import guarded, launch, make_problem, strided
from programs import Program
from suite import is_plain, wants

# Past the range of 32-bit offsets in elements, and, times two, in bytes.
FAR = (1 << 31) + 64


def is_square(program):
    return program == Program("second_order", "bf16", program.d, program.d)


@wants(is_square)
@pytest.mark.parametrize("axis", ["batch", "token", "head"])
def test_offsets_past_two_to_the_31(case, axis):
    """Two heads, batches or tokens so far apart that 32 bits would wrap."""
    if torch.cuda.mem_get_info()[0] < 40 << 30:
        pytest.fail("expected 40 GB of free device memory for four far tensors")
    program = case.program
    extents = {"batch": (2, 70, 1), "token": (1, 65, 1), "head": (1, 70, 2)}[axis]
    small = make_problem(program, extents, seed=5)
    width = program.d
    # A stride a token of 2^25 + 8 puts token 64 at 2^31.
    strides = {
        "batch": (FAR, width, width, 1),
        "token": (width, FAR // 64 + 7, width, 1),
        "head": (width, width, FAR, 1),
    }[axis]
    strides = tuple(s - s % 8 if s > 1 else s for s in strides)
    far = [
        strided(x.view.shape, strides, program.dtype)
        for x in (*small.inputs, *small.outputs)
    ]
    for wide, near in zip(far, small.inputs):
        wide.fill(near.view)
    try:
        launch(case, [x.view for x in far])
        torch.cuda.synchronize()
        assert far[-1].surroundings_untouched()
        assert not small.problem.failures({"o": far[-1].view}, program.dtype)
    finally:
        del far
        torch.cuda.empty_cache()


@wants(is_plain)
def test_launch_on_a_stream(case):
    """The kernel waits for its stream's work: inputs written there, late."""
    problem = make_problem(case.program, (2, 200, 4))
    values = [x.view.clone() for x in problem.inputs]
    launch(case, problem.arguments)  # Loads the kernel.
    for x in (*problem.inputs, *problem.outputs):
        x.poison()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        for x, value in zip(problem.inputs, values):
            x.view.copy_(value)
        launch(case, problem.arguments, stream)
        assert not stream.query(), "the launch waited for the stream"
    stream.synchronize()
    problem.check()


def is_common(program):
    is_any_length = not getattr(program, "tokens", None)
    of = (program.dtype, program.d, program.dv)
    return is_any_length and of == ("bf16", 64, 64)


@wants(is_common)
def test_graph_capture(case):
    problem = make_problem(case.program, (2, 130, 3))
    launch(case, problem.arguments)  # Loads the kernel, which no capture allows.
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(case, problem.arguments)
    other = make_problem(case.program, (2, 130, 3), seed=9)
    for x, y in zip(problem.inputs, other.inputs):
        x.view.copy_(y.view)
    for _ in range(2):
        for x in problem.outputs:
            x.poison()
        graph.replay()
        problem.check()


@wants(is_plain)
def test_arguments_by_name(case):
    problem = make_problem(case.program, (1, 70, 2))
    manifest = json.loads((case.path / "manifest.json").read_text())
    names = [a["name"] for a in manifest["arguments"]]
    stream = torch.cuda.current_stream().cuda_stream
    case.bundle(**dict(zip(names, problem.arguments)), stream=stream)
    problem.check()


@wants(is_plain)
def test_cupy_arrays(case):
    cupy = pytest.importorskip("cupy")
    problem = make_problem(case.program, (1, 70, 2))
    # CuPy has no bfloat16 of its own; DLPack carries what torch owns. Where this
    # CuPy refuses the type there is nothing to launch.
    try:
        arrays = [cupy.from_dlpack(x.contiguous()) for x in problem.arguments]
    except Exception as refusal:  # noqa: BLE001
        pytest.skip(f"cupy takes no bfloat16: {refusal}")
    launch(case, arrays)
    torch.cuda.synchronize()
    problem.written["o"].fill(torch.from_dlpack(arrays[-1]))
    problem.check()


@wants(is_plain)
def test_jax_inputs(case):
    """Arrays of jax, which has bfloat16; outputs of jax are refused elsewhere."""
    jax = pytest.importorskip("jax")
    problem = make_problem(case.program, (1, 70, 2))
    *inputs, out = problem.arguments
    arrays = [jax.dlpack.from_dlpack(x.contiguous()) for x in inputs]
    launch(case, [*arrays, out])
    torch.cuda.synchronize()
    problem.check()


# What a launch refuses. Each spoils one argument of a right call.


def _narrow(axis, by=1):
    return lambda x: x.narrow(axis, 0, x.shape[axis] - by)


def _misaligned(x):
    near = guarded((*x.shape[:3], x.shape[3] + 8), "bf16").view
    return near[..., 1 : x.shape[3] + 1].copy_(x)


WRONG = {
    "element type": ("q", lambda x: x.to(torch.float16)),
    "wide element type": ("v", lambda x: x.float()),
    "rank": ("k", lambda x: x[0]),
    "width": ("k", _narrow(3, 8)),
    "batch": ("k", _narrow(0)),
    "tokens": ("v", _narrow(1)),
    "heads": ("q", _narrow(2)),
    "output tokens": ("o", _narrow(1)),
    "output type": ("o", lambda x: x.float()),
    "host memory": ("q", lambda x: x.cpu()),
    "numpy array": ("v", lambda x: x.float().cpu().numpy()),
    "last stride": (
        "q",
        lambda x: torch.empty(*x.shape, 2, dtype=x.dtype, device="cuda")[..., 0],
    ),
    "misaligned": ("k", _misaligned),
    "odd row stride": (
        "v",
        lambda x: guarded((*x.shape[:3], x.shape[3] + 1), "bf16").view[..., :-1],
    ),
    "no tensor": ("v", lambda x: None),
}


@wants(is_plain)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_argument(case, wrong):
    name, spoil = WRONG[wrong]
    problem = make_problem(case.program, (2, 70, 3))
    arguments = problem.arguments
    index = "qkvo".index(name)
    arguments[index] = spoil(arguments[index])
    refuses(case, problem, arguments)


@wants(is_plain)
def test_wrong_count(case):
    problem = make_problem(case.program, (2, 70, 3))
    refuses(case, problem, problem.arguments[:-1])
    refuses(case, problem, [*problem.arguments, problem.arguments[-1]])
    refuses(case, problem, [])


@wants(is_plain)
def test_output_overlaps_an_input(case):
    problem = make_problem(case.program, (2, 70, 3))
    q, k, v, _ = problem.arguments
    before = v.clone()
    with pytest.raises(Exception, match="expected"):
        launch(case, [q, k, v, v])
    torch.cuda.synchronize()
    assert torch.equal(v, before)


def refuses(case, problem, arguments):
    """A message that says what was expected, and an output as it was."""
    for x in problem.outputs:
        x.poison()
    with pytest.raises(Exception) as caught:
        launch(case, arguments)
    message = str(caught.value)
    assert "expected" in message and len(message) > 20, message
    torch.cuda.synchronize()
    assert all(x.untouched() for x in problem.outputs)
    # The refusal leaves nothing behind: the right call still works.
    launch(case, problem.arguments)
    problem.check()
