"""The server with rules that print, crash and hang, and a hover that takes its time."""

import os
import subprocess
import sys
import time
import types

from opdev.rules import store
from opdev.rules.model import Edit, Fix, Hit, Related, Rule


def prints(context):
    print("a rule prints")
    os.write(1, b"Content-Length: 3\r\n\r\nbad")
    subprocess.run([sys.executable, "-c", "print('a child prints')"], check=False)
    yield Hit(0, 1)


def crashes(context):
    if b"CRASH" in context.data:
        raise ZeroDivisionError("on purpose")
    yield from ()


def hangs(context):
    while b"HANG" in context.data:
        time.sleep(0.01)
    yield from ()


def fires(context):
    for start in range(1500):
        yield Hit(start, start + 1)


def reads_mates(context):
    """Fires where a mate of the operator holds the word MATE."""
    for file in context.project.files("shell"):
        if file.path != context.file.path and b"MATE" in file.data:
            yield Hit(0, 1, args={"name": file.path.rsplit("/", 1)[-1]})


def mends_mate(context):
    """Fires on a script whose mate holds MATE, with a fix in that mate."""
    for file in context.project.files("shell"):
        at = file.data.find(b"MATE")
        if file.path != context.file.path and at >= 0:
            related = Related(at, at + 4, {"zh": "在此", "en": "here"}, file.path)
            fix = Fix((Edit(at, at + 4, "one\ntwo", file.path),))
            yield Hit(0, 1, args={"name": "x"}, fix=fix, related=(related,))


def rule(name, check, scope="file"):
    return Rule(
        id="ZZ" + str(900 + len(RULES)), name=name, severity="warning", kinds=frozenset({"shell"}),
        languages=frozenset({"bash"}), messages={"default": {"zh": f"{name}：{{name}}", "en": f"{name}: {{name}}"}},
        summary={"zh": name, "en": name}, scope=scope, check=f"faulty.{check}",
        fix="safe" if check == "mends_mate" else None, fixes={"default": {"zh": "改好另一个", "en": "Mend the other"}},
        page="test/no-such-page.md",
    )  # fmt: skip


RULES = []
for one in (
    ("prints-much", "prints"),
    ("crashes-often", "crashes"),
    ("never-ends", "hangs"),
    ("fires-much", "fires"),
    ("has-mate", "reads_mates", "project"),
    ("mends-mate", "mends_mate", "project"),
):
    RULES.append(rule(*one))

module = types.ModuleType("opdev.checks.faulty")
for function in (prints, crashes, hangs, fires, reads_mates, mends_mate):
    setattr(module, function.__name__, function)
sys.modules[module.__name__] = module
shipped = store.load
wanted = set(os.environ.get("FAULTY", "").split(","))


def load():
    return (*(r for r in shipped() if "shell" in r.kinds), *(r for r in RULES if r.name in wanted))


load.cache_clear = shipped.cache_clear
store.load = load

if "slow-hover" in wanted:
    from opdev.lsp import hover

    def slow(session, params):
        session.notify("test/hover", {})
        time.sleep(2)

    hover.hover = slow

if __name__ == "__main__":
    from opdev.lsp.cli import main

    sys.exit(main())
