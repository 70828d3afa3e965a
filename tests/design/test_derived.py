"""The standards' tables, number by number."""

from __future__ import annotations

import pytest

from opdev.design import derived
from opdev.design.arithmetic import evaluate
from opdev.design.dtypes import fold_dtype

KB, MB = 1024, 1024 * 1024


@pytest.mark.parametrize(
    ("size", "tier"),
    [
        (0, "XS"),
        (64 * KB - 1, "XS"),
        (64 * KB, "S"),
        (MB - 1, "S"),
        (MB, "M"),
        (64 * MB - 1, "M"),
        (64 * MB, "L"),
        (MB * MB, "L"),
    ],
)
def test_tiers(size, tier):
    assert derived.tier(size) == tier


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ("[256, 128]", "fp16", 64 * KB),
        ("(8192,8192)", "float16", 128 * MB),
        ("[8, 32M]", "int8", 256 * MB),
        ("(1,)", "fp32", 4),
        ("[2 * 1024]", "double", 16 * KB),
        ("[n_pes, elements]", "fp16", None),
        ("[1]", "T", None),
        ("由小到大", "fp16", None),
        ("[]", "fp16", None),
        ("[" + "9," * 90 + "9]", "fp16", None),
    ],
)
def test_bytes_of_a_shape(shape, dtype, size):
    assert derived.bytes_per_pe(shape, dtype) == size


def test_the_256_mb_line_counts_all_pes():
    per_pe = derived.bytes_per_pe("[elements]", "fp16", {"elements": 16 * MB})

    assert derived.total_bytes(per_pe, 8) == derived.TOTAL_FLOOR
    assert derived.total_bytes(per_pe, 7) < derived.TOTAL_FLOOR


@pytest.mark.parametrize(
    ("name", "kind", "at_2", "at_8"),
    [
        ("allgather", "all-gather", 0.5, 0.875),
        ("all_to_all", "all-to-all", 0.5, 0.875),
        ("alltoallv", "all-to-all", 0.5, 0.875),
        ("kv_shuffle", "all-to-all", 0.5, 0.875),
        ("reduce_scatter", "reduce-scatter", 0.5, 0.875),
        ("matmul_allreduce", "all-reduce", 1.0, 1.75),
        ("moe_dispatch", "dispatch", 0.5, 0.875),
        ("broadcast", "broadcast", 1.0, 1.0),
        ("put_signal", "p2p", 1.0, 1.0),
    ],
)
def test_bus_factor(name, kind, at_2, at_8):
    assert derived.collective_of(name) == kind
    assert (derived.bus_factor(kind, 2), derived.bus_factor(kind, 8)) == (at_2, at_8)


def test_peak_bandwidth():
    assert derived.peak_gbps("all-gather", 8) == 196
    assert derived.peak_gbps("p2p", 8) == 28
    assert derived.peak_gbps("dispatch", 8) == 28
    with pytest.raises(ValueError, match="at least 1"):
        derived.bus_factor("p2p", 0)


@pytest.mark.parametrize(
    ("kind", "dtype", "name", "times", "rtol"),
    [
        ("transport", "fp32", "put_signal", None, 0),
        ("collective", "bf16", "allgather", None, 0),
        ("collective", "int32", "allreduce", None, 0),
        ("collective", "fp16", "allreduce", 100, 2**-8),
        ("collective", "fp16", "allreduce", 2048, 2**-7),
        ("collective", "bf16", "reduce_scatter", 2047, 2**-7),
        ("fused_compute_comm", "float32", "matmul_allreduce", None, 2**-10),
        ("fused_compute_comm", "float32", "allgather_matmul", 16, 2**-11),
        ("compute", "float64", "norm", None, None),
    ],
)
def test_tolerance(kind, dtype, name, times, rtol):
    assert derived.expected_tolerance(kind, dtype, name, times) == rtol


def test_tolerance_classes():
    assert derived.tolerance("COMPUTE_QUANT", "fp16") == 2**-8
    assert derived.tolerance("COMPUTE_QUANT", "fp32") is None
    assert derived.tolerance("COMPUTE_FLOAT_HIGH_PRECISION", "fp32") == 2**-14
    assert derived.needs_reference("fused_compute_comm")
    assert not derived.needs_reference("collective")


def test_aivs_are_those_every_target_has():
    assert derived.aivs_of(["ascend910b1"]) == 50
    assert derived.aivs_of(["Ascend910B1", "ascend910b3"]) == 40
    assert derived.aivs_of(["ascend910b", "something"]) is None
    assert derived.aivs_of([]) is None


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("2 * n_pes", 16), ("32M", 32 * MB), ("n_pes * 64 KB", 512 * KB), ("4 * sizeof(fp16)", 8), ("(1 + 2) * -3", -9),
        ("7 / 2", 3.5), ("7 // 2", 3), ("8 / 2", 4), ("5 % 3", 2), ("1 / 0", None), ("2 ** 99", None), ("x", None), ("", None),
        ("1 2", None), ("(", None), ("sizeof(", None), ("sizeof(T)", None), ("1" * 300, None), ("9" * 190, None), ("-" * 150 + "1", 1),
        ("每 PE 32 MB", None), ("3 × 4", 12),
    ],
)  # fmt: skip
def test_formulas(formula, value):
    assert evaluate(formula, {"n_pes": 8}) == value


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("half", "float16"),
        ("bfloat16_t", "bfloat16"),
        ("float", "float32"),
        ("int", "int32"),
        ("torch.float32", "float32"),
        ("T", None),
    ],
)
def test_dtype_names_fold(name, folded):
    assert fold_dtype(name) == folded


@pytest.mark.parametrize(
    ("name", "baseline", "kind"),
    [("ring_gather", "HcclAllGather", "all-gather"), ("ring_gather", "metric_only", "gather"), ("mover", "HcclAlltoAllV", "all-to-all"), ("allreduce", "HcclWhatever", "all-reduce")],
)  # fmt: skip
def test_the_baseline_says_which_collective_it_is(name, baseline, kind):
    assert derived.collective_of(derived.telling_name(name, baseline)) == kind
