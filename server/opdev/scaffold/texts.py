"""What `opdev new` and `opdev update` say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Lang = Literal["zh", "en"]

_TEXTS: Mapping[str, tuple[str, str]] = {
    "new-help": (
        "按模板写出一个完整的算子：设计、kernel、主程序、脚本、用例。退出码：0 已写出，1 目标不能写，2 用法有误。",
        "Write a whole operator from templates: design, kernel, host program, scripts, cases. Exit status: 0 written, 1 the target cannot be written, 2 usage.",
    ),
    "update-help": (
        "把新版模板（或新的选项）合并进已有算子，保留改动；有冲突的写到旁边的 .merge 文件。退出码：0 完成，1 有冲突，2 用法有误。",
        "Merge a newer template (or other options) into an operator and keep its edits; conflicts go to a .merge file beside. Exit status: 0 done, 1 conflicts, 2 usage.",
    ),
    "op": ("算子名：小写字母开头，只有小写字母、数字与下划线", "the operator's name: lower-case letters, digits and underscores, a letter first"),
    "kind": ("算子种类", "what kind of operator"),
    "dtypes": ("数据类型，逗号分隔；第一个是主类型", "dtypes, separated by commas; the first is the main one"),
    "build-mode": ("独立工程（custom-ops/）或仓内示例（examples/）", "a project of its own (custom-ops/) or an example of the SHMEM tree (examples/)"),
    "dir": ("SHMEM 仓的根目录，算子写到它的 custom-ops/ 或 examples/ 下；默认当前目录所在的仓", "the repository the operator goes into (custom-ops/ or examples/ below it); default: the one around the current folder"),
    "torch": ("要做 Torch 绑定（阶段 5.5），一并写出绑定与测试", "the operator gets a Torch binding (phase 5.5): write it and its test, too"),
    "perf": ("要做性能验证（阶段 6），默认要", "the operator gets a performance phase (6); the default"),
    "auto-optim": ("性能不达标时自动优化（阶段 6.5）", "optimise by itself when performance falls short (phase 6.5)"),
    "repo": ("写进设计的 SHMEM 仓绝对路径，默认由 --dir 得出", "the absolute path of the SHMEM repository for the design; default: from --dir"),
    "skills": ("写进设计的 skills 目录绝对路径，默认 <SHMEM 仓>/.agents/skills", "the absolute path of the skills for the design; default: <repository>/.agents/skills"),
    "container": ("所有命令都在这个容器里运行", "the container in which all commands run"),
    "workdir": ("容器里的工作目录", "the working folder inside the container"),
    "force": ("往已有内容的目录里写缺少的文件；已有的文件一个也不动", "write what is missing into a folder that has files; no file that is there is touched"),
    "dry-run": ("只列出会写的文件", "list what would be written, write nothing"),
    "update-op": ("算子目录，默认当前目录", "the operator's folder (default: the current one)"),
    "update-dtypes": ("换成这些数据类型", "change to these dtypes"),
    "lang": ("文字的语言", "language of texts"),
    "bad-name": ("算子名 {name} 不可用：须以小写字母开头，只含小写字母、数字与下划线；可以用 {hint}", "{name} cannot name an operator: a lower-case letter, then lower-case letters, digits and underscores; {hint} would do"),
    "long-name": ("算子名 {name} 太长，至多 {most} 个字符", "{name} is too long for an operator's name: at most {most} characters"),
    "taken-name": ("算子名 {name} 不可用：与公共目录或 C++ 关键字同名", "{name} cannot name an operator: it is a shared folder's name or a C++ keyword"),
    "bad-dtype": ("{dtype} 不是数据类型；可以用 {known}", "{dtype} is no dtype; there are {known}"),
    "unsupported-dtype": ("{kind} 不支持 {dtype}；可以用 {known}", "{kind} does not support {dtype}; it has {known}"),
    "no-dtype": ("没有给出数据类型；可以用 {known}", "no dtype was given; there are {known}"),
    "no-torch-dtype": ("Torch 绑定不支持 {dtypes}：PyTorch 不用它们计算", "a Torch binding cannot have {dtypes}: PyTorch does not compute with them"),
    "not-empty": (
        "{path} 已有内容（如 {found}），没有写任何文件。换一个名字，或用 opdev update 更新模板生成的算子；--force 只补缺少的文件",
        "{path} has files already ({found}), and nothing was written. Take another name, or `opdev update` an operator made from a template; --force adds only what is missing",
    ),
    "not-folder": ("{path} 不是目录", "{path} is not a folder"),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "not-tree": (
        "{path} 不是 SHMEM 仓（缺 include/ 与 src/）：仓内示例要写进仓里，用 --dir 指明",
        "{path} is no SHMEM tree (it lacks include/ and src/): an example goes into one; name it with --dir",
    ),
    "relative-path": ("{path} 须是绝对路径", "{path} must be an absolute path"),
    "no-write": ("写不了 {path}：{why}", "{path} cannot be written: {why}"),
    "no-read": ("读不了 {path}：{why}", "{path} cannot be read: {why}"),
    "bad-template": ("模板 {name} 有误：{why}", "template {name} is at fault: {why}"),
    "no-jinja": ("需要 jinja2：pip install 'jinja2>=3.1,<4'", "jinja2 is needed: pip install 'jinja2>=3.1,<4'"),
    "optim-without-perf": ("--auto-optim 要有性能阶段，不能与不做性能同时选", "--auto-optim needs the performance phase, which is off"),
    "workdir-without-container": ("--docker-workdir 与 --docker-container 要一起给出", "--docker-container and --docker-workdir go together"),
    "intake-differs": (
        "{path} 记着 {field} = {recorded}，这里要的是 {given}。先改确认记录，或照它的值再来",
        "{path} says {field} = {recorded}, and {given} was asked for here. Change the record, or follow it",
    ),
    "wrote": ("写出 {count} 个文件：{path}", "{count} files written: {path}"),
    "would-write": ("会写出 {count} 个文件：{path}", "{count} files would be written: {path}"),
    "kept": ("已有，未动：{path}", "there already, untouched: {path}"),
    "shared": ("公共文件：{path}", "shared file: {path}"),
    "registered": ("已登记：{path} 加了 {what}", "registered: {path} now has {what}"),
    "register-yourself": ("请自己登记：在 {path} 里加 {what}", "register it yourself: {path} needs {what}"),
    "next": ("接着", "next"),
    "next-build": ("编译", "build it"),
    "next-intake": ("回答启动确认的五个问题", "answer the five questions of the intake"),
    "next-gate": ("看设计门禁", "see the gate of the design"),
    "next-sim": ("在 CPU 上模拟，逐阶段运行", "run its phases on the CPU stand-in"),
    "no-record": (
        "{path} 没有 .opdev/template.json：不是由 opdev new 写出的算子，无从合并",
        "{path} has no .opdev/template.json: the operator was not made by `opdev new`, and there is nothing to merge from",
    ),
    "bad-record": ("{path} 读不出来：{why}", "{path} cannot be read: {why}"),
    "pending": (
        "上一次的冲突还没有处理：{path}。改好后用它换下原文件，或删掉它，再运行 opdev update",
        "a conflict of the last update is still there: {path}. Put it in the file's place once it is right, or delete it, and update again",
    ),
    "up-to-date": ("已经是最新的模板", "the template is up to date"),
    "updated": ("更新：{path}", "updated: {path}"),
    "merged": ("合并，保留了改动：{path}", "merged, your edits kept: {path}"),
    "added": ("新增：{path}", "added: {path}"),
    "deleted-by-user": ("已被删除，未恢复：{path}", "deleted by you, not restored: {path}"),
    "obsolete": ("新模板不再有：{path}（不用就删掉）", "no longer in the template: {path} (delete it if you do not need it)"),
    "conflict": ("有冲突：{path} 未动，合并结果与冲突标记在 {merge}", "conflict: {path} is untouched, the merge with its markers is in {merge}"),
    "conflicts": ("{count} 个文件有冲突", "{count} files have conflicts"),
    "would": ("（只是预览，没有写入）", "(a preview, nothing was written)"),
    "no-design": (
        "没有能读的 docs/design.md：先过设计门禁（opdev gate 1）",
        "there is no docs/design.md that can be read: pass the design's gate first (`opdev gate 1`)",
    ),
    "no-name-in-design": ("design.md 的 meta.op_name（{name}）不是算子名", "meta.op_name in design.md ({name}) is no operator's name"),
    "no-dtype-in-design": (
        "design.md 的 source.user_confirmations.dtypes 没有模板认识的 dtype",
        "source.user_confirmations.dtypes in design.md names no dtype that the templates know",
    ),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """The text in ``lang`` with its values filled in."""
    return _TEXTS[key][0 if lang == "zh" else 1].format(**values)


class ScaffoldError(Exception):
    """What the user must change; ``usage`` says whether in the command (exit 2) or at the target (exit 1)."""

    def __init__(self, key: str, *, usage: bool = True, **values: object) -> None:
        super().__init__(key)
        self.key, self.usage, self.values = key, usage, values

    def text(self, lang: Lang) -> str:
        """What to tell the user."""
        return say(self.key, lang, **self.values)
