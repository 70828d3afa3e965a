"""The class of the precision standard that an operator is judged in: its name first, then its kind and dtype."""

from __future__ import annotations

import pytest
from needed import package

from opdev.design.derived import expected_tolerance, needs_reference, op_type

KINDS = ("transport", "collective", "compute", "fused_compute_comm", "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["broadcast", "scatter", "allgather", "all_gather", "gather"])
def test_what_moves_by_its_name_moves_whatever_its_kind(kind, name):
    assert op_type(kind, "float16", name) == "MOVE"
    assert expected_tolerance(kind, "bfloat16", name) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    ["reduce", "allreduce", "all_reduce", "reduce_scatter", "matmul_allreduce", "matmul_reduce_scatter", "allgather_matmul", "moe_combine"],
)  # fmt: skip
def test_what_adds_by_its_name_adds_whatever_its_kind(kind, name):
    assert op_type(kind, "float16", name) == "COMPUTE_FLOAT"
    assert expected_tolerance(kind, "float16", name, 2047) == 2**-8
    assert expected_tolerance(kind, "float16", name, 2048) == expected_tolerance(kind, "float16", name) == 2**-7


@pytest.mark.parametrize(
    ("kind", "name", "floats", "integers"),
    [
        ("transport", "mine", "MOVE", "MOVE"), ("collective", "mine", "COMPUTE_FLOAT", "COMPUTE_INTEGER"),
        ("compute", "mine", "COMPUTE_FLOAT", "COMPUTE_INTEGER"), ("fused_compute_comm", "mine", "COMPUTE_FLOAT", "COMPUTE_INTEGER"),
        ("", "mine", "COMPUTE_FLOAT", "COMPUTE_INTEGER"), ("collective", "kv_shuffle", "MOVE", "COMPUTE_INTEGER"),
        ("collective", "moe_dispatch", "MOVE", "COMPUTE_INTEGER"), ("", "alltoallv_x", "MOVE", "COMPUTE_INTEGER"),
        # Something is computed behind what is gathered.
        ("fused_compute_comm", "allgather_swiglu", "COMPUTE_FLOAT", "COMPUTE_INTEGER"),
    ],
)  # fmt: skip
def test_any_other_goes_by_kind_and_dtype(kind, name, floats, integers):
    for dtype in ("float16", "bf16", "fp32"):
        assert op_type(kind, dtype, name) == floats
    for dtype in ("int8", "int32", "uint8", "bool"):
        assert op_type(kind, dtype, name) == integers
        assert expected_tolerance(kind, dtype, name) == 0


def test_a_fused_operator_needs_the_reference():
    assert [kind for kind in KINDS if needs_reference(kind)] == ["fused_compute_comm"]


def test_the_command_goes_by_the_name_alone(tmp_path, monkeypatch, capsys):
    """Half a unit off is wrong for what only moves data, and nobody had to say that it does."""
    np = package("numpy")
    from opdev.precision.cli import main

    monkeypatch.chdir(tmp_path)
    np.array([1.0, 2.0], np.float16).tofile("golden.bin")
    np.array([1.0, 2.002], np.float16).tofile("output.bin")
    for name, status in (("allgather", 1), ("allreduce", 0)):
        assert (
            main(["--golden", "golden.bin", "--output", "output.bin", "--dtype", "fp16", "--op-name", name]) == status
        )
