"""What a file is, decided by its path and, where the path says nothing, by its content.

A rule names the kinds it applies to.  A file no kind fits is not ours: it is never parsed, which
is what keeps ``opdev-lint`` fast on a large tree that holds a few operators.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Every kind a rule may name, with what it means; `opdev-lint rules --kinds` prints this.
KINDS = {
    "cpp": "any C++ file of a SHMEM or AscendC project",
    "kernel": "C++ with device code (__aicore__, __global__, ACLSHMEM_DEVICE)",
    "host": "C++ that runs on the host: main.cpp, launchers",
    "header": "a C++ header",
    "torch-binding": "C++ that binds an operator to PyTorch",
    "cmake": "CMakeLists.txt and *.cmake",
    "shell": "any shell script of an operator",
    "run-script": "a script that starts the PEs of an operator",
    "perf-script": "a script that measures an operator",
    "baseline-script": "a script that runs the HCCL baseline",
    "build-script": "a script that builds",
    "wrapper-script": "custom-ops/scripts/*.sh, the project-wide entry points",
    "python": "any Python file of an operator",
    "golden": "gen_data.py and other producers of golden data",
    "checker": "check_result.py and other result checkers",
    "case-runner": "run_case_matrix.py",
    "torch-test": "a Python test of a Torch binding",
    "pypto-test": "a PyPTO or PyPTO-Pro operator test (delivered or staged)",
    "pypto-impl": "the kernel and its wrapper of a classic PyPTO operator: <op>_impl.py, modules/<op>_module*_impl.py",
    "pypto-golden": "the reference in torch of a PyPTO operator: <op>_golden.py",
    "pypto": "any Python file that imports pypto",
    "pypto-pro": "any Python file with PyPTO-Pro in it: it imports pypto_pro or holds a @pl.jit kernel",
    "design-doc": "docs/design.md",
    "pypto-spec": "SPEC.md of a PyPTO operator",
    "pypto-design": "DESIGN.md of a PyPTO operator",
    "pypto-api-report": "API_REPORT.md of a PyPTO operator",
    "pypto-memory": "MEMORY.md of a PyPTO operator",
    "pypto-perf-report": "GOLDEN_PERF_REPORT.md of a PyPTO operator",
    "pypto-explore-report": "EXPLORE_REPORT.md of a PyPTO-Pro operator",
    "pypto-material-index": "PRO_MATERIAL_INDEX.md of a PyPTO-Pro operator",
    "readme": "README.md of an operator",
    "report": "docs/*report*.md",
    "doc": "any Markdown of an operator",
    "docs-fence": "code inside a Markdown document",
    "heredoc": "code inside a shell here-document",
    "contract": "JSON or YAML contracts",
    "pypto-state": ".orchestrator_state.json, the stages of a PyPTO operator",
    "pypto-interfaces": "module_interfaces.yaml, the modules of a PyPTO operator",
    "pypto-kb": "KB_SELECTION.json, DESIGN_BINDINGS.json and KB_USAGE.json of a PyPTO-Pro operator",
    "pypto-perf-cases": "PERFORMANCE_CASES.json, what stage 5 of a PyPTO-Pro operator measures",
    "cases": "the case matrix, cases.json",
    "log": "a run or perf log",
    "perf-log": "a log with measurements of an operator: [PERF] or [BASELINE_PERF] lines, or data/perf/*.log",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """The language to parse a file as (None: do not parse) and the kinds it is."""

    language: str | None
    names: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.names)


NOT_OURS = Kind(None, frozenset())

_CPP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".cu", ".asc", ".cce"})
_HEADERS = frozenset({".h", ".hpp", ".hh"})
SUFFIXES = _CPP_SUFFIXES | {".sh", ".bash", ".py", ".md", ".cmake", ".yaml", ".yml", ".json"}

# Tell-tale words, looked for at the speed of a substring search: most files of a large tree hold none.
_OURS_CPP = (b"aclshmem", b"shmem_", b"ACLSHMEM_", b"SHMEM_", b"shmem.h", b"__aicore__", b"[aicore]", b"AscendC::", b"kernel_operator.h",
             b"torch_npu", b"HcclAllReduce")  # fmt: skip
_DEVICE = (b"__aicore__", b"[aicore]", b"__global__", b"SHMEM_DEVICE", b"SHMEM_GLOBAL", b"__ubuf__")
_HOST = re.compile(
    rb"\bint\s+main\s*\(|\b(?:acl)?shmemx?_(?:init|finalize|malloc|calloc|align|free)\w*\s*\(|\baclrt\w+\s*\(|\baclInit\s*\("
)
_TORCH = (b"<torch/", b"TORCH_LIBRARY", b"at::Tensor", b"torch::Tensor", b"PYBIND11_MODULE", b"<ATen/")
_OURS_SHELL = (b"IPPORT", b"SHMEM_", b"shmem", b"ASCEND_", b"msprof", b"npu-smi", b"CANN_SET_ENV", b"set_env.sh", b"torch_test_",
               b"HCCL_", b"pypto")  # fmt: skip
_RUN = (b"IPPORT", b"SHMEM_UID_SESSION_ID", b"build/bin/", b"torchrun", b"torch_test", b"mpirun")
_OURS_PY = (b"torch_npu", b"shmem", b"ShmemOps", b"IPPORT", b"SHMEM_", b"run_case_matrix", b".npu")
_PYPTO_WORDS = (b"pypto", b"pl.jit", b"precision_compare", b"_golden_")
_PYPTO = re.compile(
    rb"^\s*(?:import|from)\s+pypto(?:_pro)?\b|\bpl\.jit\b|precision_compare|_golden_(?:cpu|stage)", re.M
)
# Another framework has the same name (hw-native-sys/pypto); its files are nobody's here.
_OTHER_PYPTO = re.compile(
    rb"^[ \t]*(?:import[ \t]+pypto\.language\b|from[ \t]+pypto(?:\.language\b|[ \t]+import[ \t(]+(?:\w+,[ \t]*)*language\b))",
    re.M,
)
_PRO = re.compile(rb"\bpypto_pro\b|\bpl\.jit\b")
_IMPL = re.compile(r"\w+_impl(?:_[a-z0-9]+)?")
_GOLDEN = re.compile(r"\w+_golden(?:_cpu|_stage\w*)?")
# The documents of a PyPTO operator are named in capitals; SHMEM's design is docs/design.md.
_PYPTO_DOCS = {
    "SPEC.md": "pypto-spec", "DESIGN.md": "pypto-design", "API_REPORT.md": "pypto-api-report",
    "MEMORY.md": "pypto-memory", "GOLDEN_PERF_REPORT.md": "pypto-perf-report",
    "EXPLORE_REPORT.md": "pypto-explore-report", "PRO_MATERIAL_INDEX.md": "pypto-material-index",
}  # fmt: skip
_PYPTO_KB = frozenset({"KB_SELECTION.json", "DESIGN_BINDINGS.json", "KB_USAGE.json"})
_TORCH_TEST = (b"torch.classes.", b"torch.ops.", b"torch_npu", b"ShmemOps")
LOG_HEAD = 2_000_000
"""Bytes of a log that are looked at: rules and facts read no further, however long it is."""
_OURS_DOC = (b"shmem", b"SHMEM", b"Ascend", b"ascend", b"ASCEND", b"pypto", b"PyPTO", b"NPU")


def _any(words: tuple[bytes, ...], data: bytes) -> bool:
    return any(word in data for word in words)


class _Path:
    """The parts of a path with forward slashes (pathlib would cost more than all else here)."""

    __slots__ = ("name", "parts", "stem", "suffix")

    def __init__(self, path: str) -> None:
        self.parts = path.split("/")
        self.name = self.parts[-1]
        stem, dot, ending = self.name.rpartition(".")
        self.stem = stem if dot and stem else self.name
        self.suffix = f".{ending.lower()}" if dot and stem else ""


def has_known_suffix(name: str) -> bool:
    """Whether a file of this name could be of any kind (decided without reading it)."""
    if name == "CMakeLists.txt":
        return True
    dot = name.rfind(".")
    return (dot >= 0 and name[dot:].lower() in SUFFIXES) or (dot >= 0 and name[dot:] == ".log")


def classify(path: str, data: bytes, *, in_operator: bool = False) -> Kind:
    """The kind of a file.

    ``path`` has forward slashes; ``in_operator`` says that it lies in an operator's folder, where
    even a file without a tell-tale word in it is the operator's.
    """
    pure = _Path(path)
    name, suffix = pure.name, pure.suffix
    in_operator = in_operator or "custom-ops" in pure.parts
    if name == "CMakeLists.txt" or suffix == ".cmake":
        return _cmake(data, in_operator=in_operator)
    if suffix in _CPP_SUFFIXES:
        return _cpp(name, suffix, data, in_operator=in_operator)
    if suffix in (".sh", ".bash"):
        return _shell(pure, data, in_operator=in_operator)
    if suffix == ".py":
        return _python(pure, data, in_operator=in_operator)
    if suffix == ".md":
        return _markdown(pure, data, in_operator=in_operator)
    if suffix in (".yaml", ".yml", ".json"):
        return _contract(pure, in_operator=in_operator)
    if suffix == ".log" and in_operator:
        return _log(pure, data)
    return NOT_OURS


def _cmake(data: bytes, *, in_operator: bool) -> Kind:
    lowered = data.lower()
    if in_operator or b"shmem" in lowered or b"ascend" in lowered or b"cce" in lowered:
        return Kind("cmake", frozenset({"cmake"}))
    return NOT_OURS


def _cpp(name: str, suffix: str, data: bytes, *, in_operator: bool) -> Kind:
    if not in_operator and not _any(_OURS_CPP, data):
        return NOT_OURS
    kinds = {"cpp"}
    if suffix in _HEADERS:
        kinds.add("header")
    if _any(_TORCH, data):
        kinds.add("torch-binding")
    stem = name.rsplit(".", 1)[0]
    device = _any(_DEVICE, data) or stem.endswith(("_kernel", "_kernels"))
    if device:
        kinds.add("kernel")
    if name.startswith("main.") or _HOST.search(data):
        kinds.add("host")
    return Kind("cpp", frozenset(kinds))


def _shell(pure: _Path, data: bytes, *, in_operator: bool) -> Kind:
    if not in_operator and not _any(_OURS_SHELL, data):
        return NOT_OURS
    kinds = {"shell"}
    stem = pure.stem.lower()
    parts = pure.parts
    if len(parts) >= 3 and parts[-2] in ("scripts", "lib") and "custom-ops" in parts[-4:-1]:
        after = parts[len(parts) - 1 - parts[::-1].index("custom-ops") + 1 :]
        if after[0] == "scripts":
            kinds.add("wrapper-script")
    if "baseline" in stem or "hccl" in stem:
        kinds.add("baseline-script")
    elif "perf" in stem:
        kinds.add("perf-script")
    elif stem.startswith(("build", "compile", "install")):
        kinds.add("build-script")
    elif stem.startswith("run") or "test" in stem or _any(_RUN, data):
        kinds.add("run-script")
    return Kind("bash", frozenset(kinds))


def _python(pure: _Path, data: bytes, *, in_operator: bool) -> Kind:
    name = pure.name
    pypto = _any(_PYPTO_WORDS, data) and _PYPTO.search(data) is not None
    pro = pypto and _PRO.search(data) is not None
    if pypto and b"pypto_pro" not in data and b"language" in data and _OTHER_PYPTO.search(data):
        return NOT_OURS
    if not in_operator and not pypto and not _any(_OURS_PY, data):
        return NOT_OURS
    kinds = {"python"}
    stem = pure.stem
    if pypto:
        kinds.add("pypto")
    if pro:
        kinds.add("pypto-pro")
    if pypto or (in_operator and "custom-ops" not in pure.parts):
        if stem.startswith("test_"):
            kinds.add("pypto-test")
        elif _GOLDEN.fullmatch(stem):
            kinds.add("pypto-golden")
        elif not pro and _IMPL.fullmatch(stem):
            kinds.add("pypto-impl")
    if "pypto-golden" not in kinds and (
        stem.startswith(("gen_data", "gen_golden", "golden", "data_gen")) or stem.endswith(("_golden", "_gen"))
    ):
        kinds.add("golden")
    if stem.startswith(("check", "verify", "compare")) or stem.endswith(("_compare", "_checker", "_verify")):
        kinds.add("checker")
    if stem == "run_case_matrix":
        kinds.add("case-runner")
    if name.startswith("torch_test") or (
        not pypto and ("test" in stem or "torch_test" in pure.parts) and _any(_TORCH_TEST, data)
    ):
        kinds.add("torch-test")
    return Kind("python", frozenset(kinds))


def _markdown(pure: _Path, data: bytes, *, in_operator: bool) -> Kind:
    if not in_operator and not _any(_OURS_DOC, data):
        return NOT_OURS
    name = pure.name.lower()
    kinds = {"doc"}
    pypto = _PYPTO_DOCS.get(pure.name)
    if pypto and (("custom-ops" not in pure.parts and in_operator) or b"pypto" in data) and b"dsl_version" not in data:
        kinds.add(pypto)
    elif name == "design.md":
        kinds.add("design-doc")
    elif name.startswith("readme"):
        kinds.add("readme")
    elif "report" in name:
        kinds.add("report")
    return Kind("markdown", frozenset(kinds))


def _contract(pure: _Path, *, in_operator: bool) -> Kind:
    if not in_operator or pure.name == "compile_commands.json":
        # What a build or `opdev clangd` writes for clangd.
        return NOT_OURS
    kinds = {"contract"}
    if pure.name == "cases.json":
        kinds.add("cases")
    elif pure.name == ".orchestrator_state.json":
        kinds.add("pypto-state")
    elif pure.name == "module_interfaces.yaml":
        kinds.add("pypto-interfaces")
    elif pure.name in _PYPTO_KB:
        kinds.add("pypto-kb")
    elif pure.name == "PERFORMANCE_CASES.json":
        kinds.add("pypto-perf-cases")
    return Kind("yaml", frozenset(kinds))


def _log(pure: _Path, data: bytes) -> Kind:
    # Of a run's log nothing is judged; one with measurements is what reports rest on.
    if pure.parts[-3:-1] == ["data", "perf"] or data.find(b"PERF]", 0, LOG_HEAD) >= 0:
        return Kind("log", frozenset({"log", "perf-log"}))
    return Kind(None, frozenset({"log"}))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file stands: which operator it belongs to and by which profile it is judged."""

    profile: str = "custom-ops"
    operator: str | None = None
    root: str | None = None
    """Absolute folder of the operator, forward slashes; None outside operators."""
    shmem_repo: str | None = None
    relative: str = ""
    """Path below ``root``; the whole path where there is no operator."""
