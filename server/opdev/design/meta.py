"""``meta`` and ``source``: what the operator is called, how it is built, what the user confirmed."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Strict

from opdev.design.fields import Dtype, Items, MaybeText, Section, Text, said

OpKind = Literal["transport", "collective", "compute", "fused_compute_comm"]
BuildMode = Literal["independent_project", "in_tree_example"]
Flag = Annotated[bool, Strict()]
OP_NAME = r"^[a-z][a-z0-9_]*$"
SOCS = ("ascend910b", "ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910c", "ascend950")


def _folder(value: object) -> object:
    return value.rstrip("/") if isinstance(value, str) else value


class Meta(Section):
    """Name, kind, place and the phases that will run."""

    op_name: Annotated[
        Text,
        said(
            "算子名", "Operator name",
            "小写字母开头，只含小写字母、数字和下划线；同时是目录名和符号前缀，须与启动确认一致。",
            "Lower-case letters, digits and underscores, a letter first: names the folder and prefixes the symbols.",
            pattern=OP_NAME,
        ),
    ]  # fmt: skip
    op_kind: Annotated[
        OpKind,
        said(
            "算子类别", "Operator kind",
            "transport 纯搬运，collective 集合通信，compute 纯计算，fused_compute_comm 通算融合；决定代码模板和精度标准。",
            "transport moves data, collective is a collective, compute has no communication, fused_compute_comm has both: "
            "decides the code template and the precision class.",
            template="transport",
        ),
    ]  # fmt: skip
    build_mode: Annotated[
        BuildMode,
        said(
            "工程形态", "Build mode",
            "independent_project 在 custom-ops/<op_name>，in_tree_example 在 examples/<op_name>；后者须用户明确选择。",
            "independent_project lives in custom-ops/<op_name>, in_tree_example in examples/<op_name> (only if the user chose it).",
            template="independent_project",
        ),
    ]  # fmt: skip
    op_root: Annotated[
        Text,
        BeforeValidator(_folder),
        said(
            "算子目录", "Operator folder",
            "相对 SHMEM 仓根目录，由 build_mode 和 op_name 决定。",
            "Below the SHMEM repository; follows from build_mode and op_name.",
            template="custom-ops/replace_me", examples=["custom-ops/<op_name>", "examples/<op_name>"],
        ),
    ]  # fmt: skip
    target_soc: Annotated[
        Items[Text],
        said(
            "目标 SoC", "Target SoC",
            "至少一个；用默认的 ascend910b 时要在 1.3 写一条 assumption。",
            "At least one; the default ascend910b needs an assumption row in section 1.3.",
            template=["ascend910b"], values=SOCS, min_length=1,
        ),
    ]  # fmt: skip
    scope: Annotated[
        Literal["intra_node", "inter_node", "both"],
        said(
            "通信范围", "Scope",
            "机内、机间或两者；要与 topology.deployment 一致。",
            "Within a node, between nodes, or both; must agree with topology.deployment.",
            template="intra_node",
        ),
    ]  # fmt: skip
    torch_required: Annotated[
        Flag,
        said(
            "需要 Torch 接入", "Torch binding wanted",
            "启动确认第 3 问；true 才做 Torch 接入与测试。",
            "Intake question 3; only true runs the Torch phase.",
            template=False,
        ),
    ]  # fmt: skip
    performance_required: Annotated[
        Flag,
        said(
            "需要性能验证", "Performance wanted",
            "启动确认第 4 问；true 才采集性能和基线。",
            "Intake question 4; only true measures performance and a baseline.",
            template=False,
        ),
    ]  # fmt: skip
    performance_auto_optim: Annotated[
        Flag,
        said(
            "自动优化", "Automatic optimisation",
            "启动确认第 5 问；只有 performance_required 为 true 时才能为 true。",
            "Intake question 5; true only together with performance_required.",
            template=False,
        ),
    ]  # fmt: skip
    docker_container: Annotated[
        Text | None,
        said(
            "容器名", "Container",
            "null 表示在宿主机上跑；填了以后编译、运行、采集全部走 docker exec。",
            "null runs on the host; with a name every build, run and measurement goes through docker exec.",
            template=None,
        ),
    ]  # fmt: skip
    docker_workdir: Annotated[
        MaybeText,
        said(
            "容器内仓路径", "Folder in the container",
            "容器里 SHMEM 仓的绝对路径；有容器时必填。",
            "Absolute path of the SHMEM repository inside the container; needed with a container.",
            template="",
        ),
    ] = ""  # fmt: skip
    docker_exec_required: Annotated[
        Flag,
        said(
            "须进容器", "Container required",
            "当且仅当 docker_container 不为 null 时为 true。",
            "True exactly when docker_container is not null.",
            template=False,
        ),
    ]  # fmt: skip
    skills_root: Annotated[
        Text,
        said(
            "skills 根目录", "Skills folder",
            "绝对路径；一般是 ${SHMEM_REPO}/.agents/skills。",
            "Absolute path; usually ${SHMEM_REPO}/.agents/skills.",
            template="",
        ),
    ]  # fmt: skip
    shmem_repo: Annotated[
        Text,
        said(
            "SHMEM 仓", "SHMEM repository",
            "绝对路径，其下有 include/ 和 src/；还没定位时写 pending。",
            "Absolute path that holds include/ and src/; pending until it is found.",
            template="",
        ),
    ]  # fmt: skip


class Confirmations(Section):
    """What the user said in so many words; other intake answers may be recorded here, too."""

    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True, frozen=True)

    op_name: Annotated[
        Text,
        said(
            "算子名已确认", "Name confirmed",
            "任何非空标记都行，如 confirmed_by_user、phase0_intake。",
            "Any mark that is not empty, like confirmed_by_user or phase0_intake.",
            template="confirmed_by_user", examples=["confirmed_by_user", "phase0_intake"],
        ),
    ]  # fmt: skip
    dtypes: Annotated[
        Items[Dtype],
        said(
            "已确认的 dtype", "Confirmed dtypes",
            "接口里出现的每个 dtype 都要在这里；索引和元数据也列出来。",
            "Every dtype of the interface must be here, those of indices and metadata, too.",
            template=[], min_length=1, values=("float16", "bfloat16", "float32", "int8", "int32", "int64"),
        ),
    ]  # fmt: skip


class Origin(Section):
    """``source``: where the requirement comes from."""

    kind: Annotated[
        Literal["natural_language", "user_pseudocode", "heterogeneous_reference", "mixed"],
        said(
            "需求来源", "Kind of source",
            "自然语言、用户伪代码、异构参考实现，或几种都有。",
            "Plain words, the user's pseudo-code, a reference implementation for other hardware, or several of them.",
            template="natural_language",
        ),
    ]  # fmt: skip
    summary: Annotated[
        Text,
        said(
            "需求摘要", "Summary",
            "一句话：算什么、怎么通信、最终结果是什么。",
            "One sentence: what is computed, what is communicated, what comes out.",
        ),
    ]  # fmt: skip
    user_confirmations: Annotated[
        Confirmations,
        said(
            "用户确认项", "User confirmations",
            "用户明确确认过的内容，至少有算子名和 dtype。",
            "What the user confirmed: at least the name and the dtypes.",
        ),
    ]  # fmt: skip
    references: Annotated[
        Items[Any],
        said(
            "参考", "References",
            "kind 为 user_pseudocode 或 heterogeneous_reference 时必填：文件、链接或代码段。",
            "Needed for user_pseudocode and heterogeneous_reference: files, links or the code itself.",
            template=[], default_factory=list,
        ),
    ]  # fmt: skip
