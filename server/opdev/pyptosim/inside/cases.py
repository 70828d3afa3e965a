"""Running the user's test: with pytest where it has test functions, as the script it is where it asks for a run mode."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .taking import comparers

if TYPE_CHECKING:
    from .records import Records
    from .taking import Taking

_RUN_MODE = re.compile(rb"""['"]--run[_-]mode['"]""")
_MAIN = re.compile(rb"""^if\s+__name__\s*==\s*['"]__main__['"]""", re.M)
_TEST = re.compile(rb"^(?:class Test|(?:async )?def test)", re.M)
_COMPARISONS = ("precision_compare",)


def run(spec: dict[str, Any], records: Records, taking: Taking) -> None:
    """Run the test; how each case ended is recorded."""
    path = spec["test"]
    with open(path, "rb") as stream:
        data = stream.read()
    for name in _COMPARISONS:
        if any(os.path.isfile(f"{folder}/{name}.py") for folder in spec["paths"]):
            try:
                comparers(vars(importlib.import_module(name)), taking.watching)
            except Exception as error:  # noqa: BLE001 - the test that imports it fails by it as well
                sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
    if (_RUN_MODE.search(data) and _MAIN.search(data)) or not _TEST.search(data):
        _script(path, data, records, taking, ["--run_mode", "sim"] if _RUN_MODE.search(data) else [])
    else:
        _pytest(spec, records, taking)


def _script(path: str, data: bytes, records: Records, taking: Taking, words: list[str]) -> None:
    sys.argv = [path, *words]
    module = ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    sys.path.insert(0, os.path.dirname(path))
    failed: dict[str, Any] | None = None
    try:
        exec(compile(data, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - it is the user's script that the user asks to run
    except SystemExit as error:
        if error.code not in (None, 0):
            failed = {"error": f"exit {error.code}", "path": path, "line": 1, "case": None}
    except BaseException as error:  # noqa: BLE001 - whatever a test raises is its result
        failed = _told(error, path)
    ended = taking.finish_all()
    stopped = failed["case"] if failed is not None else None
    for name in ended:
        if name != stopped:
            records.add("case", case=name, state="passed")
    if failed is not None:
        records.add("case", **{**failed, "case": stopped or os.path.basename(path)}, state="failed")


def _told(error: BaseException, path: str, folder: str = "") -> dict[str, Any]:
    """What was raised, at the innermost line of the user's."""
    folder = folder or os.path.dirname(path) + "/"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(folder)]
    at = own[-1] if own else None
    if isinstance(error, SyntaxError) and error.filename:
        return {"error": f"SyntaxError: {error.msg}", "path": error.filename, "line": error.lineno or 1, "case": None}
    names = [frame.name for frame in own]
    tests = [name for name in names if name.startswith("test")]
    others = [name for name in names if name not in ("<module>", "main")]
    text = str(error) if type(error).__name__ == "RenderedParserError" else f"{type(error).__name__}: {error}".strip()
    kernel = _in_kernel(error)
    trace = error.__traceback__
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(folder):
        trace = trace.tb_next
    # From the user's first line on: what ran the test is no news.
    sys.stderr.write("".join(traceback.format_exception(type(error), error, trace or error.__traceback__)))
    return {
        "error": text, "path": kernel[0] if kernel else at.filename if at else path,
"line": kernel[1] if kernel else (at.lineno if at else 1) or 1,
"case": next(iter(tests or others), None),
    }  # fmt: skip


def _in_kernel(error: BaseException) -> tuple[str, int] | None:
    """The line of the kernel that pypto's parser refuses: its traceback ends in the parser, not in the kernel."""
    line = getattr(getattr(error, "node", None), "lineno", None)
    trace = error.__traceback__
    while line is not None and trace is not None:
        source = getattr(trace.tb_frame.f_locals.get("self"), "source", None)
        path = getattr(source, "source_name", None)
        if isinstance(path, str):
            return path, int(line)
        trace = trace.tb_next
    return None


def _pytest(spec: dict[str, Any], records: Records, taking: Taking) -> None:
    try:
        import pytest
    except ModuleNotFoundError:
        records.add("environment", problem="no-wheel", name="pytest", python=sys.executable)
        return
    folder = os.path.dirname(spec["test"]) + "/"

    class Watch:
        """What pytest tells of each case."""

        @pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            for module in {id(item.module): item.module for item in items if getattr(item, "module", None)}.values():
                comparers(vars(module), taking.watching)

        @pytest.hookimpl(wrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_runtest_protocol(self, item: Any) -> Any:
            taking.case = _id(item.nodeid)
            try:
                return (yield)
            finally:
                taking.finish(taking.case)
                taking.case = None

        @pytest.hookimpl(wrapper=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
            report = yield
            name = _id(item.nodeid)
            if report.skipped:
                records.add("case", case=name, state="skipped", error=_reason(report))
            elif report.failed:
                records.add("case", **{**_told(call.excinfo.value, spec["test"], folder), "case": name}, state="failed")
            elif report.when == "call":
                records.add("case", case=name, state="passed")
            return report

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                error = getattr(report, "longrepr", "")
                crash = getattr(error, "reprcrash", None)
                text = crash.message if crash is not None else str(error)
                records.add(
                    "case", case=os.path.basename(spec["test"]), state="failed", **_collected(text, spec["test"], folder),
                )  # fmt: skip

    words = [
        "-q",
        "-s",
        "--no-header",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        spec["root"],
        # What a repository around the operator asks of pytest (other plugins, an NPU) is not the operator's.
        "--confcutdir",
        spec["root"],
        spec["test"],
    ]
    for case in spec.get("cases", ()):
        words += ["-k", case]
    pytest.main(words, plugins=[Watch()])
    taking.finish_all()


_PLACE = re.compile(r"^(?P<path>/?[^\s:]+\.py):(?P<line>\d+): ", re.M)


def _collected(text: str, path: str, folder: str) -> dict[str, Any]:
    """Why a test could not be imported: the last of the user's lines it names."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    places = [(m["path"], int(m["line"])) for m in _PLACE.finditer(text)]
    own = [(p if p.startswith("/") else folder + p, line) for p, line in places]
    own = [(p, line) for p, line in own if os.path.isfile(p) and p.startswith(folder)]
    at = own[-1] if own else (path, 1)
    return {"error": lines[-1] if lines else text.strip()[-400:], "path": at[0], "line": at[1]}


def _reason(report: Any) -> str:
    found = report.longrepr
    return str(found[2]) if isinstance(found, tuple) and len(found) == 3 else str(found)


def _id(nodeid: str) -> str:
    """A case's name without the file's; lines of results have no brackets in them."""
    return re.sub(r"\s+", "_", nodeid.partition("::")[2].replace("[", "(").replace("]", ")"))
