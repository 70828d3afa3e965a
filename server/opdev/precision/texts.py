"""What ``opdev precision`` says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.precision.model import Both
from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    # Command line
    "help": (
        "按精度标准判定输出：给出 golden 与输出，或判定一个算子最近一次的输出（--op）。退出码：0 通过，1 不通过，2 用法有误或读不了。",
        "Judge outputs by a precision standard: those named, or an operator's last ones (--op). Exit status: 0 pass, 1 fail, 2 usage or unreadable.",
    ),
    "h-op": ("算子目录（默认当前目录）：判定它最近一次的输出", "the operator's folder (default: the current one), whose last outputs are judged"),
    "h-run": (
        "查看一次运行里每个用例的判断（--case 只看一个），见 opdev precision --run last --help",
        "what was judged of each case of a run (--case for one of them); see `opdev precision --run last --help`",
    ),
    "h-golden": (
        "golden：文件、目录（golden.bin、golden_pe<n>.bin、golden_<结果>_pe<n>.bin 或 rank_<n>/golden_<结果>.bin），或含 {pe} 的路径；.bin、.npy、.pt",
        "the golden: a file, a folder (golden.bin, golden_pe<n>.bin, golden_<result>_pe<n>.bin or rank_<n>/golden_<result>.bin), or a path with {pe}; .bin, .npy, .pt",
    ),
    "h-output": (
        "输出：文件、目录（output_pe<n>.bin、<结果>_pe<n>.bin 或 <结果>_<n>.bin，每个结果都判断），或含 {pe} 的路径",
        "the output: a file, a folder (output_pe<n>.bin, <result>_pe<n>.bin or <result>_<n>.bin; every result is judged), or a path with {pe}",
    ),
    "h-standard": ("精度标准（默认 shmem）", "the precision standard (default: shmem)"),
    "h-dtype": (
        "输出的 dtype；.bin 必须给，--op 下取自 config.json；每个 PE 有几个结果时可分别给：float16,assist_info=int32",
        "the output's dtype; raw .bin files need it, with --op it is in config.json; for several results of a PE: float16,assist_info=int32",
    ),
    "h-golden-dtype": ("golden 的 dtype（默认与输出相同）", "the golden's dtype (default: the output's)"),
    "h-judge-dtype": (
        "按哪个 dtype 的限值判定（默认输出的 dtype）：float16 的结果存成 float32 时用",
        "the dtype whose limits hold (default: the output's): for float16 results stored as float32",
    ),
    "h-shape": ("形状，如 8,1024；坐标与热力图按它显示", "the shape, as 8,1024; coordinates and heat map follow it"),
    "h-op-type": ("SHMEM 标准的类别（默认由 --op-kind、--op-name 与 dtype 得出）", "class of the SHMEM standard (default: follows from --op-kind, --op-name and dtype)"),
    "h-op-kind": ("算子类型：transport、collective、compute、fused_compute_comm", "kind of the operator: transport, collective, compute, fused_compute_comm"),
    "h-op-name": ("算子名，如 reduce_scatter；比算子类型优先", "name of the operator, as reduce_scatter; wins over its kind"),
    "h-compute-times": ("累加次数：PE 数 × 每个 PE 上累加的元素数；不给时取宽的一档", "accumulations: PEs × elements accumulated on each; without it the wider of the two tolerances holds"),
    "h-rtol": ("更严的 rtol（atol 相等）；比标准松则拒绝", "a tighter rtol (atol is equal); one looser than the standard's is refused"),
    "h-equal-inf": ("golden 设计上会有 Inf（只限 float16）：两边相同的 Inf 算相等", "the golden has Inf by design (float16 only): the same Inf on both sides counts as equal"),
    "h-torch-output": ("参考判定：同样输入的 Torch 结果，写法与 --output 相同", "second pass: what Torch makes of the same input, given as --output is"),
    "h-data": ("--op 下数据目录（有 config.json 的那个；默认最新的）", "with --op: the data folder (with config.json; default: the newest)"),
    "h-outputs": ("--op 下输出目录（默认与数据目录对应的）", "with --op: the output folder (default: the one that goes with the data)"),
    "h-pes": ("PE 数；--output 含 {pe} 时默认到第一个没有的文件为止", "number of PEs; with {pe} in --output the default is up to the first missing file"),
    "h-mismatches": ("列出多少个超差元素（默认 10）", "how many elements out of tolerance are listed (default 10)"),
    "h-format": ("text、json（--print-schema 有说明）或 html（独立文件，不联网）", "text, json (see --print-schema) or html (one file, no network)"),
    "h-write": ("写到文件（默认标准输出）", "write to a file (default: standard output)"),
    "h-torch-python": ("读 .pt 用的 Python（默认 PYTHON_CMD，再是自己的）", "the Python that reads .pt files (default: PYTHON_CMD, else its own)"),
    "h-lang": ("语言", "language"),
    "h-schema": ("输出 JSON 的 JSON Schema", "print the JSON Schema of the JSON output"),
    # Errors
    "no-numpy": ("需要 numpy：pip install 'opdev[precision]'（{why}）", "numpy is needed: pip install 'opdev[precision]' ({why})"),
    "bad-config": ("配置有误：{why}", "configuration: {why}"),
    "both-given": ("--golden 与 --output 要一起给", "--golden and --output go together"),
    "not-with-files": ("{option} 只用于 --op", "{option} is for --op"),
    "not-with-pypto": ("PyPTO 的方案 A 没有可调的参数：去掉 {option}", "PyPTO's scheme A has nothing to set: leave out {option}"),
    "bad-shape-text": ("形状不是逗号分隔的非负整数：{text}", "the shape is not whole numbers with commas: {text}"),
    "bad-number": ("不是正整数：{text}", "not a whole number above 0: {text}"),
    "bad-rtol": ("rtol 不是非负有限数：{text}", "rtol is no finite number from 0 on: {text}"),
    "two-dtypes": ("--dtype 给了两个不带名字的类型：{first}、{second}；给单个结果的写成 <结果>={second}", "--dtype has two types without a name: {first}, {second}; for one result write <result>={second}"),
    "no-such-result": ("--dtype：没有叫 {name} 的结果；有 {known}", "--dtype: no result is called {name}; there are {known}"),
    "bad-dtype": ("不认识的 dtype {dtype}；可以是 {known}", "unknown dtype {dtype}; known are {known}"),
    "missing": ("{path}：没有这个文件；先运行算子，或检查路径", "{path}: no such file; run the operator first, or check the path"),
    "not-a-file": ("{path}：不是文件", "{path}: not a file"),
    "unreadable": ("{path}：读不了：{why}", "{path}: cannot be read: {why}"),
    "empty": ("{path}：是空的，没有可比的元素；看算子是否写了结果", "{path}: is empty, there is nothing to compare; see whether the operator wrote its result"),
    "cut-short": ("{path}：文件不完整，比应有的短；看写它的进程是否中断", "{path}: is cut short, smaller than it has to be; see whether the process that wrote it was ended"),
    "dtype-needed": ("{path}：裸数据不带类型，请给 --dtype", "{path}: raw data does not say its type: give --dtype"),
    "not-whole": (
        "{path}：{size} 字节不是 {dtype}（每个 {each} 字节）的整数倍：dtype 不对，或文件不完整",
        "{path}: {size} bytes are no whole number of {dtype} ({each} bytes each): the dtype is wrong, or the file is cut short",
    ),
    "bad-shape": (
        "{path}：形状 {shape} 是 {wanted} 个元素，文件里有 {count} 个 {dtype}",
        "{path}: the shape {shape} is {wanted} elements, the file has {count} of {dtype}",
    ),
    "fortran-shape": ("{path}：按列存的 .npy 不能改形状：文件里是 {found}，要求 {shape}", "{path}: a column-major .npy keeps its shape: it is {found}, asked was {shape}"),
    "bad-npy": ("{path}：不是完好的 .npy：{why}", "{path}: no sound .npy: {why}"),
    "void-dtype": ("{path}：.npy 里是 2 字节的未知类型；是 bfloat16 就给 --dtype bfloat16", "{path}: the .npy has an unknown type of 2 bytes; if it is bfloat16, give --dtype bfloat16"),
    "npy-dtype": ("{path}：类型 {dtype} 不能比较", "{path}: the type {dtype} cannot be compared"),
    "other-dtype": ("{path}：文件里是 {found}，要求的是 {dtype}", "{path}: the file has {found}, asked was {dtype}"),
    "no-torch": (
        "{path}：读 .pt 要有 torch，{python} 里没有（{why}）；用 --torch-python 指定有 torch 的 Python，或存成 .npy、.bin",
        "{path}: reading .pt takes torch, which {python} lacks ({why}); name a Python that has it with --torch-python, or save as .npy or .bin",
    ),
    "bad-pt": ("{path}：torch 读不了：{why}", "{path}: torch cannot read it: {why}"),
    "bad-op-type": ("{path}：op_type {op_type} 不是标准里的类别；可以是 {known}", "{path}: op_type {op_type} is no class of the standard; known are {known}"),
    "bad-times": ("{path}：compute_times {times} 不是正整数", "{path}: compute_times {times} is no whole number above 0"),
    "no-limit": ("标准对 {dtype} 的 {op_type} 没有限值；换 --op-type 或检查 dtype", "the standard has no limit for {op_type} in {dtype}; choose another --op-type or check the dtype"),
    "no-scheme": ("方案 A 没有 {dtype} 的限值", "scheme A has no limits for {dtype}"),
    "looser": (
        "rtol {rtol} 比标准松：{dtype} 的 {op_type} 至多 {standard}；标准不能放宽",
        "rtol {rtol} is looser than the standard: {op_type} in {dtype} allows {standard}; the standard cannot be loosened",
    ),
    "equal-inf": ("只有 float16 可以设计成有 Inf，这里是 {dtype}", "only float16 may have Inf by design, this is {dtype}"),
    "golden-not-finite": (
        "{path}：golden 的第 {index} 个元素是 NaN 或 Inf（NaN {nan} 个，Inf {inf} 个），判不出对错；先修 golden",
        "{path}: element {index} of the golden is NaN or Inf ({nan} NaN, {inf} Inf): it cannot tell right from wrong; mend the golden first",
    ),
    "golden-nothing": ("{path}：golden 里没有一个有限的数，没有可比的", "{path}: the golden has no finite number, there is nothing to compare"),
    "no-elements": ("{path}：没有元素，没有可比的", "{path}: has no elements, there is nothing to compare"),
    "no-operator": ("{path}：不是算子目录；用 --op 指定，或用 --golden 与 --output 指定文件", "{path}: no operator's folder; name one with --op, or files with --golden and --output"),
    "no-data": (
        "{path}：没有可判定的数据（data/**/config.json）；先运行 scripts/run.sh，或用 --golden 与 --output 指定文件",
        "{path}: nothing to judge (data/**/config.json); run scripts/run.sh first, or name files with --golden and --output",
    ),
    "bad-config-json": ("{path}：{why}；重新生成数据", "{path}: {why}; make the data anew"),
    "no-outputs": ("没有输出：{tried}；先运行算子", "no outputs: {tried}; run the operator first"),
    "no-pairs": (
        "{path}：没有认得出 PE 的输出，如 output_pe0.bin、expand_x_0.bin；算子没有写结果，或文件名要改",
        "{path}: no output whose name says its PE, as output_pe0.bin or expand_x_0.bin; the operator wrote nothing, or call its files so",
    ),
    "same-golden": ("{path}：输出与 golden 是同一个文件，比不出对错", "{path}: is output and golden at once, which tells nothing"),
    "same-reference": ("{path}：输出与 Torch 的结果是同一个文件，比不出对错", "{path}: is the output and Torch's result at once, which tells nothing"),
    "output-alone": ("{path}：没有它的 golden；{folder} 里要有 {name}", "{path}: has no golden; {folder} needs {name}"),
    "golden-alone": ("{path}：{folder} 里没有它的输出；算子没有写这个结果，或文件名不对应", "{path}: has no output in {folder}; the operator did not write this result, or their names do not go together"),
    "two-files": ("{second} 与 {first} 是同一个 PE 的同一个结果；删掉不用的那个", "{second} and {first} are the same result of the same PE; remove the one that does not count"),
    "pe-unsaid": ("{path}：文件名里没有 PE 号，旁边的文件却有；改名如 <结果>_pe0.bin，或移走", "{path}: its name says no PE while others beside it do; call it <result>_pe0.bin, or move it away"),
    "unknown-layout": (
        "{path}：认不出是哪个 PE 的哪个结果；文件名要像 output_pe0.bin、<结果>_pe0.bin 或 <结果>_0.bin，golden 是 golden_<结果>_pe0.bin 或 rank_0/golden_<结果>.bin",
        "{path}: which result of which PE it is cannot be told; names go as output_pe0.bin, <result>_pe0.bin or <result>_0.bin, goldens as golden_<result>_pe0.bin or rank_0/golden_<result>.bin",
    ),
    "several-names": ("{path}：有几个不同的结果（{names}），一个 golden 对不上；--golden 给目录", "{path}: has several results ({names}), one golden is not enough; give --golden a folder"),
    "many-files": ("{path}：有 {count} 个文件，至多看 {most} 个；给出输出所在的目录", "{path}: has {count} files, at most {most} are looked at; name the folder of the outputs"),
    "which-dtype": (
        "{path}：不知道 {name} 的类型；写进 design.md 的 interface.outputs 或 config.json 的 outputs，或给 --dtype {name}=int32",
        "{path}: the dtype of {name} is not known; say it in interface.outputs of design.md or outputs of config.json, or give --dtype {name}=int32",
    ),
    "pe-gap": ("{path}：有 PE {there} 的输出，却没有 PE {missing} 的", "{path}: there is an output of PE {there}, but none of PE {missing}"),
    "several-outputs": ("{path}：输出有 {output} 个张量，golden 有 {golden} 个", "{path}: the output has {output} tensors, the golden {golden}"),
    "none-output": ("输出与 golden 只有一边是 None", "one of output and golden is None"),
    "no-write": ("{path}：写不了：{why}", "{path}: cannot be written: {why}"),
    # Limits
    "source-standard": ("SHMEM 精度标准：{dtype} 的 {op_type}，rtol = atol = {value}", "SHMEM precision standard: {op_type} in {dtype}, rtol = atol = {value}"),
    "times-unknown": ("（累加次数未知，取 ≥ {turn} 的一档）", " (accumulations not known: the value for {turn} and more)"),
    "times-known": ("（累加 {times} 次）", " ({times} accumulations)"),
    "tightened": ("；收紧到 {value}", "; tightened to {value}"),
    "source-scheme": ("PyPTO 方案 A，{dtype}，固定限值", "PyPTO scheme A, {dtype}, fixed limits"),
    "source-exact": ("PyPTO 方案 A：{dtype} 逐位相等", "PyPTO scheme A: {dtype} has to be equal"),
    # Reasons
    "r-size": ("元素数不同：输出 {output} 个，golden {golden} 个", "another number of elements: {output} in the output, {golden} in the golden"),
    "r-shape": ("形状不同：输出 {output}，golden {golden}", "another shape: {output} in the output, {golden} in the golden"),
    "r-dtype": ("类型不同：输出是 {output}，golden 是 {golden}", "another type: the output is {output}, the golden {golden}"),
    "r-not-finite": ("输出有 NaN {nan} 个、Inf {inf} 个", "the output has {nan} NaN and {inf} Inf"),
    "r-precision": ("{wrong} 个元素超差，precision_percent = {percent}，须为 100", "{wrong} elements out of tolerance: precision_percent = {percent}, has to be 100"),
    "r-eb": ("误差偏向一侧：eb = {eb:.6e}，至多 {limit:.6e}", "the errors lean to one side: eb = {eb:.6e}, at most {limit:.6e}"),
    "r-ratio": ("matched_ratio = {ratio:.6f}，至少 {limit}", "matched_ratio = {ratio:.6f}, at least {limit}"),
    "r-equal": ("{wrong} 个元素不相等，须全部相等", "{wrong} elements differ, all have to be equal"),
    "r-max-abs": ("max_abs_error = {value:.6e}，至多 {limit}", "max_abs_error = {value:.6e}, at most {limit}"),
    "r-nan": ("{count} 处只有一边是 NaN", "{count} positions are NaN on one side only"),
    "r-inf": ("{count} 处是异号的 Inf", "{count} positions are Inf of opposite sign"),
    "r-reference": ("参考判定也未通过：{which}", "the second pass fails too: {which}"),
    "r-sentinel": ("有效的 {received} 个元素之后被改写，须保持 0xFF", "written past the {received} elements that count: what follows has to stay 0xFF"),
    "r-other": ("结果个数不同", "another number of outputs"),
    "ref-not-finite": ("有 NaN 或 Inf", "NaN or Inf"),
    "ref-zero": ("参考全是 0，没有算出东西", "the reference is all zero: nothing was computed"),
    "ref-size": ("参考有 {count} 个元素，应为 {wanted}", "the reference has {count} elements, {wanted} are needed"),
    # Notes
    "n-inf-equal": ("{count} 处两边是相同的 Inf，算相等", "{count} positions have the same Inf on both sides and count as equal"),
    "n-nan-equal": ("{count} 处两边都是 NaN，方案 A 算匹配", "{count} positions are NaN on both sides, which scheme A counts as matched"),
    "n-reference": ("标准要求这类算子做参考判定：用 --torch-output 给出 Torch 的结果", "the standard wants the second pass for this kind of operator: give Torch's result with --torch-output"),
    "n-by-reference": ("基本判定未通过，参考判定通过", "the first pass fails, the second passes"),
    "n-twice": ("golden 的字节数正好是输出的 {times} 倍：也许要 --golden-dtype {dtype}", "the golden has exactly {times} times the output's bytes: perhaps --golden-dtype {dtype}"),
    "n-data": ("数据：{data}；输出：{output}", "data: {data}; outputs: {output}"),
    "n-older": ("输出比 golden 旧：也许是上一次运行留下的", "the output is older than its golden: perhaps left by an earlier run"),
    "n-design-loose": ("design.md 的 rtol {rtol} 比标准松，按标准 {standard} 判定", "rtol {rtol} of design.md is looser than the standard; judged by the standard's {standard}"),
    "n-design": ("design.md 的 rtol {rtol} 比标准严，按它判定", "rtol {rtol} of design.md is tighter than the standard and holds"),
    "n-no-design": ("design.md 没有写明算子类型：按名字判断类别", "design.md does not say the kind of operator: the class follows from its name"),
    "n-unjudged": ("没有判断（没有它的 golden，也认不出 PE）：{paths}", "not judged (no golden, and no PE in the name): {paths}"),
    "n-op-type": ("类别 {op_type} 取自 {where}", "the class {op_type} is from {where}"),
    "n-times": ("累加次数 {times} 取自 {where}", "{times} accumulations are from {where}"),
    "n-times-made": ("累加次数没有写明，按标准算：{pes} 个 PE × {elements} 个元素 = {times}", "the accumulations are not written down; by the standard: {pes} PEs × {elements} elements = {times}"),
    "n-times-none": (
        "累加次数没有写明，也算不出来，按 ≥ 2048 的一档（较宽）判断；写进 config.json 或 cases.json 的 compute_times，或给 --compute-times",
        "the accumulations are neither written down nor follow from the data: the wider tolerance, for 2048 and more, holds; say compute_times in config.json or cases.json, or give --compute-times",
    ),
    "n-received": ("只比较有效的 {received} 个元素", "only the {received} elements that count are compared"),
    "engine": ("numpy，{workers} 个线程，float64；torch 只用于读 .pt（实测加载 torch 比整个比较还久）", "numpy, {workers} threads, float64; torch only reads .pt files (loading it was measured to take longer than the whole comparison)"),
    # After a run
    "s-older": ("{path} 比这次运行旧：这次没有写它，没有判断", "{path} is older than this run, which did not write it: not judged"),
    "s-more": ("（还有 {count} 个输出）", "({count} more outputs)"),
    "s-case": ("{passed}/{all} 个输出通过，MaxAE {abs}，MaxRE {rel}", "{passed} of {all} outputs, MaxAE {abs}, MaxRE {rel}"),
    "s-first": ("首个在 {place}：实际 {actual}，应为 {expected}", "the first at {place}: {actual} instead of {expected}"),
    "s-and": ("；", "; "),
    # Text output
    "t-standard": ("标准", "standard"),
    "t-limits": ("限值", "limits"),
    "t-verdict": ("判定", "verdict"),
    "t-elements": ("元素", "elements"),
    "t-wrong": ("超差", "wrong"),
    "t-first": ("超差的元素（前 {shown} 个，共 {count} 个）", "out of tolerance (first {shown} of {count})"),
    "t-actual": ("实际", "actual"),
    "t-expected": ("应为", "expected"),
    "t-difference": ("相差", "off by"),
    "t-allowed": ("允许", "allowed"),
    "t-tiles": ("最差的块（行 × 列）", "worst tiles (rows × columns)"),
    "t-hypotheses": ("可能的原因（假设，待核实）", "possible causes (hypotheses, to be checked)"),
    "t-evidence": ("依据", "evidence"),
    "t-strong": ("较有把握", "likely"),
    "t-weak": ("供参考", "perhaps"),
    "t-engine": ("引擎", "engine"),
    "t-sim": ("结果来自 CPU 模拟（backend: sim），不代表 NPU", "the outputs come from the CPU stand-in (backend: sim) and say nothing about an NPU"),
    "t-basic": ("基本判定", "first pass"),
    "t-reference": ("参考判定", "second pass"),
    "t-output": ("输出", "output"),
    "t-total": ("{passed}/{all} 个输出通过，用时 {seconds:.2f} s", "{passed} of {all} outputs pass, {seconds:.2f} s"),
    "t-pass": ("通过", "pass"),
    "t-fail": ("不通过", "fail"),
    "t-error": ("无法判定", "error"),
    "t-title": ("精度报告", "Precision report"),
    "t-absolute": ("绝对误差 |a−g| 的分布", "Absolute error |a−g|"),
    "t-relative": ("相对误差 |a−g| / |g| 的分布", "Relative error |a−g| / |g|"),
    "t-exact": ("{count} 个无误差", "{count} without error"),
    "t-uncompared": ("，{count} 个是 NaN/Inf", ", {count} NaN/Inf"),
    "t-heat": ("最大误差的位置（{rows} × {columns}，一格 {high} × {wide}）", "Where the largest errors are ({rows} × {columns}, a cell is {high} × {wide})"),
    "t-heat-row": ("行 {a}–{b}", "rows {a}–{b}"),
    "t-none": ("没有误差", "no errors"),
    "t-table": ("每个输出", "Each output"),
}  # fmt: skip


class PrecisionError(Exception):
    """What keeps an output from being judged, or a wrong use; ``text`` is what the user reads."""

    def __init__(self, key: str, **values: object) -> None:
        self.key = key
        self.text = both(key, **values)
        super().__init__(self.text.en)


def say(key: str, lang: Lang, **values: object) -> str:
    """A text in one language."""
    found = _TEXTS[key][0 if lang == "zh" else 1]
    return found.format(**values) if values else found


def both(key: str, **values: object) -> Both:
    """A text in both languages."""
    return Both(say(key, "zh", **values), say(key, "en", **values))


def said(text: Both, lang: Lang) -> str:
    """One language of a text."""
    return text.zh if lang == "zh" else text.en
