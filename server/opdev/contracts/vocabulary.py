"""Values that several contracts share: dtypes, statuses, how a tolerance is written."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.contracts.fields import Field, Pair

DTYPES: Mapping[str, Pair] = {
    "bfloat16": ("2 字节", "2 bytes"), "float16": ("2 字节", "2 bytes"), "float32": ("4 字节", "4 bytes"),
    "float64": ("8 字节", "8 bytes"), "int8": ("1 字节", "1 byte"), "uint8": ("1 字节", "1 byte"),
    "int16": ("2 字节", "2 bytes"), "int32": ("4 字节", "4 bytes"), "int64": ("8 字节", "8 bytes"),
    "bool": ("真假值", "true or false"),
}  # fmt: skip
"""Of the machine contract."""
STATUSES: Mapping[str, Pair] = {
    "pending": ("还没开始", "not begun"),
    "in_progress": ("正在做；同时只能有一个阶段", "worked on; one stage at a time"),
    "completed": ("门禁已过", "its gate was passed"),
    "failed": ("没过，start-stage 可重来", "did not pass; start-stage tries again"),
    "not_started": ("同 pending（旧文件）", "like pending (old files)"),
    "blocked": ("做不下去，等人处理", "cannot go on, somebody has to look"),
    "skipped": ("跳过，算完成", "left out, counts as done"),
}
PARTS: Mapping[str, Pair] = {
    "pending": ("还没开始", "not begun"),
    "in_progress": ("正在写", "being written"),
    "awaiting_verify": ("等验收", "waits for verification"),
    "in_debug": ("验收没过，在改", "did not pass, being mended"),
    "verified": ("已验收", "verified"),
    "blocked": ("失败满次数，停下", "failed too often, stopped"),
    "not_started": ("同 pending（旧文件）", "like pending (old files)"),
}
SCHEME = "pro_scheme_a"
TOLERANCES: Mapping[str, tuple[float, float, float]] = {
    "float16": (2**-9, 2**-9, 0.1), "bfloat16": (2**-6, 2**-6, 1.0), "float32": (2**-10, 2**-16, 0.01),
    "float64": (2**-10, 2**-16, 0.01),
}  # fmt: skip
"""(rtol, atol, greatest error) of scheme A by dtype; of other dtypes results are equal."""


def tensor(key: str, title: Pair, about: Pair, *, required: bool = True, values: Mapping[str, Pair] = DTYPES, value_range: bool = False) -> Field:  # fmt: skip
    """A list of tensors with name, shape and dtype."""
    fields: tuple[Field, ...] = (
        Field("name", "text", ("张量名", "the tensor's name"), ("参数名，用例与接口按它对应", "the parameter's name; cases and modules go by it"), True),
        Field("shape", "list" if value_range else "any", ("形状", "shape"),
              ('符号、整数或算式（+ - * // 和括号），单位为元素；标量写 []，任意秩写 ["..."]', 'symbols, integers or formulas (+ - * // and brackets) in elements; [] is a scalar, ["..."] any rank'), True),
        Field("dtype", "text", ("数据类型", "data type"), ("", ""), True, values),
    )  # fmt: skip
    if value_range:
        fields += (
            Field("value_range", "list", ("取值范围", "range of values"), ("[最小, 最大]，随机输入按它生成", "[least, most]; random inputs are drawn from it"), True, fresh="[-1, 1]"),
            Field("is_list", "flag", ("TensorList", "a list of tensors"), ("为 true 时各用例给出每个成员的形状", "when true, cases give the shape of each member")),
        )  # fmt: skip
    return Field(key, "list", title, about, required, fields=fields)


def tolerance(about: Pair, *, required: bool = True, scheme: bool = False) -> Field:
    """What a result may be off by."""
    fields = [
        Field("atol", "number", ("绝对误差", "absolute error"), ("|结果 − 参考| ≤ atol + rtol × |参考|；不小于 0", "|result - golden| <= atol + rtol * |golden|; 0 or more"), not scheme, fresh="0.001"),
        Field("rtol", "number", ("相对误差", "relative error"), ("不带单位的比值；不小于 0", "a ratio without unit; 0 or more"), not scheme, fresh="0.001"),
    ]  # fmt: skip
    if scheme:
        fields += [
            Field("policy", "text", ("固定方案", "a fixed scheme"), ("单独写；按 dtype 取固定的 rtol、atol 与最大误差，至少 99% 元素达标", "stands alone; rtol, atol and the greatest error by dtype, 99% of elements at least"),
                  values={SCHEME: ("float16 2⁻⁹，bfloat16 2⁻⁶，float32 rtol 2⁻¹⁰ atol 2⁻¹⁶", "float16 2^-9, bfloat16 2^-6, float32 rtol 2^-10 atol 2^-16")}),
            Field("integer_atol", "integer", ("整数误差", "error of integers"), ("整数输出允许的差，默认 0", "what integer outputs may be off by, 0 unless said")),
        ]  # fmt: skip
    else:
        fields += [
            Field(key, "any", (title, title), ("custom_metrics 的一项：三个矩阵要齐全", "of custom_metrics: all three matrices are needed"))
            for key, title in (("mare_matrix", "MARE"), ("mere_matrix", "MERE"), ("rmse_matrix", "RMSE"))
        ]  # fmt: skip
    return Field("tolerance", "object", ("容差", "tolerance"), about, required, fields=tuple(fields),
                 fresh=f'{{"policy": "{SCHEME}"}}' if scheme else '{"atol": 0.001, "rtol": 0.001}')  # fmt: skip
