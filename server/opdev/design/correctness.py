"""``correctness``: the oracle, how exact the result must be, what must hold, and the cases."""

from typing import Annotated, Any, Literal

from opdev.design.fields import Dtype, Items, MaybeText, Section, Text, Tolerance, choice, said

METHODS = ("rank pattern", "CPU golden", "file golden", "intermediate check")
Category = Literal["functional", "boundary", "stress", "performance"]
Scale = Literal["XS", "S", "M", "L"]


class Tolerances(Section):
    """Relative and absolute tolerance; the standard has them equal."""

    rtol: Annotated[
        Tolerance,
        said(
            "相对误差", "Relative tolerance",
            "数值、2^-k，或按 dtype 的映射；搬运和整数为 0。",
            "A number, 2^-k, or one for each dtype; 0 for moving data and for integers.",
        ),
    ]  # fmt: skip
    atol: Annotated[
        Tolerance,
        said("绝对误差", "Absolute tolerance", "与 rtol 相等。", "Equal to rtol."),
    ]


class Invariant(Section):
    """Something that must hold, and how that is tested."""

    invariant: Annotated[
        Text,
        said("不变量", "Invariant", "要成立的事，如不越界写。", "What must hold, like never writing out of bounds."),
    ]
    test_method: Annotated[
        Text,
        said(
            "验证方式", "Test method",
            "rank pattern、CPU golden、file golden 或 intermediate check。",
            "rank pattern, CPU golden, file golden or intermediate check.",
            template="rank pattern", values=METHODS,
        ),
        choice(METHODS, pattern=r"(?i:rank[ _-]pattern|cpu[ _-]golden|file[ _-]golden|intermediate[ _-]check)"),
    ]  # fmt: skip
    case: Annotated[
        Text,
        said("用例", "Case", "在哪个用例里验证，或 all cases。", "The case that tests it, or all cases."),
    ]


class Case(Section):
    """One row of the case matrix."""

    case: Annotated[Text, said("用例名", "Case", "如 stress_8pe。", "Like stress_8pe.")]
    shape: Annotated[
        Text,
        said("形状", "Shape", "每个 PE 的形状。", "The shape on each PE.", template='"[elements]"'),
    ]
    category: Annotated[
        Category,
        said(
            "类别", "Category",
            "functional、boundary、stress 或 performance；至少各有一个 functional 和 stress。",
            "functional, boundary, stress or performance; at least one functional and one stress.",
            template="functional",
        ),
    ]  # fmt: skip
    n_pes: Annotated[
        int | None,
        said("PE 数", "PEs", "2 和 8 必测，4 建议测。", "2 and 8 are a must, 4 is advised.", template=8, gt=0),
    ] = None
    dtype: Annotated[
        Dtype | None,
        said("数据类型", "Dtype", "已确认的 dtype 之一。", "One of the confirmed dtypes.", template="fp16"),
    ] = None
    scale: Annotated[
        Scale | None,
        said(
            "规模", "Scale",
            "按每个 PE 的字节：XS 小于 64 KB，S 到 1 MB，M 到 64 MB，L 在其上且总量至少 256 MB。",
            "By bytes on each PE: XS below 64 KB, S up to 1 MB, M up to 64 MB, L above, with at least 256 MB in all.",
            template="M",
        ),
    ] = None  # fmt: skip
    special: Annotated[
        Any,
        said("特殊条件", "Special", "尾块、重复次数等。", "Tails, repeats and the like.", template=""),
    ] = None
    purpose: Annotated[MaybeText, said("目的", "Purpose", "测什么。", "What it tests.", template="")] = ""
    note: Annotated[
        MaybeText,
        said("说明", "Note", "未满足的原因等。", "Why something is unmet, or anything else.", template=""),
    ] = ""


class Correctness(Section):
    """How the result is judged."""

    oracle: Annotated[
        Text,
        said(
            "基准", "Oracle",
            "用什么判对错：rank pattern、CPU golden、PyTorch 或文件 golden。",
            "What decides: rank pattern, CPU golden, PyTorch or a golden file.",
            examples=["rank pattern", "CPU golden", "PyTorch", "file golden"],
        ),
    ]  # fmt: skip
    tolerance: Annotated[Tolerances, said("误差", "Tolerance", "rtol 与 atol。", "rtol and atol.")]
    invariants: Annotated[
        Items[Invariant],
        said(
            "不变量", "Invariants",
            "至少一条；各有 invariant、test_method、case。",
            "At least one, each with invariant, test_method and case.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    case_matrix: Annotated[
        Items[Case],
        said(
            "用例矩阵", "Case matrix",
            "至少一个 functional 和一个 stress；中等规模用例总量到 256 MB。",
            "At least one functional and one stress case; a medium case reaches 256 MB in all.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
