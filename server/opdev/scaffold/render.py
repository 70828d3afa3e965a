"""Templates and options become files in memory.

Delimiters are ``@{ value }@``, ``@% statement %@`` and ``@# comment #@``: ``{{``, ``{%`` and ``[[`` all occur in
C++ or bash, a brace, percent sign or hash behind ``@`` in none of C++, bash, CMake, Python and Markdown here.
An undefined name is an error.  Output ends lines with ``\\n``, is UTF-8, and says nothing of time or machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opdev.scaffold import cases as case_matrix
from opdev.scaffold.kinds import kind_of, merged, templates_folder
from opdev.scaffold.options import Options
from opdev.scaffold.texts import ScaffoldError

if TYPE_CHECKING:
    from jinja2 import Environment

_WIDTH = 116
_BINDING = (
    ("CMakeLists.txt", "CMakeLists.txt"),
    ("include/torch_register.h", "torch_register.h"),
    ("include/shmem_torch_kernel.h", "shmem_torch_kernel.h"),
    ("src/torch_bindings.cpp", "torch_bindings.cpp"),
)
_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=][^:#\[\]{}\"]*\Z")
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "~")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A file: its path below the operator (``../`` where it stands beside), its text, whether it is run.

    A ``shared`` file is used by several operators: it is written where it is missing and never updated.
    """

    path: str
    text: str
    runs: bool = False
    shared: bool = False


def render(options: Options, matrix: Mapping[str, list[dict[str, Any]]] | None = None) -> list[Rendered]:
    """All files of an operator, the shared ones last; ``matrix`` are cases and invariants other than the kind's."""
    from jinja2 import TemplateError

    environment = _environment()
    name = "kind.yaml"
    try:
        values = {**_context(options, environment), **(matrix or {})}
        made = []
        for path, name, runs in _plan(options, values):
            text = _tidy(environment.get_template(name).render(values))
            made.append(Rendered(path, text, runs, shared=name.startswith("shared/") and path.startswith("../")))
    except TemplateError as error:
        raise ScaffoldError("bad-template", name=name, why=f"{type(error).__name__}: {error}") from error
    made.insert(_place(made), Rendered("scripts/cases.json", _cases_json(values)))
    return made


def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ScaffoldError("no-jinja") from error
    environment = Environment(
        block_start_string="@%",
        block_end_string="%@",
        variable_start_string="@{",
        variable_end_string="}@",
        comment_start_string="@#",
        comment_end_string="#@",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - C++, shell and Markdown, nothing a browser reads
        loader=FileSystemLoader(str(templates_folder()), encoding="utf-8"),
    )
    environment.filters.update(_FILTERS)
    return environment


