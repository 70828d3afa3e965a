"""The five questions and those that only some machines raise, in both languages.

The five are fixed: single choice, in this order, nothing preselected.  Only the first takes free text, and it has two
options and no more: a third one named "custom" would leave no room for the path.
"""

from __future__ import annotations

from opdev.intake.model import LATER, Option, Probe, Question
from opdev.rules.model import Lang

TITLE = {
    "zh": "Phase 0 启动确认（SHMEM 算子开发）",
    "en": "Phase 0 intake (SHMEM operator development)",
}
EXAMPLE = "/home/USER/CANN/8.5.0/ascend-toolkit/set_env.sh"
DEFAULT_CANN = "/usr/local/Ascend/ascend-toolkit/set_env.sh"


def questions(lang: Lang, probe: Probe | None = None, *, semantics: bool = False) -> list[Question]:
    """The five, then what this machine leaves open (nothing is asked about a machine nobody looked at).

    ``semantics`` says that the design states already what the operator does.
    """
    zh = lang == "zh"
    found = [_cann(zh, probe), _build_mode(zh), _torch(zh), _perf(zh), _auto_optim(zh)]
    if probe is None:
        return found
    if not semantics:
        found.append(_semantics(zh))
    if not probe.hardware:
        found += [_container(zh), _workdir(zh, probe)]
    if not probe.conda_env or probe.conda_env == "base":
        found.append(_conda(zh, probe))
    if not probe.shmem_repo:
        found.append(_repo(zh))
    elif not probe.installed:
        found.append(_install(zh, probe))
    if probe.torch in ("missing", "failed", "timeout"):
        found.append(_torch_env(zh, probe))
    return found


def _cann(zh: bool, probe: Probe | None) -> Question:
    session, default = "", DEFAULT_CANN
    if probe is not None:
        session = f"ASCEND_HOME_PATH={probe.ascend_home or ('未设置' if zh else 'not set')}"
        there = probe.default_cann
        default = there or (f"{DEFAULT_CANN}，本机没有" if zh else f"{DEFAULT_CANN}, which is not here")
    tail = (f"（{session}）" if zh else f" ({session})") if session else ""
    if zh:
        return Question(
            "cann", "cann_source_mode", "CANN 环境来源？", 1,
            f"都不是的话，直接写 set_env.sh 的完整绝对路径，例如 {EXAMPLE}。路径稍后再给，写 {LATER}。",
            (
                Option("session", f"沿用当前 shell 已设置的 CANN{tail}", "session_preconfigured"),
                Option("default", f"默认系统安装（{default}）", "default_system"),
            ),
            "set_env.sh 的绝对路径",
        )  # fmt: skip
    return Question(
        "cann", "cann_source_mode", "Where does CANN come from?", 1,
        f"If neither fits, write the full absolute path of set_env.sh, like {EXAMPLE}. Write `{LATER}` to give it later.",
        (
            Option("session", f"this shell has it loaded{tail}", "session_preconfigured"),
            Option("default", f"the system's installation ({default})", "default_system"),
        ),
        "the absolute path of set_env.sh",
    )  # fmt: skip


def _build_mode(zh: bool) -> Question:
    return Question(
        "build_mode", "build_mode", "算子放在哪个目录？" if zh else "Which folder is the operator's?", 2,
        options=(
            Option("custom_ops", "custom-ops/<op_name>/ 独立工程" if zh else "custom-ops/<op_name>/, a project of its own", "independent_project"),
            Option("in_tree", "examples/<op_name>/ 仓内示例" if zh else "examples/<op_name>/, an example in SHMEM's tree", "in_tree_example"),
        ),
    )  # fmt: skip


def _yes_no(zh: bool, yes: str, no: str) -> tuple[Option, Option]:
    return Option("yes", yes or ("需要" if zh else "yes"), value=True), Option("no", no or ("不需要" if zh else "no"), value=False)  # fmt: skip


def _torch(zh: bool) -> Question:
    prompt = "是否需要 PyTorch 接入（Phase 5.5）？" if zh else "Is a PyTorch binding wanted (Phase 5.5)?"
    return Question("torch", "torch_required", prompt, 3, options=_yes_no(zh, "", ""))


def _perf(zh: bool) -> Question:
    prompt = "是否需要性能采集（Phase 6）？" if zh else "Are measurements wanted (Phase 6)?"
    detail = "按平台规格采集带宽表和时延表，与 HCCL 基线对比。" if zh else "Bandwidth and latency tables at the platform's scales, compared with HCCL's."  # fmt: skip
    return Question("perf", "performance_required", prompt, 4, detail, _yes_no(zh, "", ""))


