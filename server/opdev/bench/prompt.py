"""What a generator is told: where the requirement is, what to write where, and what ``ModelNew`` must keep to.

The rules are those that verification holds an implementation to: one who breaks them has worked for nothing.
"""

from __future__ import annotations

from opdev.bench.model import Case, CaseSpec, Slot

IMPL, BRIDGE, GOLDEN, TEST, SPEC = "{op}_impl.py", "{op}_pypto_impl.py", "{op}_golden.py", "test_{op}.py", "SPEC.md"
"""The files of an operator, by the names that verification and the workflow's own tools look for."""
_RULES = (
    "`{bridge}` 单独成文件，和 `{impl}` 放在同一个目录，里面只有 `ModelNew` 和它要用的 import。",
    "从同目录导入封装函数：`from {op}_impl import …`；不要写 `from custom.…` 这种依赖仓库位置的路径。",
    "`class ModelNew(torch.nn.Module)`，`__init__` 第一句是 `super().__init__()`。",
    "`__init__` 的参数和参考的 `Model` 完全一样：验证时用 `get_init_inputs()` 的返回值构造两者。",
    "`state_dict()` 的键和参考的 `Model` 一个不多、一个不少，顺序也一样。",
    "每个键对应的张量形状和参考的一样。",
    "每个键对应的张量 dtype 和参考的一样。",
    "参数和缓冲区的注册路径照搬参考：子模块的属性名、`nn.Parameter` 还是 `register_buffer` 都不变。",
    "分成两段：`__init__` 只建参数和记下标量，`forward` 只做计算；不要在 `forward` 里建参数，也不要在 `__init__` 里算结果。",
    "`forward` 的参数和参考的一样，函数体只把输入和参数转给 `{op}_impl` 的封装函数；不用 torch 计算，没有 try/except 退路，也没有第二条不经过 kernel 的分支。",
    "输出的个数、次序、形状、dtype 和参考完全一致；标量输出的秩也要一致（参考返回 0 维张量，就返回 0 维张量）。",
    "不导入参考实现（`task_desc.py`、`{golden}`），不改 torch 的任何函数，不改输入张量，不按随机种子或输入内容缓存结果。",
)  # fmt: skip


def required(op: str, *, whole: bool) -> tuple[str, ...]:
    """The files an operator must have: all of a workflow's (``whole``), or only what verification imports."""
    names = (IMPL, GOLDEN, TEST, BRIDGE, SPEC) if whole else (BRIDGE,)
    return tuple(name.format(op=op) for name in names)


def text(case: Case, spec: CaseSpec, folder: str, slot: Slot) -> str:
    """The task, in Chinese as the workflow's own documents are."""
    op = case.op
    names = {"op": op, "impl": IMPL.format(op=op), "bridge": BRIDGE.format(op=op), "golden": GOLDEN.format(op=op)}
    inputs = "；".join(f"{one.name} {list(one.shape)} {one.dtype}" for one in spec.inputs) or "见 REQUIRE.md"
    files = "、".join(f"`{name}`" for name in required(op, whole=True))
    rules = "\n".join(f"{number}. {rule.format(**names)}" for number, rule in enumerate(_RULES, 1))
    return (
        f"用 PyPTO 实现算子 `{op}`（用例 {case.key}）。\n\n"
        f"- 算子目录：`{folder}`，所有文件都写在这里。\n"
        f"- 需求：`{folder}/REQUIRE.md`；参考实现：`{folder}/task_desc.py`。两个文件都不要改。\n"
        f"- 输入：{inputs}\n"
        f"- 设备：{slot.device} 号卡，环境变量 TILE_FWK_DEVICE_ID 已设好，不要改用别的卡。\n"
        f"- 交付：{files}\n\n"
        f"`{names['bridge']}` 里的 `ModelNew` 必须满足：\n\n{rules}\n\n"
        "验证会用别人事先不知道的随机种子重新生成输入，在单独的进程里只运行你的实现，再和参考的输出比较；"
        "没有经过 PyPTO kernel 算出来的输出不算通过。\n"
    )