def _plan(options: Options, values: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Path, template and whether it is run, of every file but cases.json."""
    op, kind = options.op, f"kinds/{options.kind}"
    header = f"{kind}/kernel.h" if options.kind == "reduce-scatter" else "parts/kernel_h.h"
    plan = [
        ("docs/design.md", "docs/design.md", False),
        (f"src/{op}_kernel.cpp", f"{kind}/kernel.cpp", False),
        (f"src/{op}_kernel.h", header, False),
        ("src/main.cpp", "src/main.cpp", False),
        ("src/op_runtime.h", "src/op_runtime.h", False),
        ("CMakeLists.txt", "CMakeLists.in_tree.txt" if options.in_tree else "CMakeLists.txt", False),
        ("README.md", "README.md", False),
        (".gitignore", "gitignore", False),
        ("scripts/gen_data.py", "scripts/gen_data.py", False),
        ("scripts/check_result.py", "scripts/check_result.py", False),
        ("scripts/run.sh", "scripts/run.sh", True),
        ("scripts/run_case_matrix.py", "scripts/run_case_matrix.py", False),
    ]
    if options.perf:
        plan.append(("scripts/perf.sh", "scripts/perf.sh", True))
    if values["baseline"]:
        plan += [
            ("baseline/CMakeLists.txt", "baseline/CMakeLists.txt", False),
            (f"baseline/src/{op}_baseline.cpp", "baseline/src/baseline.cpp", False),
            ("baseline/scripts/run_baseline.sh", "baseline/scripts/run_baseline.sh", True),
        ]
    if options.torch:
        plan += [
            (f"scripts/torch_test_{op}.py", "torch/torch_test.py", False),
            (f"../torch_binding/src/torch_bind_{op}.cpp", "torch/torch_bind.cpp", False),
        ]
        if not options.in_tree:
            plan += [(f"../torch_binding/{path}", f"shared/torch/{name}", False) for path, name in _BINDING]
    if options.in_tree:
        plan.append(("scripts/shmem_runtime_env.sh", "shared/shmem_runtime_env.sh", False))
    else:
        plan += [
            ("../scripts/build.sh", "shared/build.sh", True),
            ("../scripts/shmem_runtime_env.sh", "shared/shmem_runtime_env.sh", False),
        ]
    return plan


def _place(made: Sequence[Rendered]) -> int:
    return next((i for i, file in enumerate(made) if file.path == "scripts/run.sh"), len(made))


def _context(options: Options, environment: Environment) -> dict[str, Any]:
    """Every name a template may use."""
    from opdev.design import frame
    from opdev.scaffold.contract import contracts, hints

    dtypes = options.known()
    values: dict[str, Any] = {
        "op": options.op,
        "OP": options.op.upper(),
        "Op": options.op_type,
        "kind": options.kind,
        "dtypes": dtypes,
        "main": dtypes[0],
        "build_mode": options.build_mode,
        "in_tree": options.in_tree,
        "op_root": options.op_root,
        "torch": options.torch,
        "perf": options.perf,
        "open": options.open,
        "auto_optim": options.auto_optim,
        "shmem_repo": options.shmem_repo,
        "skills_root": options.skills_root,
        "docker_container": options.docker_container,
        "docker_workdir": options.docker_workdir,
        "confirmed": options.confirmed,
        "frame": frame,
        "block_dim": kind_of(options.kind).block_dim,
    }
    kind = _kind(options.kind, environment, values)
    values["k"] = kind
    values |= {key: kind[key] for key in ("elements_zh", "golden_zh", "header_note", "one_golden")}
    if options.open:
        values["golden_zh"] = "按 docs/design.md 的 correctness.oracle"
    values |= _host(options, kind)
    values["baseline"] = options.perf and kind["baseline"] != "metric_only"
    values["cases"] = case_matrix.cases(options.kind, dtypes)
    values["invariants"] = [{**item, "case": f"{item['case']}_{dtypes[0].short}"} for item in kind["invariants"]]
    values |= hints(options)
    values["contract"], values["test_contract"] = contracts(options, values)
    return values


def _kind(kind: str, environment: Environment, values: Mapping[str, Any]) -> dict[str, Any]:
    """kind.yaml over the common one, rendered."""
    import yaml

    loaded = []
    for name in ("kinds/_common.yaml", f"kinds/{kind}/kind.yaml"):
        text = environment.get_template(name).render(values)
        try:
            loaded.append(yaml.safe_load(text))
        except yaml.YAMLError as error:
            raise ScaffoldError("bad-template", name=name, why=error) from error
    return merged(loaded[0], loaded[1])


def _host(options: Options, kind: Mapping[str, Any]) -> dict[str, Any]:
    """What the kernel's launch and the host program take: pointers, scalars, sizes."""
    host = kind["host"]
    plan, flags, reduces = host["plan"], host["flags"], options.kind == "reduce-scatter"
    pointers = ["input", "output", *(["plan"] if plan else []), *(["flags"] if flags else [])]
    scalars = [*([] if plan else ["int64_t elements"]), *(["int32_t root"] if options.kind == "broadcast" else [])]
    symmetric = ["output", *(["input"] if host["symmetric_input"] else []), *(["flags"] if flags else [])]
    local = [*([] if host["symmetric_input"] else ["input"]), *(["plan"] if plan else [])]
    if not reduces:
        scalars.append("int32_t magic")
    last = [f"{options.op_type}Type type"] if reduces else ["int32_t elem_bytes"]
    parameters = ["uint32_t block_dim", "void *stream", "uint64_t ffts", *(f"uint8_t *{p}" for p in pointers)]
    parameters += [*scalars[:-1], *last, *scalars[-1:]] if not reduces else [*scalars, *last]
    arguments = ["ffts", *pointers, *(word.rpartition(" ")[2] for word in scalars)]
    given = {"elements": "opt.elements", "root": "opt.root", "magic": "*magic"}
    host_arguments = ["BLOCK_DIM", "stream", "ffts", *(f"buf.{p}" for p in pointers)]
    names = [p.rpartition(" ")[2] for p in parameters[3 + len(pointers) :]]
    host_arguments += [given.get(name, name) for name in names]
    tensors = {"input": "source", "plan": "order"}
    torch = {"elements": kind["torch"]["elements"], "root": "static_cast<int32_t>(root)", "magic": "count_"}
    torch |= {"elem_bytes": "static_cast<int32_t>(source.element_size())", "type": "type_of(source.scalar_type())"}
    torch_arguments = ["BLOCK_DIM", "c10_npu::getCurrentNPUStream().stream(true)", "fftsAddr_"]
    for pointer in pointers:
        data = "flags_" if pointer == "flags" else f"{tensors.get(pointer, pointer)}.data_ptr()"
        torch_arguments.append(f"static_cast<uint8_t *>({data})")
    torch_arguments += [torch[name] for name in names]
    widths: dict[int, list[str]] = {}
    for dtype in options.known():
        widths.setdefault(dtype.bytes, []).append(dtype.name)
    sizes = {"output": "output_bytes(opt)", "input": "input_bytes(opt)", "flags": "flag_bytes"}
    tolerances: dict[str, list[str]] = {}
    for dtype in options.known():
        tolerances.setdefault(dtype.rtol if reduces or options.open else "0", []).append(dtype.name)
    return {
        "pointers": pointers,
        "scalars": scalars,
        "launch_parameters": parameters,
        "kernel_arguments": arguments,
        "host_arguments": host_arguments,
        "torch_arguments": torch_arguments,
        "torch_sizes": kind["torch"]["sizes"],
        "torch_note": kind["torch"]["note"],
        "torch_dtypes": [dtype.name for dtype in options.known() if dtype.torch],
        "symmetric": symmetric,
        "symmetric_bytes": " + ".join(sizes[name] for name in symmetric),
        "symmetric_input": host["symmetric_input"],
        "local": local,
        "has_plan": plan,
        "has_flags": flags,
        "reduces": reduces,
        "widths": sorted(widths),
        "widths_by_size": dict(sorted(widths.items())),
        "tolerances": [{"rtol": rtol, "names": names} for rtol, names in tolerances.items()],
        **{
            key: host[key]
            for key in ("input_times", "output_times", "peak_cpp", "peak_note", "payload_cpp", "factor_cpp")
        },
    }


def _cases_json(values: Mapping[str, Any]) -> str:
    """A case a line: a matrix is read by columns."""
    lines = [json.dumps(case, ensure_ascii=False) for case in values["cases"]]
    invariants = [json.dumps(item, ensure_ascii=False) for item in values["invariants"]]
    listed = ["{", ' "cases": [', ",\n".join(f"  {line}" for line in lines), " ],", ' "invariants": [']
    return "\n".join([*listed, ",\n".join(f"  {line}" for line in invariants), " ]", "}", ""])


def _tidy(text: str) -> str:
    """No blanks at line ends, no more than one empty line at a time (two in Python keep their place), one newline last."""
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def _parameters(head: str, items: Sequence[str], tail: str) -> str:
    """``head`` and ``tail`` around a list, broken below the opening bracket where it is too long."""
    lines, line, indent = [], head, " " * len(head)
    for index, item in enumerate(items):
        piece = item + (tail if index + 1 == len(items) else ",")
        blank = "" if line in (head, indent) else " "
        if len(line) + len(blank) + len(piece) > _WIDTH and line not in (head, indent):
            lines.append(line)
            line, blank = indent, ""
        line += blank + piece
    return "\n".join([*lines, line])


def _flat(items: Iterable[object]) -> str:
    """Strings and lists of strings, joined by commas."""
    flat: list[str] = []
    for item in items:
        flat += [item] if isinstance(item, str) else [str(inner) for inner in item]  # type: ignore[attr-defined]  # a list then
    return ", ".join(flat)


def _quoted(text: object) -> str:
    return json.dumps(str(text), ensure_ascii=False)


def _yaml(text: object, *, flow: bool = False) -> str:
    """A YAML scalar, quoted only where it must be."""
    plain = str(text)
    good = _PLAIN.match(plain) and plain == plain.strip() and plain.lower() not in _WORDS
    return _quoted(plain) if not good or (flow and "," in plain) or plain[:1].isdigit() else plain


def _flow(mapping: Mapping[str, object]) -> str:
    """A flow mapping on one line; shapes and sizes are always quoted."""
    always = ("shape", "size")
    cells = []
    for key, value in mapping.items():
        if isinstance(value, (int, float)):
            cells.append(f"{key}: {json.dumps(value)}")
        else:
            cells.append(f"{key}: {_quoted(value) if key in always else _yaml(value, flow=True)}")
    return "{" + ", ".join(cells) + "}"


_FILTERS: Mapping[str, Callable[..., str]] = {
    "parameters": _parameters,
    "join_flat": _flat,
    "prefix": lambda text, prefix: f"{prefix}{text}",
    "suffix": lambda text, suffix: f"{text}{suffix}",
    "last_word": lambda text: str(text).rpartition(" ")[2],
    "quoted": _quoted,
    "y": _yaml,
    "flow": _flow,
}
