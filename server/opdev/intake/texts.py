"""What the intake says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

# Remarks on answers.  ``{q}`` names the question.
_REMARKS: Mapping[str, tuple[str, str]] = {
    "missing": ("缺少 {q} 的回答", "there is no answer to {q}"),
    "empty": ("{q} 没有写回答", "{q} has no answer written"),
    "bad-text": ("{q} 的回答太长，或含有不可见字符", "the answer to {q} is too long, or has characters nobody can see"),
    "bad-choice": ("{q} 的回答 {value} 不在可选项里：{choices}", "{value} is no answer to {q}: {choices}"),
    "unknown-question": ("没有 {q} 这个问题{guess}", "there is no question {q}{guess}"),
    "not-text": ("{q} 的回答要写成一个词或一行字", "the answer to {q} is one word or one line"),
    "twice": ("同一个问题答了两次", "a question is answered twice"),
    "unreadable": ("这里读不成 YAML", "this cannot be read as YAML"),
    "uneditable": ("已有的记录用了不能就地修改的写法", "the record there has values in a form that cannot be edited in place"),
    "no-mapping": ("{path}：回答文件每行写“问题: 回答”，opdev intake --print-answers 打印模板", "{path}: an answers file says `question: answer`, one a line; `opdev intake --print-answers` prints one"),
    "too-large": ("{path}：超过 {most} 字节，不像是回答文件", "{path}: more than {most} bytes are no answers file"),
    "bad-name": (
        "算子名 {value} 不可用：小写字母开头，只含小写字母、数字、下划线",
        "{value} is no operator name: lower-case letters, digits and underscores, a letter first",
    ),
    "no-name": ("还不知道算子名：用 --name 给出", "the operator has no name yet: give it with --name"),
    "mode-folder": (
        "算子目录在 {folder}/ 下，回答却是 {value}：换一个回答，或在另一处建算子",
        "the operator's folder lies in {folder}/ and the answer is {value}: answer otherwise, or make the operator elsewhere",
    ),
    "session-unset": (
        "当前 shell 没有 CANN（ASCEND_HOME_PATH 未设置）：先 source set_env.sh 再运行，或给出它的路径；只用 CPU 模拟就写 later",
        "this shell has no CANN (ASCEND_HOME_PATH is not set): source its set_env.sh first, or name its path; for the CPU stand-in alone write `later`",
    ),
    "no-default-cann": ("默认位置都没有 set_env.sh：{places}", "none of the usual places has a set_env.sh: {places}"),
    "relative-cann": ("{value} 不是绝对路径", "{value} is not an absolute path"),
    "not-set-env": ("{value} 不是 set_env.sh", "{value} is not a set_env.sh"),
    "no-cann-file": ("没有 {value} 这个文件", "there is no file {value}"),
    "no-cann-inside": ("容器 {container} 里没有 {value}", "there is no {value} in container {container}"),
    "relative-repo": ("{value} 不是绝对路径", "{value} is not an absolute path"),
    "no-repo": ("{value} 里没有 include/ 和 src/，不是 SHMEM 仓", "{value} has no include/ and src/: it is no SHMEM repository"),
    "no-repo-inside": (
        "容器 {container} 的 {value} 里没有 include/ 和 src/",
        "{value} in container {container} has no include/ and src/",
    ),
    "relative-workdir": ("容器内的路径 {value} 不是绝对路径", "{value} is not an absolute path of the container"),
    "bad-container": ("{value} 不是容器名", "{value} is no name of a container"),
    "no-workdir": (
        "用容器 {container} 时，要给出容器内 SHMEM 仓的路径（workdir）",
        "container {container} needs the path of the SHMEM repository inside (workdir)",
    ),
    "forced-auto-optim": (
        "不采集性能，就没有数据可优化：performance_auto_optim 记为 false",
        "without measurements there is nothing to optimise: performance_auto_optim is recorded as false",
    ),
    "cann-later": (
        "CANN 路径还没给：cann_set_env_pending 为 true，给出之前不能进入 Phase 1",
        "the path of CANN is still to come: cann_set_env_pending is true and Phase 1 stays closed until it is there",
    ),
    "cann-elsewhere": (
        "本机没有 {value}：记下了，但在这台机器上只能用 CPU 模拟",
        "{value} is not on this machine: recorded, but here only the CPU stand-in can run",
    ),
    "cann-folder": ("取目录里的 {value}", "{value} of that folder is taken"),
    "unseen": ("没能核对 {value}（机器或容器没有应答）", "{value} could not be looked at (no answer from the machine or the container)"),
    "no-script": (
        "当前会话的 CANN 找不到对应的 set_env.sh：cann_set_env 留空，换一个 shell 要先 source",
        "no set_env.sh belongs to this session's CANN: cann_set_env stays empty, and another shell has to source it first",
    ),
    "repo-later": (
        "SHMEM 仓还没有定：shmem_repo 记为 pending，Phase 1 之前要补上（只用 CPU 模拟则不需要）",
        "the SHMEM repository is not known: shmem_repo is pending and has to be there before Phase 1 (the CPU stand-in does without)",
    ),
    "repo-found": ("SHMEM 仓：{value}（{origin}）", "SHMEM repository: {value} ({origin})"),
    "not-installed": (
        "SHMEM 还没有安装：先在 {value} 运行 bash scripts/build.sh -examples",
        "SHMEM is not installed: run `bash scripts/build.sh -examples` in {value} first",
    ),
    "conda-later": ("conda 环境还没有定：conda_env 记为 pending", "the conda environment is not known: conda_env is pending"),
    "torch-later": (
        "torch/torch_npu 导入不了（{value}）：Phase 5.5 之前装好",
        "torch and torch_npu cannot be imported ({value}): install them before Phase 5.5",
    ),
    "no-container": (
        "本机没有 npu-smi 和 bisheng，也没有给容器：在这台机器上只能用 CPU 模拟",
        "there is neither npu-smi nor bisheng here and no container is named: only the CPU stand-in can run here",
    ),
}  # fmt: skip
_ORIGINS: Mapping[str, tuple[str, str]] = {
    "answer": ("来自回答", "as answered"),
    "record": ("来自已有的记录", "from the record"),
    "folder": ("当前目录", "this folder"),
    "below": ("当前目录下的 shmem/", "shmem/ below this folder"),
    "environment": ("来自环境变量 SHMEM_REPO", "from $SHMEM_REPO"),
    "operator": ("算子所在的仓", "the operator lies in it"),
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "启动确认：逐个回答五个问题，写进 docs/phase0_intake.yaml。退出码：0 已记录或没有变化，1 没有记录（缺回答、回答不可用、需要重新确认），2 用法有误或写不了。",
        "Phase 0: answer the five questions one by one; they are recorded in docs/phase0_intake.yaml. Exit status: 0 recorded or unchanged, 1 not recorded (answers missing or unusable, or to be confirmed again), 2 usage, or the record cannot be written.",
    ),
    "op": ("算子目录，默认当前目录", "the operator's folder (default: the current one)"),
    "name": ("新算子的名字；目录由仓和第 2 题的回答决定", "the name of a new operator; repository and answer 2 decide its folder"),
    "answers": ("回答文件（YAML 或 JSON），- 为标准输入", "a file with the answers (YAML or JSON), - for standard input"),
    "print-answers": ("打印回答文件的模板", "print a template of the answers file"),
    "reconfirm": ("重新确认：已有记录时，五个问题全部再问一遍", "confirm again: ask all five although there is a record"),
    "format": ("输出格式", "format of the output"),
    "lang": ("文字的语言", "language of texts"),
    "answer-to": ("{q} 的回答，只在本机看不出来时才问", "the answer to {q}, which is asked only where the machine does not show it"),
    "both-targets": ("--op 和 --name 只能给一个", "give --op or --name, not both"),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "no-operator": (
        "{path}：没有找到算子。在算子目录（如 custom-ops/<op>）里运行，用 --op 指定，或用 --name 新建",
        "{path}: no operator found. Run it in an operator's folder (like custom-ops/<op>), name one with --op, or a new one with --name",
    ),
    "several": (
        "{path}：下面有 {count} 个算子（{names}）。用 --op 指定一个",
        "{path}: there are {count} operators below ({names}). Name one with --op",
    ),
    "no-file": ("{path}：读不了：{why}", "{path}: cannot be read: {why}"),
    "unwritable": ("{path}：写不了：{why}；原文件未动", "{path}: not written: {why}; what was there is as it was"),
    "changed-meanwhile": (
        "{path}：读过之后被别的程序改了；没有写入，请再运行一次",
        "{path}: somebody changed it meanwhile; nothing was written, run it again",
    ),
    "damaged": (
        "{path}:{line}：已有的记录读不成 YAML，没有写入。修好它；或用 --reconfirm 重新记录，原文件另存在旁边",
        "{path}:{line}: the record there cannot be read as YAML and was not written. Mend it, or record anew with --reconfirm, which keeps it beside",
    ),
    "uneditable": (
        "{path}：已有的记录用了不能就地修改的写法（锚点、多行文本等），没有写入；请手工修改",
        "{path}: the record has values in a form that cannot be edited in place (anchors, blocks of text); nothing was written, edit it by hand",
    ),
    "kept-beside": ("原来的文件另存为 {path}", "what was there is kept as {path}"),
    "need-answers": (
        "启动确认没有完成，什么也没有写。缺少的回答：{names}",
        "the intake is not complete and nothing was written. Missing answers: {names}",
    ),
    "how": (
        "不在终端里时，用选项或 --answers FILE 一次给全五个回答；opdev intake --print-answers 打印模板：",
        "Outside a terminal, give all five by options or --answers FILE; `opdev intake --print-answers` prints this template:",
    ),
    "refused": ("回答不可用，什么也没有写：", "the answers cannot be used and nothing was written:"),
    "need-reconfirm": (
        "{path} 已有确认过的回答，与这次不同；没有覆盖。确实要改，加 --reconfirm：",
        "{path} has confirmed answers that differ from these; it was not overwritten. To change them, add --reconfirm:",
    ),
    "unchanged": ("{path}：与记录一致，没有改动", "{path}: the same as recorded, nothing changed"),
    "written": ("已记录：{path}", "recorded: {path}"),
    "changes": ("改动：", "changes:"),
    "next": ("下一步：opdev status --op {op}", "next: opdev status --op {op}"),
    "question": ("[{number}/5] {prompt}", "[{number}/5] {prompt}"),
    "follow-up": ("[补充] {prompt}", "[also] {prompt}"),
    "because": ("因为：{why}", "because {why}"),
    "recorded-answer": ("上次：{value}", "last time: {value}"),
    "or-text": ("或直接写：{text}", "or write {text}"),
    "choose": ("请选择 {keys}", "choose {keys}"),
    "choose-text": ("请选择 {keys}，或写{text}", "choose {keys}, or write {text}"),
    "write-text": ("请写{text}", "write {text}"),
    "enter": ("（直接回车：{value}）", " (Enter: {value})"),
    "again": ("{why}。请再答一次。", "{why}. Please answer again."),
    "environment": ("看到的环境（只看，不 source）：", "What is here (looked at, nothing is sourced):"),
    "not-set": ("未设置", "not set"),
    "not-there": ("没有", "not there"),
    "is-there": ("有", "there"),
    "no-look": ("机器没有及时应答，环境未知", "the machine did not answer in time: nothing is known of it"),
    "summary": ("确认摘要", "Summary"),
    "name-prompt": ("算子名？", "What is the operator called?"),
    "semantics-kept": ("（见 docs/design.md）", "(see docs/design.md)"),
    "confirm": ("写入记录？ y 写入，1–5 重答那一题，q 放弃", "Write the record? y to write, 1-5 to answer that one again, q to leave"),
    "still-right": (
        "已有记录（{path}）。这些回答现在仍然有效吗？ y 有效，n 五个问题重新问，q 放弃",
        "There is a record ({path}). Do these answers still hold? y they do, n ask all five again, q to leave",
    ),
    "kept": ("已重新确认，记录没有改动：{path}", "confirmed again, the record is as it was: {path}"),
    "left": ("已放弃，什么也没有写", "left, nothing was written"),
    "bad-config": ("配置不可用：{why}", "the configuration cannot be used: {why}"),
    "interrupted": ("已中断，什么也没有写", "interrupted, nothing was written"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    return _TEXTS[key][0 if lang == "zh" else 1].format(**values)


def remark(code: str, lang: Lang, *, id: str = "", **args: object) -> str:  # noqa: A002 - what it is called everywhere
    """A remark's sentence, with its line where it has one."""
    values = dict(args)
    near, line = values.pop("near", ""), values.pop("line", 0)
    guess = (f"；是否想写 {near}？" if lang == "zh" else f"; did you mean {near}?") if near else ""
    if "origin" in values:
        values["origin"] = _ORIGINS[str(values["origin"])][0 if lang == "zh" else 1]
    text = _REMARKS[code][0 if lang == "zh" else 1].format(q=id, guess=guess, **values)
    if not line:
        return text
    return f"第 {line} 行：{text}" if lang == "zh" else f"line {line}: {text}"
