"""What the batch verifier says of cases."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    # Selection.
    "c-no-bench": (
        "没有用例文件夹 {path}；用 bench_dir（或 --bench-dir）给出 level1 等所在的文件夹",
        "there is no folder of cases {path}; name the folder that has level1 and so on with bench_dir (or --bench-dir)",
    ),
    "c-nothing-selected": (
        "cases 没有选中任何东西；写成 level1=19_ReLU、level1=1:40 或 level1=（整个 level）",
        "cases selects nothing; write level1=19_ReLU, level1=1:40 or level1= (the whole level)",
    ),
    "c-no-equals": (
        "cases 里的 {piece!r} 缺少“=”；写成 level=用例，例如 level1=19_ReLU，整个 level 写 level1=",
        "{piece!r} in cases has no '='; write level=cases, like level1=19_ReLU, or level1= for the whole level",
    ),
    "c-no-level-name": (
        "cases 里的 {piece!r} 在“=”之前没有 level 文件夹名",
        "{piece!r} in cases has no folder of a level before its '='",
    ),
    "c-level-twice": (
        "cases 里 {level} 写了两次；把它的用例写在一处，用逗号分开",
        "cases names {level} twice; write its cases in one place, with commas between them",
    ),
    "c-no-level": (
        "{path} 下没有文件夹 {level}；现有：{there}",
        "there is no folder {level} in {path}; there are: {there}",
    ),
    "c-empty-level": ("{path} 里没有 .py 用例", "there is no .py case in {path}"),
    "c-bad-range": (
        "{level} 的范围 {piece!r} 要写成“数字:数字”，例如 1:40",
        "the range {piece!r} of {level} has to be number:number, like 1:40",
    ),
    "c-range-down": (
        "{level} 的范围 {piece!r} 是倒的；写成 {turned}",
        "the range {piece!r} of {level} runs downwards; write {turned}",
    ),
    "c-unknown-cases": (
        "{level} 里没有用例 {cases}；现有：{there}",
        "{level} has no case {cases}; there are: {there}",
    ),
    # Configuration.
    "c-no-config": ("{path}：读不了（{why}）", "{path}: cannot be read ({why})"),
    "c-large-config": ("{path}：超过 {most} 字节，不像一份配置", "{path}: more than {most} bytes, which no configuration has"),
    "c-not-text": ("{path}：不是文本（UTF-8、UTF-16、GBK 都不是）；存成 UTF-8", "{path}: is no text (neither UTF-8, UTF-16 nor GBK); save it as UTF-8"),
    "c-control": ("{where}：有一个 YAML 不允许的控制字符；删掉它", "{where}: a control character that YAML does not allow; delete it"),
    "c-not-yaml": ("{where}：不是合法的 YAML（{why}）", "{where}: is not YAML ({why})"),
    "c-tab": ("{where}：YAML 不能用制表符缩进；换成空格", "{where}: YAML cannot be indented by tabs; use blanks"),
    "c-too-many": ("{where}：值太多，或别名展开后太多", "{where}: too many values, or too many once aliases are filled in"),
    "c-too-deep": ("{where}：层次太深", "{where}: nested too deeply"),
    "c-no-mapping": ("{where}：配置要由“键: 值”组成", "{where}: a configuration is made of 'key: value'"),
    "c-twice": ("{where}：{name} 写了两次，第一次在第 {line} 行；删掉一处", "{where}: {name} is there twice, first in line {line}; delete one"),
    "c-documents": ("{where}：这里又开始了一份文档（---）；一份配置只能有一份", "{where}: another document begins here (---); a configuration is one"),
    "c-alias": ("{where}：这个别名没有对应的锚点", "{where}: this alias has no anchor"),
    "c-complex-key": ("{where}：键只能是文字", "{where}: a key has to be a text"),
    "c-unknown-near": ("{where}：没有 {name} 这个键；是不是 {near}？", "{where}: there is no key {name}; did you mean {near}?"),
    "c-unknown": ("{where}：没有 {name} 这个键；这里可以写：{known}", "{where}: there is no key {name}; known here are: {known}"),
    "c-want-section": ("{where}：{name} 下面要写“键: 值”，不是 {given}；可以写：{known}", "{where}: {name} has keys below it, and is not {given}; known are: {known}"),
    "c-want-bool": ("{where}：{name} 要写 true 或 false，不是 {given}", "{where}: {name} is true or false, not {given}"),
    "c-want-integer": ("{where}：{name} 要写整数，不是 {given}", "{where}: {name} is a whole number, not {given}"),
    "c-want-number": ("{where}：{name} 要写数字，不是 {given}", "{where}: {name} is a number, not {given}"),
    "c-want-least": ("{where}：{name} 至少是 {least}，不是 {given}", "{where}: {name} is at least {least}, not {given}"),
    "c-want-above": ("{where}：{name} 要大于 {least}，不是 {given}", "{where}: {name} is more than {least}, not {given}"),
    "c-want-text": ("{where}：{name} 要写文字，不是 {given}", "{where}: {name} is a text, not {given}"),
    "c-want-choice": ("{where}：{name} 只能是 {choices}，不是 {given}", "{where}: {name} is one of {choices}, not {given}"),
    "c-want-devices": ('{where}：{name} 要写设备编号，如 [0, 1] 或 "0,1"，不是 {given}', '{where}: {name} has numbers of devices, like [0, 1] or "0,1", not {given}'),
    "c-want-words": ("{where}：{name} 要写成参数列表，如 [ssh, node1]，不是 {given}", "{where}: {name} is a list of arguments, like [ssh, node1], not {given}"),
    "c-want-hosts": ("{where}：{name} 要写机器，每台有 name、prefix、devices，不是 {given}", "{where}: {name} has hosts, each with name, prefix and devices, not {given}"),
    "c-device-twice": ("{where}：{name} 里设备 {device} 写了两次", "{where}: {name} has device {device} twice"),
    "c-host-name": ("{where}：{name} 的 name 要由字母、数字、点和横线组成，不是 {given!r}；有 prefix 的机器必须有名字", "{where}: the name of {name} is made of letters, digits, dots and dashes, not {given!r}; a host with a prefix needs one"),
    "c-host-twice": ("{where}：{name} 里有两台机器都叫 {host!r}", "{where}: {name} has two hosts called {host!r}"),
    "c-placeholder": ("{where}：{name} 里的 {given} 没有东西可填；可用：{known}", "{where}: nothing is filled in for {given} in {name}; there are: {known}"),
    "c-no-bench-dir": ("{where}：没有说用例在哪里；写 bench_dir，即 level1 等所在的文件夹", "{where}: does not say where the cases are; give bench_dir, the folder that has level1 and so on"),
    "c-no-repo": ("{where}：pypto.repo_root 指的文件夹 {repo} 不存在", "{where}: pypto.repo_root names {repo}, and there is no such folder"),
    "c-no-opencode": (
        "{where}：pypto 这一节表示用 opencode 生成，它要在有 .opencode 的 PyPTO 仓库里运行，而 repo_root 是 {repo}；改 repo_root，或用 generator.command 换一个程序，或写 skip_pypto_gen: true 只做验证",
        "{where}: a section pypto means that opencode generates, which runs in a PyPTO repository with .opencode, and repo_root is {repo}; name one, or another program with generator.command, or verify only with skip_pypto_gen: true",
    ),
    "c-workdir": ("{where}：pypto.workdir_root 要是仓库里的相对路径，不是 {given!r}", "{where}: pypto.workdir_root is a path inside the repository, not {given!r}"),
    "c-unused": ("{where}：这些键在这里不起作用：{names}", "{where}: these keys change nothing here: {names}"),
    "c-verifies-itself": ("{where}：verifier_mode: opencode 不起作用，验证由 opdev 自己做", "{where}: verifier_mode: opencode changes nothing, opdev verifies itself"),
    "c-own-command": ("{where}：generator.command 里没有 {{model}}，所以 opencode_bin 和 opencode_model 不起作用", "{where}: opencode_bin and opencode_model change nothing, as generator.command has no {{model}}"),
    # Case files.
    "c-case-lacks": ("{where}：用例缺少 {names}；KernelBench 形式的用例要有类 Model、函数 get_inputs 和 get_init_inputs", "{where}: the case lacks {names}; one in the form of KernelBench has a class Model and functions get_inputs and get_init_inputs"),
    "c-case-no-forward": ("{where}：Model 没有 forward，也没有基类可以继承它", "{where}: Model has no forward, and no base to have it from"),
    "c-case-unreadable": ("{where}：读不了（{why}）", "{where}: cannot be read ({why})"),
    "c-case-large": ("{where}：超过 {most} 字节，不像一个用例", "{where}: more than {most} bytes, which no case has"),
    "c-case-encoding": ("{where}：不是它自己声明的编码（默认 UTF-8）：{why}", "{where}: is not in the encoding it names (UTF-8 by default): {why}"),
    "c-case-syntax": ("{where}：Python 语法错误：{why}", "{where}: syntax error: {why}"),
    "c-not-torch": ("{where}：用例是 {framework} 写的，不会运行它来探测形状", "{where}: the case is written for {framework}, and is not run to learn its shapes"),
    "c-computed": ("{where}：{name} 不是字面量，运行用例也没有得到它，忽略", "{where}: {name} is no literal and running the case did not show it; it is left out"),
    "c-formula": ("{where}：FORMULA 不是文字，忽略", "{where}: FORMULA is no text, and is left out"),
    "c-axes": ("{where}：DYNAMIC_AXIS 不是文字列表，忽略", "{where}: DYNAMIC_AXIS is no list of texts, and is left out"),
    "c-cases-text": ("{where}：CASES 不是文字，忽略", "{where}: CASES is no text, and is left out"),
    "c-cases-json": ("{where}：CASES 既不是 JSON，也不是每行“- JSON”，忽略（{why}）", "{where}: CASES is neither JSON nor lines of '- JSON', and is left out ({why})"),
    "c-cases-list": ("{where}：CASES 不是用例列表，忽略", "{where}: CASES is no list of cases, and is left out"),
    "c-cases-many": ("{where}：CASES 超过 {most} 个用例，忽略", "{where}: CASES has more than {most} cases, and is left out"),
    "c-cases-shape": ("{where}：CASES 的第 {number} 个用例不是形状列表（形状是非负整数的列表），CASES 忽略", "{where}: case {number} of CASES is no list of shapes (lists of whole numbers from 0), and CASES is left out"),
    "c-cases-count": ("{where}：CASES 的第 {number} 个用例有 {has} 个形状，而输入有 {inputs} 个，CASES 忽略", "{where}: case {number} of CASES has {has} shapes for {inputs} inputs, and CASES is left out"),
    # What running a case shows.
    "c-probe-failed": ("{where}：运行到 {step} 时失败，形状没有探测全：{why}", "{where}: failed at {step}, so not all shapes are known: {why}"),
    "c-probe-timeout": ("{where}：运行到 {step} 时超过 {seconds} 秒，形状没有探测全", "{where}: took more than {seconds} s at {step}, so not all shapes are known"),
    "c-probe-stopped": ("{where}：探测被停止", "{where}: was stopped while it was run for its shapes"),
    "c-probe-ended": ("{where}：运行到 {step} 时进程结束（{how}），形状没有探测全", "{where}: its process ended at {step} ({how}), so not all shapes are known"),
    "c-probe-start": ("启动不了 {python}，没有探测形状：{why}", "{python} does not start, so no shapes are known: {why}"),
    "c-outputs-skipped": ("输出的形状没有探测：要用 {elements} 个元素计算，多于 {most}", "the shapes of outputs are not known: {elements} elements would have to be computed with, more than {most}"),
    "c-other-inputs": ("有的输入不是张量：{what}", "some inputs are no tensors: {what}"),
    "c-other-outputs": ("有的输出不是张量：{what}", "some outputs are no tensors: {what}"),
}  # fmt: skip
