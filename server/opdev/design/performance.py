"""``performance`` and ``compile``: what is measured against what, and which CANN builds it."""

from typing import Annotated, Any, Literal

from pydantic import Strict

from opdev.design.fields import Items, MaybeText, Section, Text, said
from opdev.design.meta import BuildMode

METRICS = (
    "e2e_latency_us", "kernel_latency_us", "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps",
)  # fmt: skip
HCCL = (
    "HcclAllGather", "HcclAllReduce", "HcclReduceScatter", "HcclAlltoAll", "HcclAlltoAllV", "HcclBroadcast",
    "HcclReduce", "HcclScatter",
)  # fmt: skip


class Performance(Section):
    """Metrics, the baseline, the target."""

    metric: Annotated[
        Items[Text],
        said(
            "指标", "Metrics",
            "五个都列；两个时延和 kernel_bus_bandwidth_GBps 必须有，达标只看后者。",
            "All five; both latencies and kernel_bus_bandwidth_GBps are a must, and the last decides.",
            template=list(METRICS), values=METRICS, min_length=1,
        ),
    ]  # fmt: skip
    baseline: Annotated[
        Text,
        said(
            "基线", "Baseline",
            "HCCL 或 aclnn 的接口名、stitched，或 metric_only；不能是 none。",
            "The HCCL or aclnn call, stitched, or metric_only; never none.",
            values=(*HCCL, "stitched", "metric_only"),
        ),
    ]  # fmt: skip
    baseline_search: Annotated[
        Text,
        said(
            "基线查找过程", "Search for a baseline",
            "依次查了哪些 HCCL、aclnn 接口，为何不适用。",
            "Which HCCL and aclnn calls were looked at, and why they do not fit.",
        ),
    ]  # fmt: skip
    baseline_target: Annotated[
        Text,
        said(
            "达标线", "Target",
            "有基线：current >= 80% baseline；metric_only：链路利用率不低于 20%。",
            "With a baseline: current >= 80% baseline; metric_only: at least 20 % of the link.",
            examples=["current >= 80% baseline", "metric_only，链路利用率不低于 20%"],
        ),
    ]  # fmt: skip
    target_cases: Annotated[
        Items[Any],
        said(
            "性能用例", "Target cases",
            "performance_required 时必填：S 档和 L 档的用例。",
            "Needed with performance_required: cases of scale S and L.",
            template=[],
        ),
    ]  # fmt: skip
    min_scale: Annotated[
        Text,
        said(
            "最小规模", "Smallest scale",
            "集合通信总量不低于 256 MB；计算与通算融合 hidden size 不低于 1000。",
            "At least 256 MB in all for a collective, a hidden size of 1000 for compute and fused operators.",
            examples=["256 MB", "hidden size >= 1000"],
        ),
    ]  # fmt: skip
    profiling_method: Annotated[
        Text,
        said(
            "采集方式", "Profiling method",
            "msprof、SHMEM cycle profiling、event timing 或 torch_npu profiler。",
            "msprof, SHMEM cycle profiling, event timing or the torch_npu profiler.",
            values=["msprof", "SHMEM cycle profiling", "event timing", "torch_npu profiler"],
        ),
    ]  # fmt: skip
    max_opt_rounds: Annotated[
        int,
        Strict(),
        said(
            "优化轮数上限", "Rounds at most",
            "1 到 5。",
            "From 1 to 5.",
            template=5, ge=1, le=5,
        ),
    ]  # fmt: skip


class Compile(Section):
    """The CANN that builds it; written once the environment is known."""

    cann_set_env: Annotated[
        Text | None,
        said(
            "CANN 环境脚本", "CANN environment",
            "set_env.sh 的绝对路径。",
            "Absolute path of set_env.sh.",
        ),
    ] = None  # fmt: skip
    cann_source_mode: Annotated[
        Literal["session_preconfigured", "default_system", "user_custom"] | None,
        said(
            "CANN 来源", "Source of CANN",
            "当前会话已配好、系统默认，或用户指定。",
            "Already set in the session, the system's default, or one the user named.",
            template="default_system",
        ),
    ] = None  # fmt: skip
    build_mode: Annotated[
        BuildMode | None,
        said(
            "工程形态",
            "Build mode",
            "与 meta.build_mode 相同。",
            "The same as meta.build_mode.",
            template="independent_project",
        ),
    ] = None
    notes: Annotated[MaybeText, said("备注", "Notes", "可选。", "Optional.", template="")] = ""
