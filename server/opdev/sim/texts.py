"""What ``opdev sim`` says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "在没有 NPU 的机器上编译、运行算子（CPU 模拟；结果与时间都不代表设备）。",
        "Build and run operators on a machine without an NPU (CPU simulation; no result or time is the device's).",
    ),
    "build-help": ("编译算子", "build an operator"),
    "run-help": ("编译并运行算子自己的 run.sh", "build an operator and run its own run.sh"),
    "exec-help": ("在模拟环境里运行任意命令", "run any command inside the simulated environment"),
    "api-help": ("列出模拟环境支持的接口", "list what the stand-in supports"),
    "doctor-help": ("检查所需的工具", "check the tools it needs"),
    "op": ("算子目录", "the operator's folder"),
    "out": ("把程序和库也放进这个目录的 bin/、lib/", "put the programs and libraries into bin/ and lib/ of this folder, too"),
    "jobs": ("并行编译数", "parallel compilations"),
    "define": ("交给 CMake 的定义，可重复", "a definition for CMake, repeatable"),
    "run-dir": ("运行目录，默认在缓存里", "folder of the run (default: in the cache)"),
    "results": ("运行后把它写出的文件复制到这个目录", "copy the files the run wrote to this folder"),
    "nbi": ("非阻塞传输：now 立即完成，lazy 等到被排序才完成（默认 now）", "when non-blocking transfers arrive: now, or lazy, when something orders them (default: now)"),
    "gate": ("各 PE 是否一起启动同一次 kernel（默认 on）", "whether the PEs start launch k together (default: on)"),
    "args": ("传给 run.sh 的参数，写在 -- 之后", "arguments of run.sh, after --"),
    "command": ("要运行的命令，写在 -- 之后", "the command, after --"),
    "lang": ("文字的语言", "language of texts"),
    "filter": ("只列名字里有这个词的接口", "only names with this word in them"),
    "no-operator": ("{path}：没有这个算子目录", "{path}: no such operator folder"),
    "no-script": ("{path}：没有 scripts/run.sh，也没有 run.sh", "{path}: neither scripts/run.sh nor run.sh"),
    "no-numpy": (
        "找不到装有 numpy 的 Python：gen_data.py 与 check_result.py 多半需要它",
        "no Python with numpy: gen_data.py and check_result.py most likely need it",
    ),
    "no-linux": ("模拟环境只能在 Linux 上编译和运行（这里是 {found}）", "the stand-in builds and runs on Linux only (this is {found})"),
    "no-compiler": ("缺少 g++（11 或更新）：apt install g++，或用 OPDEV_SIM_CXX 指定", "g++ is missing (11 or newer): apt install g++, or name it in OPDEV_SIM_CXX"),
    "old-compiler": ("g++ 太旧：{found}，需要 11 或更新", "g++ is too old: {found}; 11 or newer is needed"),
    "no-cmake": ("缺少 CMake：apt install cmake 或 pip install cmake", "CMake is missing: apt install cmake, or pip install cmake"),
    "root-failed": ("模拟环境自己的代码在这里编译不过：", "the stand-in's own code does not compile here:"),
    "first-time": ("第一次使用，先编译模拟环境的运行库…", "first use: compiling the stand-in's runtime…"),
    "build-failed": ("编译失败（{step}，退出码 {status}）", "the build failed ({step}, exit status {status})"),
    "built": ("已编译：{path}", "built: {path}"),
    "reused": ("源文件没有变，沿用上次的编译：{path}", "sources unchanged, earlier build used: {path}"),
    "backend": ("backend: sim（CPU 模拟，不是 NPU 的结果或时间）", "backend: sim (CPU simulation; not an NPU's results or times)"),
    "ended": ("退出码 {status}；运行目录：{path}", "exit status {status}; folder of the run: {path}"),
    "fault-ignored": (
        "脚本以 0 退出，但模拟环境报告了 {count} 处错误：按失败处理（脚本要逐个 wait 并检查退出码）",
        "the script ended with 0, but the stand-in reported {count} faults: that is a failure (let the script wait for each PE and look at its exit status)",
    ),
    "tool": ("{name}：{found}", "{name}: {found}"),
    "ready": ("可以使用", "ready"),
    "supported": ("支持", "supported"),
    "not-supported": ("不支持", "not in the stand-in"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """The text for ``key``."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
