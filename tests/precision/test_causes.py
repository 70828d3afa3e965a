"""Faults put into outputs on purpose, and the guess each of them leads to."""

from __future__ import annotations

import os

import numpy as np
import pytest

from opdev.precision.judge import Ask, Pair, judge_pairs

PES = 4
SIZE = 1000


@pytest.fixture
def golden():
    return np.random.default_rng(1).uniform(0.5, 2, PES * SIZE).astype(np.float32)


@pytest.fixture
def guessed(tmp_path, golden):
    """Causes of one output of an allgather or a reduction, and how sure they are."""

    def guess(output, *, dtype="float32", **ask):
        golden.tofile(tmp_path / "golden.bin")
        output.tofile(tmp_path / "output.bin")
        ask = {"op_kind": "transport", "pes": PES, **ask}
        pair = Pair("out", str(tmp_path / "output.bin"), str(tmp_path / "golden.bin"))
        result = judge_pairs([pair], Ask(dtype=dtype, **ask)).results[0]
        assert result.verdict == "fail"
        return {h.cause: h for h in result.hypotheses}

    return guess


def test_all_zero(guessed, golden):
    found = guessed(np.zeros_like(golden))

    assert [*found] == ["all-zero"]
    assert found["all-zero"].confidence == "strong"
    assert str(golden.size) in found["all-zero"].evidence.zh


def test_never_written(guessed, golden):
    assert "never-written" in guessed(np.full(golden.size, 0xFFFFFFFF, np.uint32).view(np.float32))


def test_blocks_shifted_by_a_rank(guessed, golden):
    for step in (1, -1, 2):
        found = guessed(np.roll(golden, step * SIZE))
        assert found["shifted-by-rank"].confidence == "strong"
        assert "0 ← " in found["shifted-by-rank"].evidence.en
    assert f"0 ← {PES - 1}" in guessed(np.roll(golden, SIZE))["shifted-by-rank"].evidence.en


def test_swapped_blocks(guessed, golden):
    output = golden.reshape(PES, SIZE)[[0, 2, 1, 3]].ravel()

    assert "1 ← 2, 2 ← 1" in guessed(output)["swapped-blocks"].evidence.en


def test_the_same_block_twice(guessed, golden):
    output = golden.reshape(PES, SIZE)[[0, 1, 1, 3]].ravel()

    found = guessed(output)
    assert "2 ← 1" in found["stale-repeat"].evidence.en
    assert found["one-block"].confidence == "strong"


def test_slices_of_the_first_dimension_are_blocks(guessed, golden):
    output = golden.reshape(8, -1)[[0, 1, 2, 4, 4, 5, 6, 7]].ravel()

    assert "3 ← 4" in guessed(output, pes=None, shape=(8, 5, 100))["stale-repeat"].evidence.en


def test_the_tail(guessed, golden):
    output = golden.copy()
    output[-37:] = -1

    assert found_at(guessed(output)["tail"]) == "37"


def found_at(hypothesis):
    return hypothesis.evidence.en.split("last ")[1].split(" ")[0]


def test_the_tail_of_each_block(guessed, golden):
    output = golden.reshape(PES, SIZE).copy()
    output[:, -3:] = -1

    found = guessed(output.ravel())
    assert "tail-of-blocks" in found
    assert "tail" not in found


def test_shifted_by_elements(guessed, golden):
    output = golden.copy()
    output[1500:] = golden[1492:-8]

    assert "8 elements off" in guessed(output)["shifted-elements"].text.en


def test_accumulated_again(guessed, golden):
    assert "3 times" in guessed(golden * 3, op_type="COMPUTE_FLOAT")["accumulated-again"].evidence.en


def test_read_as_another_dtype(tmp_path):
    golden = np.random.default_rng(2).uniform(0.5, 2, 512).astype(np.float32)
    (golden.view(np.uint32) >> 16).astype(np.uint16).tofile(tmp_path / "output.bin")
    (golden.view(np.uint32) & 0xFFFF0000).view(np.float32).tofile(tmp_path / "golden.bin")
    pair = Pair("out", str(tmp_path / "output.bin"), str(tmp_path / "golden.bin"))
    result = judge_pairs([pair], Ask(dtype="float16", golden_dtype="float32", op_kind="compute")).results[0]

    assert result.hypotheses[0].cause == "wrong-dtype"
    assert "bfloat16" in result.hypotheses[0].text.en


def test_rounding(guessed, golden):
    assert "rounding" in guessed(golden * np.float32(1 + 2**-9), op_type="COMPUTE_FLOAT", compute_times=8)


def test_a_part_not_written(guessed, golden):
    output = golden.copy()
    output[100:300] = 0

    assert "not-written-part" in guessed(output)


def test_not_finite(guessed, golden):
    output = golden.copy()
    output[7] = np.inf

    assert "1 Inf" in guessed(output)["not-finite"].evidence.en


def test_an_older_output(tmp_path, golden):
    golden.tofile(tmp_path / "golden.bin")
    (golden + 1).tofile(tmp_path / "output.bin")
    os.utime(tmp_path / "output.bin", (1_000_000, 1_000_000))
    pair = Pair("out", str(tmp_path / "output.bin"), str(tmp_path / "golden.bin"))
    result = judge_pairs([pair], Ask(dtype="float32", op_kind="transport")).results[0]

    assert "stale-file" in {h.cause for h in result.hypotheses}


# All PEs together


@pytest.fixture
def together(tmp_path):
    def guess(outputs, goldens):
        pairs = []
        for pe, (output, golden) in enumerate(zip(outputs, goldens, strict=True)):
            output.tofile(tmp_path / f"output_pe{pe}.bin")
            golden.tofile(tmp_path / f"golden_pe{pe}.bin")
            pairs.append(
                Pair(f"PE {pe}", str(tmp_path / f"output_pe{pe}.bin"), str(tmp_path / f"golden_pe{pe}.bin"), pe)
            )
        return {h.cause: h for h in judge_pairs(pairs, Ask(dtype="float32", op_kind="transport", pes=PES)).hypotheses}

    return guess


def test_across_pes(together):
    goldens = [*np.random.default_rng(4).standard_normal((PES, SIZE)).astype(np.float32)]

    assert together(goldens, goldens) == {}
    assert "0 ← 1" in together(goldens[1:] + goldens[:1], goldens)["shifted-by-rank"].evidence.en
    assert "1 ← 2, 2 ← 1" in together([goldens[i] for i in (0, 2, 1, 3)], goldens)["swapped-blocks"].evidence.en
    one = [*goldens]
    one[2] = one[2] + 1
    found = together(one, goldens)
    assert "PE 2" in found["one-pe"].text.en
    assert "0, 1, 3" in found["one-pe"].evidence.en
    assert "stale-repeat" in together([goldens[0]] * PES, goldens)


def test_small_random_errors_have_no_place(guessed, golden):
    """No pattern, no guess about one."""
    wrong = np.random.default_rng(9).random(golden.size) < 0.3
    found = guessed(np.where(wrong, golden + np.float32(1e-3), golden))

    assert not {"tail", "one-block", "shifted-elements", "swapped-blocks", "all-zero", "accumulated-again"} & set(found)
