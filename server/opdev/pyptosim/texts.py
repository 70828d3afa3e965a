"""What simulation of PyPTO operators says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.pyptosim.wheels import INSTALL, PYPTO
from opdev.rules.model import Lang, Text

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "在模拟环境里运行一个 PyPTO 算子的测试，按 PyPTO 精度标准判断它比较过的输出。退出码：0 通过，1 不通过，4 什么都没有检查，5 环境不全。",
        "Run a PyPTO operator's test in simulation and judge the outputs it compared by PyPTO's precision standard. Exit status: 0 pass, 1 fail, 4 nothing was checked, 5 the environment is not complete.",
    ),
    "backend": (
        "模拟：输出由 pypto {pypto} 自带的解释器在 CPU 上算出，不是 NPU 的结果；耗时不是测得的性能",
        "simulated: outputs are computed on the CPU by the interpreter of pypto {pypto}, not by an NPU; no time here is a measurement",
    ),
    "python": ("解释器 {python}，测试 {test}", "Python {python}, test {test}"),
    "building": (
        "[PYPTO-SIM] 第一次使用：正在编译 pypto 自带的解释器（约半分钟到一分钟，之后从缓存加载）…",
        "[PYPTO-SIM] first use: building pypto's interpreter (half a minute to a minute, later runs load it from the cache) …",
    ),
    "no-test": ("{root}：没有 test_{name}.py，没有可运行的测试", "{root}: there is no test_{name}.py, so there is no test to run"),
    "many-tests": (
        "{root}：没有 test_{name}.py，另有 {count} 个测试（{names}），不知道运行哪个；把它改名为 test_{name}.py",
        "{root}: there is no test_{name}.py but {count} other tests ({names}), and none is told from the others; call the one to run test_{name}.py",
    ),
    "lacking": ("{name} 在 pypto {pypto} 里没有：模拟里用到它会失败", "pypto {pypto} has no {name}: using it in simulation fails"),
    "lacking-jit": (
        "{name} 在 pypto {pypto} 里没有，模拟里当作 pypto.frontend.jit 运行",
        "pypto {pypto} has no {name}; in simulation it is run as pypto.frontend.jit",
    ),
    # Environment
    "e-python": (
        "模拟 PyPTO 需要 Linux 上的 CPython 3.10–3.12（pypto {pypto} 没有更新的 wheel）；这里是 {python}",
        "simulating PyPTO needs CPython 3.10 to 3.12 on Linux (pypto {pypto} has no wheel for a newer one); this is {python}",
    ),
    "e-no-pypto": ("{python} 里没有 pypto：{install}", "{python} has no pypto: {install}"),
    "e-other-pypto": (
        "{python} 里是 pypto {found}，模拟只支持 {pypto}（它改动 pypto 的内部函数，换版本结果不可信）：{install}",
        "{python} has pypto {found}; simulation works with {pypto} alone (it replaces private functions, and another version's results could not be trusted): {install}",
    ),
    "e-no-wheel": ("{python} 里没有 {name}：{install}", "{python} has no {name}: {install}"),
    "e-other-torch": (
        "{python} 里是 torch {found}；pypto {pypto} 的解释器要用 torch 2.1 到 2.13 编译：{install}",
        "{python} has torch {found}; the interpreter of pypto {pypto} builds with torch 2.1 to 2.13: {install}",
    ),
    "e-no-cmake": ("编译 pypto 的解释器需要系统的 cmake（pip 装的不算）与 g++：{why}", "building pypto's interpreter needs the system's cmake (not pip's) and g++: {why}"),
    "e-interpreter-build": ("pypto 的解释器编译失败：{why}  {log}", "pypto's interpreter could not be built: {why}  {log}"),
    "e-interpreter-load": ("pypto 的解释器加载失败，缓存已删除，再运行一次会重新编译：{why}", "pypto's interpreter could not be loaded; it was removed from the cache and is built again next time: {why}"),
    "e-no-numpy": ("判断精度需要 numpy：{install}（{why}）", "judging precision needs numpy: {install} ({why})"),
    "e-start": ("{python} 没有启动：{why}", "{python} could not be started: {why}"),
    # What is there (opdev doctor)
    "l-python": (
        "模拟 PyPTO 需要 Linux 上的 CPython 3.10–3.12：用它建一个环境，{install}，再用 PYTHON_CMD 指定",
        "simulating PyPTO needs CPython 3.10 to 3.12 on Linux: make an environment of it, {install}, and name it with PYTHON_CMD",
    ),
    "l-pypto": (
        "只能用 pypto {pypto}：{install}，或用 PYTHON_CMD 指定装有它的 Python",
        "it takes pypto {pypto} and no other: {install}, or name a Python that has it with PYTHON_CMD",
    ),
    "l-torch": ("要 torch 2.1 到 2.13：{install}", "it takes torch 2.1 to 2.13: {install}"),
    "l-install": ("{install}", "{install}"),
    "l-tool": ("编译 pypto 的解释器要用：安装系统的 {name}", "pypto's interpreter is built with it: install the system's {name}"),
    "l-interpreter": ("还没有编译 pypto 的解释器：第一次运行会编译（约一分钟）", "pypto's interpreter is not built yet: the first run does it (about a minute)"),
    # Cases
    "passed": ("{count} 个输出符合精度标准", "{count} outputs hold by the precision standard"),
    "raised": ("测试失败：{why}", "the test failed: {why}"),
    "wrong": ("{output} 不符合精度标准：{zh}", "{output} does not hold by the precision standard: {en}"),
    "shape": ("{output} 的形状 {actual} 与 golden 的 {golden} 不同", "{output} has shape {actual}, its golden {golden}"),
    "skipped": ("测试跳过：{why}", "the test was skipped: {why}"),
    "no-end": ("测试没有跑到结尾", "the test did not come to its end"),
    "cut-off": ("运行中断，这个用例没有跑完", "the run was cut off before this case ended"),
    "nothing-compared": (
        "内核运行了，但没有把输出与 golden 比较，什么都没有检查（断言可能只在 NPU 模式下执行）",
        "the kernel ran, but no output of it was compared with a golden: nothing was checked (an assertion may be guarded by the NPU's run mode)",
    ),
    "no-kernel": ("没有运行任何 PyPTO 内核，什么都没有检查", "no PyPTO kernel was run: nothing was checked"),
    "unwritten": ("内核没有写 {name}：与它比较说明不了什么", "the kernel did not write {name}: comparing it says nothing"),
    "not-kept-dtype": ("{output} 的 dtype {dtype} 没有精度标准，没有判断", "{output} is of dtype {dtype}, for which there is no standard: it was not judged"),
    "not-kept-size": ("{output} 太大，没有保存，没有判断", "{output} is too large to be kept: it was not judged"),
    # The end
    "no-cases": ("没有任何用例运行：什么都没有检查", "no case was run: nothing was checked"),
    "timed-out": ("超过 {seconds:.0f} 秒，已结束", "it took more than {seconds:.0f} s and was ended"),
    "killed": ("进程被信号 {signal} 结束（内存上限 {memory} MB）", "its process was ended by signal {signal} (the memory limit is {memory} MB)"),
    "crashed": ("进程异常退出（{exit}），没有跑完", "its process ended with {exit} before it was done"),
    "v-pass": ("通过（模拟）", "pass (simulated)"),
    "v-fail": ("不通过（模拟）", "fail (simulated)"),
    "v-unchecked": ("什么都没有检查，不算通过（模拟）", "nothing was checked, which is no pass (simulated)"),
    "v-skipped": ("跳过", "skipped"),
    "v-environment": ("环境不全，没有运行", "the environment is not complete, nothing was run"),
    "model": (
        "cost model 的输出在 {path}：是模型估计，不是测量，不作为性能数据",
        "what the cost model says is in {path}: a model's estimate, not a measurement, and no performance figure",
    ),
    "report": ("精度明细：{path}", "precision in full: {path}"),
    "h-op": ("算子目录", "the operator's folder"),
    "h-test": ("单独的测试或示例文件", "a test or an example by itself"),
    "h-look": ("只看环境里有什么，输出 JSON", "only look at what the environment has, as JSON"),
    "h-out": ("结果目录", "the folder of the results"),
    "h-python": ("有 pypto 的 Python（默认 PYTHON_CMD，再是自己的，再是 python3）", "the Python that has pypto (default: PYTHON_CMD, its own, python3)"),
    "h-case": ("只运行名字含它的用例，可重复", "run only cases with this in their name; may be repeated"),
    "h-timeout": ("最多多少秒（默认 1800）", "seconds it may take (default 1800)"),
    "h-memory": ("内存上限，MB（默认本机内存的四分之三）", "memory limit in MB (default: three quarters of this machine's)"),
    "h-lang": ("语言", "language"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """One text."""
    text = _TEXTS[key][0 if lang == "zh" else 1]
    return text.format(**{"pypto": PYPTO, "install": INSTALL, **values})


def both(key: str, **values: object) -> Text:
    """One text in both languages."""
    return {"zh": say(key, "zh", **values), "en": say(key, "en", **values)}
