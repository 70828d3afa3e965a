"""Calls of SHMEM's ``scripts/build.sh``: options it knows, options that need each other, when to call it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.view import View

# What the script's option loop accepts; anything else ends it with "Error: Unknown option".
OPTIONS = (
    "-uttests", "-cann", "-debug", "-examples", "-enable_rdma", "-enable_simt", "-enable_relay", "-python_extension",
    "-python_example", "-gendoc", "-onlygendoc", "-enable_ascendc_dump", "-package", "-full", "-use_cxx11_abi1",
    "-use_cxx11_abi0", "-mssanitizer", "-soc_type", "-rdma_backend",
)  # fmt: skip
_VALUED = ("-soc_type", "-rdma_backend")
_BACKENDS = ("XSCALE", "HNS_1825")
_REPO = r"(?:\$\{?(?:SHMEM_REPO|SHMEM_ROOT|SHMEM_HOME|PROJECT_ROOT|REPO_ROOT|ROOT_DIR|SHMEM_DIR)\}?/|(?:\S*/)?shmem/)"
_SCRIPT = re.compile(rf"(?:{_REPO}|\./)?scripts/build\.sh")
_OF_REPO = re.compile(rf"{_REPO}scripts/build\.sh")
_UNCLEAR = re.compile(r"[$<>\[\]{}|…*]|\.\.\.|[\u4e00-\u9fff]")
_WRONG = re.compile("错误|无效|不支持|失败|报错|wrong|invalid|error|fail", re.IGNORECASE)


@dataclass(frozen=True)
class Build:
    """One call: its words after the script, the options among them with their values."""

    command: bash.Command
    script: bash.Word
    words: tuple[bash.Word, ...]
    options: dict[str, str]
    opaque: bool
    """Some words expand, so more options may be given than are seen."""


def builds(view: View) -> list[Build]:
    """Every call of SHMEM's build script, in text order."""
    return view.file.memo("build_calls", lambda: list(_builds(view)))


def _builds(view: View) -> Iterator[Build]:
    for command in bash.commands(view):
        words = list(command.effective)
        if bash.is_echoed(command) or not words:
            continue
        if command.effective_name in ("bash", "sh", "source", "."):
            words = words[1:]
            while words and words[0].raw in ("-x", "-e", "-ex"):
                words = words[1:]
        if not words or not _SCRIPT.fullmatch(words[0].loose):
            continue
        options: dict[str, str] = {}
        rest = words[1:]
        for index, word in enumerate(rest):
            if word.value in OPTIONS:
                following = rest[index + 1] if index + 1 < len(rest) else None
                options[word.value] = following.loose if following is not None and word.value in _VALUED else ""
        # An operator may have a scripts/build.sh of its own: then only SHMEM's options tell.
        own = view.place.profile == "custom-ops" and view.place.operator is not None
        if own and not options and not _OF_REPO.fullmatch(words[0].loose):
            continue
        yield Build(command, words[0], tuple(rest), options, any("$" in w.raw for w in rest))


def unknown_build_option(context: Context) -> Iterator[Hit]:
    """A word that the build script's option loop refuses."""
    for build in builds(context):
        value = False
        for word in build.words:
            text = word.value
            if value or text is None or _UNCLEAR.search(word.raw):
                value = False
                continue
            if text in OPTIONS:
                value = text in _VALUED
                continue
            if _shown_as_wrong(context, build):
                break
            yield _unknown(context, word, text)


def _unknown(context: Context, word: bash.Word, text: str) -> Hit:
    if not text.startswith("-"):
        begin = word.start
        while begin > 0 and context.data[begin - 1] in b" \t":
            begin -= 1
        fix = Fix((Edit(begin, word.end, ""),), "word", "unsafe")
        return Hit(word.start, word.end, "word", {"option": text}, fix)
    exact = "-" + text.lstrip("-").replace("-", "_")
    near = [exact] if exact in OPTIONS else get_close_matches(exact, OPTIONS, 1, 0.75)
    if not near:
        return Hit(word.start, word.end, args={"option": text, "near": ""})
    level = "safe" if near[0] == exact else "suggestion"
    fix = Fix((Edit(word.start, word.end, near[0]),), applicability="safe" if level == "safe" else "suggestion")
    return Hit(word.start, word.end, "near", {"option": text, "near": near[0]}, fix)


def _shown_as_wrong(context: Context, build: Build) -> bool:
    """Whether the comment above (or below) a call in a document says that it is a wrong one."""
    data = context.data
    begin = data.rfind(b"\n", 0, build.command.start) + 1
    end = data.find(b"\n", build.command.end)
    above = data[data.rfind(b"\n", 0, max(begin - 1, 0)) + 1 : max(begin - 1, 0)]
    below = data[end + 1 :].split(b"\n", 1)[0] if end >= 0 else b""
    lines = [t.decode("utf-8", "replace").strip() for t in (above, below)]
    return any(t.startswith("#") and _WRONG.search(t) for t in lines)


