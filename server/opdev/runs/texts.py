"""What the commands of runs say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

STATES: Mapping[str, tuple[str, str]] = {
    "starting": ("启动中", "starting"),
    "running": ("运行中", "running"),
    "passed": ("通过", "passed"),
    "failed": ("失败", "failed"),
    "blocked": ("等人处理", "blocked"),
    "stopped": ("已停止", "stopped"),
    "lost": ("已丢失", "lost"),
    "pass": ("通过", "pass"),
    "fail": ("失败", "fail"),
    "ok": ("正常", "ok"),
    "missing": ("缺少", "missing"),
    "unneeded": ("不需要", "not needed"),
}
CLASSES: Mapping[str, tuple[str, str]] = {
    "compile": ("编译", "compile"),
    "link": ("链接", "link"),
    "launch": ("启动", "launch"),
    "runtime": ("运行时", "runtime"),
    "correctness": ("正确性", "correctness"),
    "kernel": ("内核", "kernel"),
    "environment": ("环境", "environment"),
    "code": ("代码", "code"),
    "design": ("设计", "design"),
    "test": ("测试", "test"),
    "timeout": ("超时", "timeout"),
    "crash": ("崩溃", "crash"),
    "unknown": ("未知", "unknown"),
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "run-help": (
        "运行一个阶段（或 all）；PyPTO 算子运行 verify（Stage 6，模拟）。退出码：0 通过，1 失败或等人处理，2 用法有误，130 已停止。",
        "Run a phase, or all; of a PyPTO operator run `verify` (stage 6, simulated). Exit status: 0 passed, 1 failed or waiting for a person, 2 usage, 130 stopped.",
    ),
    "runs-help": ("列出运行记录。", "List the runs."),
    "show-help": ("查看一次运行。", "Show a run."),
    "tail-help": ("跟随一次运行的输出，直到它结束。", "Follow a run until it ends."),
    "stop-help": (
        "停止运行：先 SIGTERM，宽限期后 SIGKILL；只结束这次运行自己的进程。",
        "Stop runs: SIGTERM, SIGKILL after the grace period; only their own processes.",
    ),
    "doctor-help": (
        "检查环境（在子进程里）。退出码：0 需要的都有，1 有缺少。",
        "Look at the environment, in child processes. Exit status: 0 all there is needed for is there, 1 something is not.",
    ),
    "phase": ("阶段，或 all", "a phase, or all"),
    "op": ("算子目录，默认当前目录", "the operator's folder (default: the current one)"),
    "executor": (
        "在哪里运行：本机、容器、CPU 模拟（默认：有 docker_container 时为 docker，否则 host）",
        "where it runs: this machine, a container, the CPU stand-in (default: docker where docker_container is set, else host)",
    ),
    "container": ("容器名，默认取 docker_container", "the container (default: docker_container)"),
    "pes": (
        "PE 数，默认 2；可以是几个（2,8）：冒烟各跑一次，用例矩阵只跑这些 PE 数的用例",
        "number of PEs (default 2), or several (2,8): the smoke run is done for each, the case matrix for cases of these counts",
    ),
    "handover": (
        "门禁不开时交给外部命令。默认只用你自己的 opdev.toml（$XDG_CONFIG_HOME/opdev/ 或 ~/.config/opdev/）里 [run] external 写的；--handover 也用工作区里写的（[run] engine 和 python 也一样），--no-handover 都不用",
        "hand a closed phase over to a command. By default only one of your own opdev.toml ([run] external, in $XDG_CONFIG_HOME/opdev/ or ~/.config/opdev/); --handover also runs those of the workspace ([run] engine and python, too), --no-handover none",
    ),
    "case": ("只跑这个用例，可重复；只用于 Phase 4，不判门禁", "run this case alone, may be repeated; phase 4 only, no gate is judged"),
    "case-phase": ("--case 只能用于有用例矩阵的阶段（opdev run 4）", "--case is for the phase of the case matrix (`opdev run 4`)"),
    "resume": ("从最早没完成的阶段接着做", "go on at the earliest phase that is not finished"),
    "keep-going": ("门禁没开也往下走（失败仍会停）", "go on past gates that wait for a person (failures still stop it)"),
    "count": ("性能测试的元素数", "elements of the performance run"),
    "dtype": ("性能测试的 dtype", "dtype of the performance run"),
    "iters": ("性能测试的迭代次数", "iterations of the performance run"),
    "devices": ("设备列表，如 0,1,2,3", "devices, like 0,1,2,3"),
    "max-rounds": ("优化做到第 N 轮为止（默认 5，或 design.md 的 max_opt_rounds）", "optimisation rounds up to N (default 5, or max_opt_rounds of design.md)"),
    "detach": ("启动后就返回，运行在后台继续", "return at once; the run goes on"),
    "format": ("输出格式", "format of the output"),
    "lang": ("文字的语言", "language of texts"),
    "schema": ("打印事件的 JSON Schema", "print the JSON Schema of events"),
    "run-id": ("运行编号，或它的一部分，或 last", "a run's id, a part of it, or `last`"),
    "replay": ("按当时的样子重放全部输出", "show again everything the live view showed"),
    "now": ("不等宽限期，立即 SIGKILL", "SIGKILL at once, without a grace period"),
    "all": ("停止该算子的全部运行", "stop all runs of the operator"),
    "not-folder": ("{path} 是文件：--op 要写算子的目录", "{path} is a file: --op names the operator's folder"),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "no-operator": (
        "{path}：没有找到算子。在算子目录里运行，或用 --op 指定",
        "{path}: no operator found. Run it in an operator's folder, or name one with --op",
    ),
    "several": (
        "{path}：下面有 {count} 个算子（{names}）。用 --op 指定一个",
        "{path}: there are {count} operators below ({names}). Name one with --op",
    ),
    "no-phase": ("没有阶段 {text}；有 {phases}", "no phase {text}; there are {phases}"),
    "no-run": ("没有运行 {word}；opdev runs 列出全部", "there is no run {word}; `opdev runs` lists them"),
    "many-runs": ("{word} 对应 {count} 次运行：{names}", "{word} means {count} runs: {names}"),
    "no-runs": ("还没有运行记录", "there are no runs yet"),
    "not-running": ("{id} 没有在运行（{state}）", "{id} is not running ({state})"),
    "stopped": ("{id} 已停止", "{id} is stopped"),
    "still-running": ("{id} 还没有停下来", "{id} has not stopped yet"),
    "elsewhere": ("{id} 在另一台机器或容器里（{host}），这里不能停止它", "{id} runs on another machine or in a container ({host}); it cannot be stopped from here"),
    "bad-config": ("配置不可用：{why}", "the configuration cannot be used: {why}"),
    "not-agreed": (
        "{path}:{line} 把 [run] {name} 写成 {value}，没有运行：工作区里写的程序要你同意。同意就加 --handover，或写进你自己的 {own}；--no-handover 则不用它",
        "{path}:{line} names {value} as [run] {name}, which was not run: a program that a workspace names needs your word. Say --handover, or name it in your own {own}; with --no-handover it is not used",
    ),
    "not-linux": (
        "运行阶段（包括 CPU 模拟）需要 Linux（WSL 或 Remote-SSH 也可以）；查看记录不受限制",
        "phases run on Linux only, on the CPU stand-in too (WSL and Remote-SSH reach one); looking at runs works anywhere",
    ),
    "pypto-pro": (
        "{name} 是 PyPTO-Pro 算子：pypto 的 wheel 里没有 PyPTO-Pro，不能模拟运行；这里只有静态检查：opdev-lint，opdev gate",
        "{name} is a PyPTO-Pro operator: the pypto wheel has no PyPTO-Pro, so it cannot be run in simulation; there are static checks only: `opdev-lint`, `opdev gate`",
    ),
    "pypto-stage": (
        "PyPTO 算子只能运行 Stage 6 验证：opdev run verify（模拟）；{text}{title} 由人完成或要 NPU，用 opdev gate、opdev status 检查",
        "of a PyPTO operator only stage 6 can be run: `opdev run verify` (simulated); {text}{title} is a person's work or needs an NPU, see `opdev gate` and `opdev status`",
    ),
    "pypto-executor": (
        "PyPTO 算子在这里只能模拟运行（--executor sim，或不写）",
        "a PyPTO operator is run in simulation only (--executor sim, or leave it out)",
    ),
    "bad-pes": ("--pes 是 1 到 1024 的整数，几个用逗号隔开", "--pes is a whole number from 1 to 1024, or several with commas between"),
    "unwritable": ("{path} 不能写：{why}", "{path} cannot be written: {why}"),
    "precision": ("精度引擎（用例 {case} 留下的输出）", "precision engine (outputs that case {case} left)"),
    "case-precision-help": (
        "查看一次运行里每个用例的精度判断（用例结束时由精度引擎判断，输出可能已不在）。退出码：0 全部通过，1 有不通过，2 用法有误或有用例没有判断。",
        "Show what was judged of each case of a run as it ended; the outputs may be gone by now. Exit status: 0 all pass, 1 one does not, 2 usage or a case that was not judged.",
    ),
    "case-precision-case": ("只看这个用例：与判断文件时一样的全部内容", "this case alone, with all that is told of files that are judged"),
    "c-case": ("用例", "case"),
    "c-checker": ("检查脚本", "checker"),
    "c-engine": ("精度引擎", "engine"),
    "c-outputs": ("输出", "outputs"),
    "c-first": ("首个不通过", "first that does not pass"),
    "no-cases": ("{run} 没有逐个用例的精度判断：不是 opdev run 4，或设置 case-megabytes = 0", "{run} judged no cases: it is no `opdev run 4`, or case-megabytes = 0 is set"),
    "no-case": ("{run} 没有判断过用例 {case}；有 {known}", "{run} judged no case {case}; there are {known}"),
    "not-judged": ("{case} {why}", "{case}: {why}"),
    "html-case": ("网页是一个用例的：加 --case，或用 opdev report --html 看全部", "a page is of one case: add --case, or see all with `opdev report --html`"),
    "precision-case": ("精度引擎，用例 {case}", "precision engine, case {case}"),
    "precision-cases": (
        "精度引擎判断了 {all} 个用例：通过 {passed}，不通过 {failed}，没有判断 {unjudged}{names}",
        "precision engine, {all} cases: {passed} pass, {failed} fail, {unjudged} not judged{names}",
    ),
    "precision-other": (
        "算子的检查脚本对 {case} 说 {said}，与精度引擎不一致：先核对 check_result.py 的容差与判定",
        "the operator's checker said {said} of {case}, the precision engine does not: first look at tolerance and rule of check_result.py",
    ),
    "head": ("{operator}  运行 {request}，{pes} PE，{executor}  {id}", "{operator}: run {request}, {pes} PEs, {executor}  {id}"),
    "head-pypto": ("{operator}  运行 Stage {request}，{executor}  {id}", "{operator}: run stage {request}, {executor}  {id}"),
    "sim": ("模拟：数据不是实测", "simulated: nothing here is a measurement"),
    "phase-head": ("{word} {phase} {title}", "{word} {phase}: {title}"),
    "skipped": ("跳过", "skipped"),
    "waiting": ("另一次运行（{run}）正在使用这个算子，等它结束", "another run ({run}) has this operator; waiting for it"),
    "pause": ("等待 {seconds:.0f} 秒：{why}", "waiting {seconds:.0f} s: {why}"),
    "attempt": ("第 {n} 次", "attempt {n}"),
    "leaked": ("遗留了 {n} 个进程，已结束", "{n} processes were left behind and ended"),
    "step-end": ("{mark} {task} {result}（{seconds:.1f} 秒）", "{mark} {task} {result} ({seconds:.1f} s)"),
    "cause": ("原因", "cause"),
    "next": ("下一步", "next"),
    "class": ("类别", "class"),
    "evidence": ("依据", "seen"),
    "route-here": ("就地解决", "mend it in place"),
    "route": ("回到 {word} {phase}", "go to {word} {phase}"),
    "gate-open": ("门禁已开", "gate open"),
    "gate-skipped": ("门禁跳过", "gate skipped"),
    "gate-closed": ("门禁关闭（{count} 项）", "gate closed ({count})"),
    "more": ("另有 {count} 项，见 opdev gate {phase}", "{count} more: `opdev gate {phase}`"),
    "manual": ("需要人来做：{what}", "for a person to do: {what}"),
    "context": ("上下文：{path}", "context: {path}"),
    "brief": ("要做的事、依据和相关文件：{path}", "what is to be done, why, and the files: {path}"),
    "prepared": ("补出 {path}", "begun: {path}"),
    "brief-title": ("{operator}：Phase {phase} {title}", "{operator}: Phase {phase}, {title}"),
    "brief-task": ("要做的事", "Task"),
    "brief-gate": ("门禁还差", "What keeps the gate closed"),
    "brief-prepared": ("刚由模板补出的文件", "Files just begun from templates"),
    "brief-failures": ("最近的失败", "Last failures"),
    "brief-files": ("相关文件", "Files to read"),
    "brief-artefacts": ("产物", "What is to be there in the end"),
    "brief-facts": ("已知的事实", "What is known"),
    "brief-judged": ("怎样判断做完", "How it is judged"),
    "ended": ("{state}，用时 {seconds:.1f} 秒", "{state} after {seconds:.1f} s"),
    "ended-why": ("{state}，用时 {seconds:.1f} 秒：{why}", "{state} after {seconds:.1f} s: {why}"),
    "lost": ("运行进程已经不在了（被强制结束或机器重启），记录到此为止", "the run's process is gone (killed, or the machine restarted); this is how far it got"),
    "stopping": ("停止（{reason}）", "stopping ({reason})"),
    "logs": ("日志", "logs"),
    "fault": ("模拟环境发现错误 {fault}", "the stand-in found a fault: {fault}"),
    "detached": ("已启动 {id}；opdev tail {id} 查看，opdev stop {id} 停止", "started {id}; `opdev tail {id}` follows it, `opdev stop {id}` ends it"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)


def state(word: str, lang: Lang) -> str:
    """A state or a result in one language."""
    pair = STATES.get(word, (word, word))
    return pair[0] if lang == "zh" else pair[1]


def cls(word: str, lang: Lang) -> str:
    """A class of failure in one language."""
    pair = CLASSES.get(word, (word, word))
    return pair[0] if lang == "zh" else pair[1]
