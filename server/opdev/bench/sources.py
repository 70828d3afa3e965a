"""An implementation's own files, parsed, with what each name in them stands for."""

from __future__ import annotations

import ast
import io
import os
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FOLDERS = ("", "src", "modules")
_MOST_FILES = 200
# Python 3.10 dies, and not by an exception, of syntax trees that are deeper than 200 kB can make one.
_MOST_BYTES = 4_000_000 if sys.version_info >= (3, 11) else 200_000
KERNEL = ("pypto.jit", "pypto.frontend.jit")


@dataclass
class Source:
    """One file.  ``tree`` is None where it cannot be parsed, ``problem`` and ``line`` say why and where."""

    path: str
    text: str
    tree: ast.Module | None = None
    problem: str = ""
    line: int = 1
    aliases: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()

    def full(self, node: ast.AST) -> str:
        """What an expression names, by the imports of its file (``torch.nn.functional.relu``); empty for what is no name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.aliases.get(node.id, node.id))
        return ".".join(reversed(parts))


def gathered(folder: str, op: str) -> list[Source]:
    """The two files that are judged, and the files of the same folder that they import, those first."""
    found: dict[str, Source] = {}
    waiting = [path for name in (f"{op}_impl.py", f"{op}_pypto_impl.py") if (path := _find(folder, name))]
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop(0)
        if path in found:
            continue
        found[path] = one = parsed(path)
        if one.tree is not None:
            for name in _imported(one.tree):
                for part in (name, name.rpartition(".")[0]):
                    local = _find(folder, part.replace(".", "/") + ".py") or _find(
                        folder, part.replace(".", "/") + "/__init__.py"
                    )
                    if local and local not in found:
                        waiting.append(local)
    return list(found.values())


def implementation(folder: str, op: str) -> str:
    """The file with ``ModelNew``, absolute; empty where there is none."""
    return _find(folder, f"{op}_pypto_impl.py")


def _find(folder: str, name: str) -> str:
    if not name.strip("/.py"):
        return ""
    return next((path for f in _FOLDERS if os.path.isfile(path := os.path.normpath(os.path.join(folder, f, name)))), "")


def parsed(path: str) -> Source:
    """A file as far as it can be read."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            return Source(path, "", None, f"more than {_MOST_BYTES} bytes")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Source(path, "", None, str(error))
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        return Source(path, text, None, error.msg, error.lineno or 1)
    except (ValueError, RecursionError, MemoryError) as error:
        return Source(path, text, None, str(error))
    aliases, stars = _aliases(tree)
    return Source(path, text, tree, aliases=aliases, stars=stars)


def _aliases(tree: ast.Module) -> tuple[dict[str, str], tuple[str, ...]]:
    found: dict[str, str] = {}
    stars = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
                else:
                    found[alias.name.partition(".")[0]] = alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if alias.name == "*":
                    stars.append(module)
                else:
                    found[alias.asname or alias.name] = f"{module}.{alias.name}"
    # `r = torch.relu` at the top level is one more name for it.
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            full = Source("", "", tree, aliases=found).full(node.value)
            if "." in full and full.partition(".")[0] in (
                "torch",
                "pypto",
                "numpy",
                "sys",
                "os",
                "gc",
                "inspect",
                "builtins",
            ):
                found.setdefault(node.targets[0].id, full)
    return found, tuple(stars)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                yield node.module
            yield from (f"{node.module}.{alias.name}" if node.module else alias.name for alias in node.names)


def imports(source: Source) -> Iterator[tuple[str, int]]:
    """Every module a file imports, also by a name that is a constant, with its line."""
    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.lineno
            yield from ((f"{node.module or ''}.{alias.name}".lstrip("."), node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = source.full(node.func)
            if name.rpartition(".")[2] in (
                "import_module",
                "__import__",
                "spec_from_file_location",
                "run_path",
                "run_module",
            ):
                for argument in node.args[:2]:
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        yield argument.value.removesuffix(".py").rpartition("/")[2], node.lineno


def is_kernel(source: Source, node: ast.AST) -> bool:
    """Whether a function is a kernel by one of its decorators."""
    return any(jit(source, decorator) for decorator in getattr(node, "decorator_list", ()))


def jit(source: Source, node: ast.AST) -> bool:
    """Whether an expression is pypto's own ``jit``, called or not."""
    name = source.full(node.func if isinstance(node, ast.Call) else node)
    return name in KERNEL or (name == "jit" and any(star in ("pypto", "pypto.frontend") for star in source.stars))