def inconsistent_build_options(context: Context) -> Iterator[Hit]:
    """Options the script refuses or ignores because another one is missing."""
    for build in builds(context):
        given = build.options
        if build.opaque or {"-package", "-full", "-python_extension"} & given.keys() or _shown_as_wrong(context, build):
            continue
        soc = given.get("-soc_type", "")
        if _UNCLEAR.search(soc + given.get("-rdma_backend", "")):
            continue
        new_soc = "950" in soc
        for word in build.words:
            if word.value == "-rdma_backend":
                yield from _backend(build, word, given, new_soc)
            elif word.value == "-enable_relay" and not new_soc:
                yield _needs(word, build, "relay", "-soc_type Ascend950")
            elif word.value == "-enable_rdma" and new_soc and "-rdma_backend" not in given:
                yield Hit(word.start, word.end, "backend")


def _backend(build: Build, word: bash.Word, given: dict[str, str], new_soc: bool) -> Iterator[Hit]:
    value = given["-rdma_backend"]
    if value not in _BACKENDS:
        yield Hit(word.start, word.end, "value", {"value": value})
    elif "-enable_rdma" not in given:
        yield _needs(word, build, "rdma", "-enable_rdma")
    elif not new_soc:
        yield _needs(word, build, "soc", "-soc_type Ascend950", fixable="-soc_type" not in given)


def _needs(word: bash.Word, build: Build, key: str, option: str, *, fixable: bool = True) -> Hit:
    fixable = fixable and not (option.startswith("-soc_type") and "-soc_type" in build.options)
    fix = Fix((Edit(word.start, word.start, f"{option} "),)) if fixable else None
    return Hit(word.start, word.end, "default" if key == "rdma" else key, {"option": option}, fix)


def full_build_in_loop(context: Context) -> Iterator[Hit]:
    """The whole library built again for every turn of a loop."""
    for build in builds(context):
        if bash.in_loop(build.command.node) is not None:
            yield Hit(build.script.start, build.script.end)


def example_not_built(context: Context) -> Iterator[Hit]:
    """An example's binary used after a build that made no examples."""
    calls = builds(context)
    wide = {"-examples", "-full", "-uttests"}
    if not calls or any(wide & b.options.keys() or b.opaque for b in calls):
        return
    own = context.place.profile == "custom-ops" and context.place.operator is not None
    prefix = _REPO if own else rf"(?:{_REPO}|\./)?"
    binary = re.compile(rf"{prefix}build/bin/(?!root_info_generate\b)(?P<name>\w+)")
    for command in bash.commands(context):
        words = command.effective
        if command.start < calls[0].command.end or not words or bash.is_echoed(command):
            continue
        match = binary.fullmatch(words[0].loose)
        if match:
            last = calls[-1].script
            fix = Fix((Edit(last.end, last.end, " -examples"),))
            yield Hit(last.start, last.end, args={"binary": match["name"]}, fix=fix)
            return


def library_without_plugins(context: Context) -> Iterator[Hit]:
    """``libshmem.so`` copied alone, without the bootstrap plug-ins it loads from its folder."""
    if b"aclshmem_bootstrap" in context.code:
        return
    for command in bash.commands(context):
        if command.effective_name not in ("cp", "scp", "rsync", "install", "mv"):
            continue
        words = command.effective[1:]
        if any(re.search(r"\*\.so|/lib/?\.?\*?$|/lib$", w.loose) for w in words[:-1]):
            continue
        for word in words[:-1]:
            if re.search(r"(?:^|/)libshmem\.so$", word.loose):
                yield Hit(word.start, word.end)


_SOC = re.compile(rb"^[ \t\-]*target_soc[ \t]*:[ \t]*(?P<socs>[^\n#]*(?:\n[ \t]+-[^\n#]*)*)", re.MULTILINE)


def build_for_other_soc(context: Context) -> Iterator[Hit]:
    """A build that makes the library for another SoC than design.md names, or without SIMT."""
    project = context.project
    calls = [b for b in builds(context) if not b.opaque and not {"-package", "-full"} & b.options.keys()]
    if project is None or not calls:
        return
    socs = b" ".join(m["socs"] for f in project.files("design-doc") for m in _SOC.finditer(f.data)).decode(
        "utf-8", "replace"
    )
    names = re.findall(r"Ascend\w+", socs)
    new = [n for n in names if "950" in n]
    # A folder of several examples has code for other builds further down.
    own = [f for f in project.files("kernel") if posixpath.dirname(f.place.relative) in ("", "src")]
    simt = any(re.search(rb"\bsimt::", f.code) for f in own)
    whole = any("950" in b.options.get("-soc_type", "") for b in calls)
    without_simt = not any("-enable_simt" in b.options for b in calls)
    for build in calls:
        soc = build.options.get("-soc_type", "")
        end = build.script.end
        if new and len(new) == len(names) and not whole and not _UNCLEAR.search(soc):
            fix = Fix((Edit(end, end, " -soc_type Ascend950"),)) if not soc else None
            yield Hit(build.script.start, end, args={"soc": new[0]}, fix=fix)
        elif names and not new and "950" in soc:
            yield Hit(build.script.start, end, "older", {"soc": names[0], "given": soc})
        if simt and without_simt and "-examples" in build.options:
            yield Hit(build.script.start, end, "simt", fix=Fix((Edit(end, end, " -enable_simt"),), "simt"))
