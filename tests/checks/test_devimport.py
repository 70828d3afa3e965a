"""The delivery's imports: a fixed test loads where only the delivered files are, and still works."""

from __future__ import annotations

import sys
import types

import pytest

from opdev.kinds import classify
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.model import Finding
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "/p/custom/demo/test_demo.py"
RULE = next(rule for rule in store.load() if rule.name == "top-level-dev-import")
LINTER = Linter(known=[RULE])
PLACES = Places(lambda _: False)


def file_of(source: Source) -> File:
    return File(source, classify(source.path, source.data), PLACES.of(source.path))


def lint(source: Source) -> list[Finding]:
    return LINTER.lint(file_of(source), Selection((RULE,))).findings


def fixed(text: str) -> str:
    outcome = fix_to_the_end(Source(PATH, text.encode()), lint, file_of, ("safe",))
    assert not outcome.broke
    assert not outcome.fighting
    return outcome.data.decode()


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The dev-only files as importable modules; `load` runs a text without them first."""
    module = types.ModuleType("precision_compare")
    module.check_precision = lambda a, b: a == b  # type: ignore[attr-defined]
    reference = types.ModuleType("demo_golden_cpu")
    reference.demo_golden_cpu = lambda x: x + 1  # type: ignore[attr-defined]
    for name in ("pypto_pro", "pypto_pro.language"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))

    def load(text: str) -> dict[str, object]:
        space: dict[str, object] = {"__name__": "delivered"}
        exec(compile(text, PATH, "exec"), space)
        monkeypatch.setitem(sys.modules, "precision_compare", module)
        monkeypatch.setitem(sys.modules, "demo_golden_cpu", reference)
        return space

    module.load = load  # type: ignore[attr-defined]
    return module


HEAD = (
    "import pypto_pro.language as pl\nfrom precision_compare import check_precision\nimport demo_golden_cpu as ref\n\n"
)
BODIES = {
    "plain": "def run(x):\n    return check_precision(ref.demo_golden_cpu(x), x + 1)\n",
    "docstring": 'def run(x):\n    """说明"""\n\n    return check_precision(ref.demo_golden_cpu(x), x + 1)\n',
    "raw docstring over lines": (
        'def run(\n    x,\n) -> bool:\n    r"""a\n    b\n    """  # c\n    return check_precision(ref.demo_golden_cpu(x), x + 1)\n'
    ),
    "one line": "def run(x): return check_precision(ref.demo_golden_cpu(x), x + 1)\n",
    "one line in a class": "class T:\n    def go(self, x): y = 1; return check_precision(ref.demo_golden_cpu(x), x + y)\n\nrun = T().go\n",
    "tabs": "def run(x):\n\treturn check_precision(ref.demo_golden_cpu(x), x + 1)\n",
    "comment first": "def run(x):  # a\n    # b\n    return check_precision(ref.demo_golden_cpu(x), x + 1)\n",
    "closure run on loading": (
        "def deco(f):\n    def inner(x):\n        return check_precision(ref.demo_golden_cpu(x), f(x))\n    return inner\n\n"
        "@deco\ndef run(x):\n    return x + 1\n"
    ),
    "both levels": (
        "def run(x):\n    y = ref.demo_golden_cpu(x)\n    def inner():\n        return check_precision(ref.demo_golden_cpu(x), y)\n"
        "    return inner()\n"
    ),
    "lambda and comprehension": (
        "def run(x):\n    f = lambda a: check_precision(a, x + 1)\n    return all([f(ref.demo_golden_cpu(x)) for _ in 'ab'])\n"
    ),
    "attribute and keyword of the same name": (
        "class K:\n    check_precision = 3\n\ndef g(check=1, **kw): return kw['ref'] and K.check_precision\n\n"
        "def run(x):\n    return g(ref=2) == 3 and check_precision(ref.demo_golden_cpu(x), x + 1)\n"
    ),
    "no newline at the end": "def run(x):\n    return check_precision(ref.demo_golden_cpu(x), x + 1)",
}


@pytest.mark.parametrize("name", [n for n in BODIES if "same name" not in n])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixed_delivery_loads_alone_and_still_compares(tools: types.ModuleType, name: str, newline: str) -> None:
    text = (HEAD + BODIES[name]).replace("\n", newline)
    result = fixed(text)
    assert "from precision_compare" not in result.split("def ")[0]
    assert result.count("\r\n") == (result.count("\n") if newline == "\r\n" else 0)
    space = tools.load(result)
    assert space["run"](4) is True  # type: ignore[operator]
    assert not lint(Source(PATH, result.encode()))


@pytest.mark.parametrize(
    "rest",
    [
        BODIES["attribute and keyword of the same name"],
        "def run(x, check_precision=None):\n    return check_precision\n",
        "def run(x):\n    for check_precision in x: pass\n",
        "def run(x):\n    with x as check_precision: pass\n",
        "def run(x):\n    (a, check_precision) = x\n",
        "def run(x):\n    global check_precision\n    check_precision = x\n",
        "def run(x=check_precision):\n    return x\n",
        "@check_precision\ndef run(x):\n    return x\n",
        "class T:\n    tool = check_precision\n",
        "run = lambda x: check_precision(x)\n",
        "def check_precision(x):\n    return x\n",
        "from other import check_precision\n",
        "__all__ = ['check_precision']\ndef run(x):\n    return check_precision(x)\n",
        "@pl.vector_function\ndef run(x):\n    return check_precision(x)\n",
        "@pl.jit(auto_mutex=True)\ndef run(x):\n    def inner():\n        return check_precision(x)\n",
        'def run(x): "doc"; return check_precision(x)\n',
    ],
)
def test_no_fix_where_moving_would_change_something(rest: str) -> None:
    text = f"import pypto_pro.language as pl\nfrom precision_compare import check_precision\n\n{rest}"
    findings = lint(Source(PATH, text.encode()))
    assert [f.severity for f in findings] == ["error"]
    assert findings[0].fix is None
    assert fixed(text) == text


def test_an_unused_import_is_removed_on_request_only() -> None:
    text = "import pypto_pro.language as pl\nimport precision_compare\n"
    (finding,) = lint(Source(PATH, text.encode()))
    assert finding.applicability == "suggestion"
    assert fixed(text) == text


@pytest.mark.parametrize(
    ("guard", "severity"),
    [
        ("try:\n    import precision_compare\nexcept ImportError:\n    pass\n", "info"),
        ("try:\n    import precision_compare\nexcept ModuleNotFoundError as e:\n    print(e)\n", "info"),
        ("try:\n    import precision_compare\nexcept:\n    pass\n", "info"),
        ("try:\n    pass\nfinally:\n    import precision_compare\n", "error"),
        ("try:\n    import precision_compare\nfinally:\n    pass\n", "error"),
        ("try:\n    import precision_compare\nexcept ValueError:\n    pass\n", "error"),
        ("try:\n    pass\nexcept ImportError:\n    import precision_compare\n", "error"),
        ("try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    import precision_compare\n", "error"),
        ("try:\n    import precision_compare\nexcept ImportError:\n    sys.exit(1)\n", "error"),
        ("if __name__ != '__main__':\n    import precision_compare\n", "error"),
        ("if __name__ == '__main__':\n    pass\nelse:\n    import precision_compare\n", "error"),
        ("if __name__ == '__main__' or DEV:\n    import precision_compare\n", "error"),
        ("if not TYPE_CHECKING:\n    import precision_compare\n", "error"),
        ("if DEV:\n    pass\nelif __name__ == '__main__':\n    import precision_compare\n", None),
        ('if (__name__ == "__main__"):\n    import precision_compare\n', None),
        ("def f():\n    class A:\n        import precision_compare\n", None),
    ],
)  # fmt: skip
def test_what_runs_on_loading(guard: str, severity: str | None) -> None:
    findings = lint(Source(PATH, f"import pypto_pro.language as pl\nimport sys\n{guard}".encode()))
    assert [f.severity for f in findings] == ([severity] if severity else [])