def _auto_optim(zh: bool) -> Question:
    if zh:
        return Question(
            "perf_auto_optim", "performance_auto_optim", "Phase 6 未达标时，是否自动进入性能优化（Phase 6.5，最多 5 轮）？", 5,
            "选“是”：未达标后立即改内核并复测，不再等人说继续。选“否”：只给出差距表。第 4 题选“不需要”时，本题选“是”不起作用。",
            _yes_no(zh, "是，未达标自动优化", "否，只采集和报告"),
        )  # fmt: skip
    return Question(
        "perf_auto_optim", "performance_auto_optim", "If Phase 6 misses its line, go on to optimise by itself (Phase 6.5, at most 5 rounds)?", 5,
        "Yes: the kernel is changed and measured again without waiting for anybody. No: the gap is reported. Without measurements (question 4) a yes has no effect.",
        _yes_no(zh, "yes, optimise if the line is missed", "no, measure and report"),
    )  # fmt: skip


def _semantics(zh: bool) -> Question:
    prompt = "算子做什么？本地计算、通信、结果，一句话说清。" if zh else "What does the operator do? Local computation, communication, result, in one sentence."  # fmt: skip
    why = "设计还没有写明语义" if zh else "no design states it yet"
    return Question("semantics", "semantics", prompt, text="一句话" if zh else "a sentence", why=why, default=LATER)


def _container(zh: bool) -> Question:
    return Question(
        "container", "docker_container", "在哪个容器里编译和运行？" if zh else "In which container is it built and run?",
        detail="写容器名；不用容器就写 none（本机没有 NPU 时只能用 CPU 模拟）。" if zh else "Write its name, or none for this machine (without an NPU: the CPU stand-in only).",
        options=(Option("none", "不用容器" if zh else "no container"),),
        text="容器名" if zh else "the container's name",
        why="本机没有 npu-smi 和 bisheng" if zh else "there is neither npu-smi nor bisheng on this machine",
    )  # fmt: skip


def _workdir(zh: bool, probe: Probe) -> Question:
    return Question(
        "workdir", "docker_workdir", "容器内 SHMEM 仓的绝对路径？" if zh else "Where is the SHMEM repository in the container (absolute path)?",
        text="绝对路径" if zh else "an absolute path", default=probe.shmem_repo,
        why="命令都在容器里执行" if zh else "every command runs in the container", when={"container": "*"},
    )  # fmt: skip


def _conda(zh: bool, probe: Probe) -> Question:
    none = "none" if not probe.conda else ""
    return Question(
        "conda", "conda_env", "用哪个 conda 环境？" if zh else "Which conda environment?",
        detail="不用 conda 写 none；还没定就直接回车。" if zh else "Write none for no conda; press Enter if it is not known yet.",
        options=(Option("none", "不用 conda" if zh else "no conda"),), text="环境名" if zh else "its name",
        why=(f"CONDA_DEFAULT_ENV {'是 ' + probe.conda_env if probe.conda_env else '没有设置'}" if zh else f"CONDA_DEFAULT_ENV is {probe.conda_env or 'empty'}"),
        default=none or LATER,
    )  # fmt: skip


def _repo(zh: bool) -> Question:
    return Question(
        "shmem_repo", "shmem_repo", "SHMEM 仓在哪里（绝对路径）？" if zh else "Where is the SHMEM repository (absolute path)?",
        detail="目录里要有 include/ 和 src/；还没有就直接回车。" if zh else "A folder with include/ and src/; press Enter if there is none yet.",
        text="绝对路径" if zh else "an absolute path", default=LATER,
        why="当前目录、./shmem、环境变量 SHMEM_REPO 和算子所在的目录都不是" if zh else "neither this folder, ./shmem, $SHMEM_REPO nor the operator's surroundings is one",
    )  # fmt: skip


def _install(zh: bool, probe: Probe) -> Question:
    return Question(
        "shmem_install", "shmem_repo", "SHMEM 还没有安装：先编译，还是用另一个装好的仓？" if zh else "SHMEM is not installed: build it, or use another checkout that is?",
        options=(Option("build", "在仓里运行 bash scripts/build.sh -examples" if zh else "run `bash scripts/build.sh -examples` in the repository"),),
        text="另一个仓的绝对路径" if zh else "the absolute path of the other checkout", default="build",
        why=f"没有 {probe.shmem_repo}/install/set_env.sh" if zh else f"there is no {probe.shmem_repo}/install/set_env.sh",
    )  # fmt: skip


def _torch_env(zh: bool, probe: Probe) -> Question:
    return Question(
        "torch_env", "conda_env", "装好 torch 和 torch_npu，还是换一个环境？" if zh else "Install torch and torch_npu, or use another environment?",
        options=(Option("install", "Phase 5.5 之前在当前环境装好" if zh else "install them here before Phase 5.5"),),
        text="装有它们的 conda 环境名" if zh else "the conda environment that has them", default="install",
        why=f"当前环境导入失败：{probe.torch_detail}" if zh else f"they cannot be imported here: {probe.torch_detail}",
        when={"torch": "yes"},
    )  # fmt: skip
