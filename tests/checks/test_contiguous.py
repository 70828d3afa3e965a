"""Which values reach an operator: what the rule page's examples are too small to show."""

from __future__ import annotations

import pytest

from opdev.checks.tensor_views import Views
from opdev.kinds import Kind, Place
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.tree import walk


def _found(text: str) -> list[str]:
    """The arguments reported in a Python text, as written."""
    rules = [r for r in store.load() if r.name == "missing-contiguous"]
    file = File(Source("t.py", text.encode()), Kind("python", frozenset({"python"})), Place())
    findings = Linter(known=rules).lint(file, Selection(tuple(rules)), None).findings
    return [text.encode()[f.start : f.end].decode() for f in findings]


# The shape of the public reports: parts of a split, one of them by way of a branch, one in a dictionary.
REPORTED = """
import torch, torch_npu
def chunks(q, proj, rope, pad, sizes, layout):
    common = {"num_heads": 8, "input_layout": "TND"}
    for i in range(3):
        both = proj(i).view(-1, 8, 256)
        k, v = both.split(sizes, dim=-1)
        rope = rope.expand((*k.shape[:-1], -1))
        if pad:
            key = torch.cat((k, rope), dim=-1)
        else:
            common["key_rope"] = rope
            key = k
        out = torch_npu.npu_fused_infer_attention_score(q, key, v, **common)
"""


def test_the_reported_defect_is_found_argument_by_argument() -> None:
    assert _found(REPORTED) == ["rope", "key", "v"]


def test_the_repair_is_accepted() -> None:
    fixed = REPORTED.replace("q, key, v,", "q, key.contiguous(), v.contiguous(),").replace(
        '"] = rope', '"] = rope.contiguous()'
    )
    assert _found(fixed) == []


@pytest.mark.parametrize(
    "body",
    [
        # Each branch is left, or mended, before the call.
        "if c:\n        x = x.t()\n        return x\n    f(x)",
        "if c:\n        x = x.t()\n    x = x.contiguous()\n    f(x)",
        "if c:\n        x = x.t()\n    if c:\n        x = x.contiguous()\n    f(x)",
        "if c:\n        x = x.t()\n    else:\n        f(x)",
        "if c:\n        x = x.t()\n    if not c:\n        f(x)",
        # Unknown values are not guessed.
        "x = make(x)\n    f(x)",
        "for x in xs:\n        f(x)",
        "with open_it(x.t()) as x:\n        f(x)",
        "x = y = x.t()\n    f(x)",
        "f(*x.t())",
        "f(x[i])",
        "f(x[0:1, :4])",
    ],
)
def test_silent_without_certainty(body: str) -> None:
    assert _found(f"import torch_npu\nf = torch_npu.npu_interleave_rope\ndef g(x, xs, c, i):\n    {body}\n".replace("f(", "torch_npu.npu_interleave_rope(")) == []  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "how"),
    [
        ("x.T", ".T"),
        ("(x.mT)", ".mT"),
        ("torch.transpose(x, 0, 1)", "transpose()"),
        ("x.permute((1, 0))", "permute()"),
        ("x[..., :4]", "[..., :4]"),
        ("x[::2]", "[::2]"),
        ("x[:, None, 3]", "[:, None, 3]"),
        ("x.unbind(1)[0]", "unbind(dim=1)"),
        ("x.select(1, 0)", "select(dim=1)"),
        ("x.t() if c else x.T", "t()"),
        ("x.expand(2, 3).squeeze(0)", "expand()"),
    ],
)
def test_how_a_view_is_made(expression: str, how: str) -> None:
    made = _made(expression)
    assert made == how


@pytest.mark.parametrize(
    "expression",
    ["x", "x[0]", "x[1:]", "x[:, :]", "x[:, j]", "x[[0, 1]]", "x.permute(0, 1)", "x.transpose(1, 1)", "x.t().to(d)",
     "x.chunk(2)[0]", "x.narrow(0, 0, 2)", "x.t() if c else x", "x[0, 2:4]", "x.transpose(0, 1)[0]", "T"],
)  # fmt: skip
def test_what_is_no_view_for_certain(expression: str) -> None:
    assert _made(expression) is None


def _made(expression: str) -> str | None:
    file = File(Source("t.py", f"y = {expression}\n".encode()), Kind("python", frozenset({"python"})), Place())
    value = next(n for n in walk(file.root) if n.type == "assignment").child_by_field_name("right")
    assert value is not None
    made = Views(file).of(value)
    return made.how if made is not None else None
