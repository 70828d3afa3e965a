"""Rows of the PyPTO catalogues that have no page, and why: whoever looks one up is told instead of sent away.

A row is left out where nothing in the text decides it, where PyPTO-Pro as it is documented and tested says
otherwise by now, or where the catalogue itself took it back.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Text

_NEVER: Text = {"zh": "原有检查器从未使用这个编号", "en": "the existing linter never gave this number out"}
_GONE: Text = {"zh": "原有检查器已删除这一条", "en": "the existing linter has taken this row back"}

DECISIONS: Mapping[str, Text] = {
    "OL27": _NEVER, "OL35": _NEVER, "OL36": _NEVER, "OL38": _NEVER, "PL06": _GONE, "PL12": _GONE, "PL14": _GONE, "PL17": _GONE,
    "K07": {
        "zh": "文档写明 PACK、PACK4 按掩码写出；不看掩码的是 INTLV，见 masked-interleave-store",
        "en": "PACK and PACK4 are documented to keep to the mask; what does not is INTLV: see masked-interleave-store",
    },
    "K08": {
        "zh": "mrgsort2 的两个源与临时 tile 类型相同，写反了从文字上看不出来",
        "en": "both sources of mrgsort2 and its temporary tile are of one type: that they are swapped is not to be seen in the text",
    },
    "K12": {
        "zh": "标量写出的地址在运行时才知道，文字里判断不了它离 32 字节边界多远",
        "en": "where a scalar is stored is known when the kernel runs: how far that is from a 32-byte boundary the text does not say",
    },
    "K16": {
        "zh": "cmp_dtype 只说明比较的位宽，文档里故意用与寄存器不同的类型，写成哪个都可能是对的",
        "en": "cmp_dtype says how wide the comparison is; the documentation uses one other than the register's on purpose, so any may be right",
    },
    "K17": {
        "zh": "pl.Ptr 指向什么类型由 wrapper 传入的张量决定，核函数里看不到",
        "en": "what a pl.Ptr points at is the tensor the wrapper passes, which the kernel does not show",
    },
    "K19": {
        "zh": "说明 CastLayout 取偶数还是奇数元素，不是错误；掩码宽度与它不配的情况见 mask-of-other-width",
        "en": "it tells which elements a CastLayout takes and is no fault; a mask whose width does not go with it is mask-of-other-width",
    },
    "K27": {
        "zh": "现在的文档写明 load 和 store 都按 make_tensor 的 stride 计算地址，这一条已经不成立",
        "en": "load and store are documented to go by the strides of make_tensor now, so this no longer holds",
    },
    "K31": {
        "zh": "文档对 vf.gt 等的第二个操作数没有这种限制，标量和寄存器都可以；旧版本的缺陷，从文字看不出装的是哪个版本",
        "en": "the documentation has no such limit for the second operand of vf.gt and its kind, number or register; it was a fault of older versions, and which one is installed the text does not say",
    },
    "K34": {
        "zh": "循环次数是不是零取决于运行时的形状；按可能为零报告，几乎每个跨核等待都会被报",
        "en": "whether a loop turns at all is for the shapes of a run to say; told wherever it might not, nearly every wait across cores would be",
    },
    "K35": {
        "zh": "大于零的判断绝大多数就是想这样写，NaN 会不会到这里取决于数据",
        "en": "most tests for more than zero mean just that, and whether a NaN comes here is for the data to say",
    },
    "K40": {
        "zh": "现在的解析器会展开模块里的函数，也认函数体里赋值的地址；它仍不认的语句见 refused-kernel-statement",
        "en": "the parser follows functions of the module now, and takes addresses assigned in the body; what it still refuses is refused-kernel-statement",
    },
    "K42": {
        "zh": "形状和下标都是 64 位整数，PyPTO-Pro 自己的用例到处用 // 计算它们，标量除法能用；寄存器的 64 位运算见 unsupported-register-type",
        "en": "shapes and indices are 64-bit integers, and PyPTO-Pro's own cases divide them everywhere: division of numbers works; 64-bit registers are unsupported-register-type",
    },
    "K46": {
        "zh": "要知道张量在尾块形状下的步长，那只有运行时才有",
        "en": "it takes the strides of the tensor on a tail, which there are only in a run",
    },
    "K49": {
        "zh": "公式里的常数应是逻辑尺寸还是补齐后的尺寸，要看它算的是什么，文字里分不出来",
        "en": "whether a constant of a formula is to be the logical size or the padded one depends on what is computed, which the text does not tell",
    },
}  # fmt: skip
"""Why a row has no page, by its id."""
