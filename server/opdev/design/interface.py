"""``interface`` and ``semantics``: what goes in, what comes out, and what it means."""

from typing import Annotated, Any, Literal

from opdev.design.fields import Dtype, Items, MaybeText, Section, Text, said

_NAME = ("名称", "Name", "代码、脚本和报告里用的名字。", "The name that code, scripts and reports use.")
_SHAPE = (
    "形状", "Shape",
    '写成字符串，如 "[n_pes, shard_elems]"；说的是每个 PE 的形状。',
    'A string such as "[n_pes, shard_elems]"; the shape on each PE.',
)  # fmt: skip
_DTYPE = (
    "数据类型", "Dtype",
    "float16、bfloat16、float32、int8…int64、uint8…；T 表示每个已确认的 dtype。",
    "float16, bfloat16, float32, int8…int64, uint8…; T stands for every confirmed dtype.",
)  # fmt: skip
_DTYPE_NAMES = ("float16", "bfloat16", "float32", "int8", "int16", "int32", "int64", "uint8")


class Input(Section):
    """A tensor the operator reads."""

    name: Annotated[Text, said(*_NAME)]
    dtype: Annotated[Dtype, said(*_DTYPE, template="fp16", values=_DTYPE_NAMES)]
    shape: Annotated[Text, said(*_SHAPE, template='"[n_pes, shard_elems]"')]
    role: Annotated[
        Text,
        said(
            "作用", "Role",
            "这个张量在算子里是什么，如本 PE 的数据、路由表。",
            "What the tensor is to the operator: this PE's data, a routing table.",
            template="local_input",
        ),
    ]  # fmt: skip


class Output(Section):
    """A tensor the operator writes."""

    name: Annotated[Text, said(*_NAME)]
    dtype: Annotated[Dtype, said(*_DTYPE, template="fp16", values=_DTYPE_NAMES)]
    shape: Annotated[Text, said(*_SHAPE, template='"[total_elems]"')]
    visibility: Annotated[
        Literal["replicated", "sharded", "owner_only"],
        said(
            "可见性", "Visibility",
            "replicated 每个 PE 都有全量，sharded 每个 PE 一段，owner_only 只有属主有。",
            "replicated: all of it on every PE; sharded: a part on each; owner_only: on its owner alone.",
            template="replicated",
        ),
    ]  # fmt: skip
    role: Annotated[
        MaybeText, said("作用", "Role", "可选的说明。", "What it is, if that needs saying.", template="")
    ] = ""


class Attr(Section):
    """A scalar argument of the operator."""

    name: Annotated[Text, said(*_NAME)]
    type: Annotated[
        Text, said("类型", "Type", "取 int、float、bool 或 str。", "int, float, bool or str.", template="int")
    ]
    default: Annotated[
        Any,
        said(
            "默认值", "Default",
            "数值或公式，如 2 * n_pes。",
            "A value or a formula, like 2 * n_pes.",
        ),
    ]  # fmt: skip
    role: Annotated[
        MaybeText, said("作用", "Role", "可选的说明。", "What it is, if that needs saying.", template="")
    ] = ""


class Interface(Section):
    """The operator's tensors and arguments."""

    inputs: Annotated[
        Items[Input],
        said(
            "输入", "Inputs",
            "至少一个；各有 name、dtype、shape、role。",
            "At least one, each with name, dtype, shape and role.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    outputs: Annotated[
        Items[Output],
        said(
            "输出", "Outputs",
            "至少一个；各有 name、dtype、shape、visibility。",
            "At least one, each with name, dtype, shape and visibility.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    attrs: Annotated[
        Items[Attr],
        said(
            "属性", "Arguments",
            "标量参数，各有 name、type、default；block_dim 写在这里。",
            "Scalar arguments, each with name, type and default; block_dim belongs here.",
            template=[], default_factory=list,
        ),
    ]  # fmt: skip
    shape_relations: Annotated[
        Items[Text],
        said(
            "形状关系", "Shape relations",
            "张量之间形状的约束，如 A[1] == B[0]；张量多于一个时要写。",
            "What must hold between shapes, like A[1] == B[0]; needed with more than one tensor.",
            template=[], default_factory=list, examples=["A[1] == B[0]"],
        ),
    ]  # fmt: skip


class Semantics(Section):
    """What the operator means, without tile sizes and core counts."""

    local_compute: Annotated[
        Text,
        said(
            "本地计算", "Local compute",
            "通信之外每个 PE 算什么；没有就写无计算。不写 tile、核数。",
            "What each PE computes besides communicating, or that it computes nothing. No tiles, no core counts.",
        ),
    ]  # fmt: skip
    communication: Annotated[
        Text,
        said(
            "通信", "Communication",
            "谁的哪些数据到谁那里，用什么信号告知；不写 tile、核数。",
            "Whose data goes to whom and how the receiver learns of it. No tiles, no core counts.",
        ),
    ]  # fmt: skip
    finalize: Annotated[
        Text,
        said(
            "收尾", "Finalise",
            "返回之前要等什么、恢复什么。",
            "What is waited for and restored before the operator returns.",
        ),
    ]  # fmt: skip
    result: Annotated[
        Text,
        said(
            "结果", "Result",
            "结束后每个 PE 的输出里是什么；golden 按它来算。",
            "What stands in each PE's output at the end; the golden is computed from this.",
        ),
    ]  # fmt: skip
