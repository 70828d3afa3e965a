"""What a syntax tree says of cheating: each function yields the places of one suspicion.

Names are followed through imports and simple aliases; what is hidden better (``getattr`` with a computed name) is told as
dynamic code, and found when the implementation runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from opdev.bench.sources import Source, imports, is_kernel

Place = tuple[str, int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LIBRARIES = ("torch", "torch_npu", "pypto", "numpy", "builtins", "os", "json")
_SETTINGS = re.compile(
    r"torch\.(?:backends|npu\.config|npu\.conv|npu\.matmul|_dynamo\.config|_inductor\.config)\.|os\.environ\b"
)
_CALLER = re.compile(
    r"sys\.(?:modules|_getframe|_current_frames|settrace|setprofile|meta_path|path_hooks|addaudithook|monitoring)\b.*"
    r"|inspect\.(?:stack|trace|currentframe|getouterframes|getinnerframes|getframeinfo)"
    r"|gc\.(?:get_objects|get_referrers|get_referents|callbacks)|os\.getppid|threading\.(?:settrace|setprofile|_current_frames)"
    r"|opdev(?:_\w+)?(?:\..*)?|__main__(?:\..*)?"
)
_FRAMES = _words(
    """
    f_back f_locals f_globals tb_frame gi_frame cr_frame __closure__ cell_contents __subclasses__
    """
)
_FREE = _words(
    """
    empty empty_like empty_strided zeros zeros_like ones ones_like full full_like new_empty new_zeros new_ones
    new_full tensor as_tensor from_numpy reshape view view_as permute transpose t contiguous flatten unflatten
    squeeze unsqueeze expand expand_as broadcast_to chunk split unbind narrow select stack cat concat pad to type
    float half bfloat16 int long bool double cpu npu cuda detach clone copy_ fill_ zero_ numel size dim stride
    is_contiguous element_size data_ptr requires_grad_ device dtype Size no_grad inference_mode set_grad_enabled
    manual_seed promote_types result_type finfo iinfo is_tensor is_floating_point Generator Tensor Parameter float32
    float16 int32 int64 int8 uint8 get_default_dtype compile synchronize current_stream set_device current_device
    is_available broadcast_shapes as_strided movedim swapaxes apply_ register_buffer register_parameter _assert load
    save
    """
)
_METHODS = _words(
    """
    relu relu_ sigmoid tanh softmax log_softmax exp log sqrt rsqrt pow abs sum mean prod max min amax amin argmax
    argmin cumsum cumprod matmul mm bmm addmm mv dot einsum add add_ sub sub_ mul mul_ div div_ clamp clamp_ norm
    var std sort topk gather scatter scatter_ scatter_add_ masked_fill masked_fill_ where index_select index_add_
    baddbmm addmv outer logsumexp floor ceil round sign erf sin cos neg reciprocal
    """
)
_LAYERS = re.compile(
    r"torch\.nn\.(?!Parameter$|Module$|ModuleList$|ModuleDict$|ParameterList$|ParameterDict$|Identity$|functional)\w+"
)
_READS = re.compile(
    r"open|io\.open|torch\.load|torch\.hub\..*|numpy\.(?:load|fromfile|loadtxt|genfromtxt|memmap)|pickle\.loads?|json\.load|os\.getenv|os\.open"
    r"|os\.environ(?:\..*)?|os\.environb.*|urllib\..*|requests\..*|socket\..*|http\..*|subprocess\..*|os\.(?:system|popen|exec\w*|fork)|multiprocessing\..*|mmap\..*"
    r"|shelve\..*|sqlite3\..*|tempfile\..*|pathlib\.Path\.(?:read_\w+|open)"
)
_DEVICE_WORDS = re.compile(r"TILE_FWK_\w+|ASCEND_\w+|NPU_\w+|DEVICE_ID|RUN_MODE|RANK|LOCAL_RANK|WORLD_SIZE")
_DYNAMIC = re.compile(
    r"exec|eval|compile|__import__|importlib\..*|runpy\..*|ctypes(?:\..*)?|cffi(?:\..*)?|marshal\..*|os\._exit|os\.kill|atexit\..*"
    r"|signal\..*|threading\.(?:Thread|Timer)|builtins\.(?:exec|eval|compile)|torch\.utils\.cpp_extension\..*|torch\.ops\.load_library"
)
_REFERENCE = re.compile(r"task_desc|\w*_golden(?:_\w+)?|golden|\w*_reference|test_\w+")


def reference(sources: Sequence[Source], op: str) -> Iterator[Place]:
    """Imports of what the implementation is judged by, and its file read as text."""
    names = re.compile(rf"{_REFERENCE.pattern}|{re.escape(op)}_torch")
    for source in sources:
        for name, line in imports(source):
            if any(names.fullmatch(part) for part in name.split(".")):
                yield source.path, line
        for node, text in _strings(source):
            if re.search(rf"(?:^|[/\\])(?:task_desc|{re.escape(op)}_golden\w*|{re.escape(op)}_torch)\.py$", text):
                yield source.path, node.lineno


def patched(sources: Sequence[Source]) -> Iterator[Place]:
    """Functions of Torch, pypto, numpy or Python that are replaced, and what a kernel's object consists of."""
    kernels = {f.name for source, f in _functions(sources) if is_kernel(source, f)}
    for source in sources:
        for node in _nodes(source):
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
                targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else [node.target]
                if any(_of_library(source, target) or _of_kernel(target, kernels) for target in targets):
                    yield source.path, node.lineno
            elif isinstance(node, ast.Call) and node.args:
                name = source.full(node.func)
                first = node.args[0]
                if name in ("setattr", "delattr", "builtins.setattr", "object.__setattr__", "type.__setattr__"):
                    if _library(source.full(first)) and not _SETTINGS.match(source.full(first) + "."):
                        yield source.path, node.lineno
                elif name.endswith(("mock.patch", "patch.object")) or name in ("patch", "monkeypatch.setattr"):
                    text = first.value if isinstance(first, ast.Constant) else source.full(first)
                    if isinstance(text, str) and _library(text):
                        yield source.path, node.lineno
                elif name.endswith(".__dict__.update") and _library(name):
                    yield source.path, node.lineno


def _of_kernel(target: ast.AST, kernels: set[str]) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id in kernels
        and target.attr.startswith("_")
    )


def _of_library(source: Source, target: ast.AST) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_of_library(source, one) for one in target.elts)
    if isinstance(target, ast.Subscript):
        inner = target.value
        if isinstance(inner, ast.Call) and source.full(inner.func) == "vars" and inner.args:
            return _library(source.full(inner.args[0]))
        name = source.full(inner)
        return name == "sys.modules" or (name.endswith("__dict__") and _library(name)) or name == "__builtins__"
    name = source.full(target)
    return isinstance(target, ast.Attribute) and _library(name) and not _SETTINGS.match(f"{name}.")


def _library(name: str) -> bool:
    return name.partition(".")[0] in _LIBRARIES


def caller(sources: Sequence[Source]) -> Iterator[Place]:
    """Ways to whoever runs the implementation: frames, modules, all objects."""
    for source in sources:
        for name, line in imports(source):
            if name.partition(".")[0] in ("opdev", "__main__") or name.startswith("opdev_"):
                yield source.path, line
        for node in _nodes(source):
            if (isinstance(node, ast.Attribute) and (node.attr in _FRAMES or _CALLER.fullmatch(source.full(node)))) or (
                isinstance(node, ast.Name) and _CALLER.fullmatch(source.aliases.get(node.id, ""))
            ):
                yield source.path, node.lineno
        for node, text in _strings(source):
            if text.startswith("/proc/") or text in _FRAMES or text == "_getframe":
                yield source.path, node.lineno


def torch_compute(sources: Sequence[Source]) -> Iterator[Place]:
    """What Torch computes on the way from ``ModelNew.forward`` to a kernel and back."""
    layers = {
        name for source in sources for node in _nodes(source)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _LAYERS.fullmatch(source.full(node.value.func))
        for target in node.targets if isinstance(target, ast.Attribute) and (name := target.attr)
    }  # fmt: skip
    for source, function in _on_the_way(sources):
        tensors = _tensor_parameters(source, function)
        for node in (one for statement in function.body for one in ast.walk(statement)):
            if (isinstance(node, ast.Call) and _computes(source, node, layers)) or (
                isinstance(node, ast.BinOp)
                and (
                    isinstance(node.op, ast.MatMult)
                    or any(isinstance(side, ast.Name) and side.id in tensors for side in (node.left, node.right))
                )
            ):
                yield source.path, node.lineno


def _computes(source: Source, call: ast.Call, layers: set[str]) -> bool:
    name = source.full(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name.startswith("torch.ops.") and not name.startswith("torch.ops.aten."):
        return False
    if name.startswith("torch."):
        return last not in _FREE if last else name.rpartition(".")[2] not in _FREE
    if name.startswith("self.") and name.count(".") == 1:
        return last in layers
    return bool(last) and last in _METHODS and not _library(name) and name.partition(".")[0] not in ("math", "pl")


def _tensor_parameters(source: Source, function: _Function) -> set[str]:
    """Parameters that are tensors: by their annotation, in ``forward`` also without one."""
    found = set()
    for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        if one.annotation is not None:
            if source.full(one.annotation).endswith("Tensor"):
                found.add(one.arg)
        elif function.name == "forward" and one.arg != "self":
            found.add(one.arg)
    return found


def handlers(sources: Sequence[Source]) -> Iterator[Place]:
    """``try`` around a kernel with a handler that goes on with something else."""
    reaching = _reaching(sources)
    for source in sources:
        for node in _nodes(source):
            if isinstance(node, ast.Try) and _calls(node.body, reaching):
                for handler in node.handlers:
                    if not isinstance(handler.body[-1], ast.Raise) and not _calls(handler.body, reaching):
                        yield source.path, handler.lineno


def branches(sources: Sequence[Source]) -> Iterator[Place]:
    """Ways through a function that starts a kernel elsewhere, which return something without one."""
    reaching = _reaching(sources)
    for source, function in _on_the_way(sources):
        if function.name in reaching or function.name == "forward":
            for line in _ways(function.body, reaching, done=False):
                yield source.path, line


def _ways(body: Sequence[ast.stmt], reaching: set[str], *, done: bool) -> Iterator[int]:
    """Lines of ``return`` that come before any kernel, in a block or its branches, where the function has one."""
    for statement in body:
        if isinstance(statement, ast.If):
            sides: tuple[list[ast.stmt], list[ast.stmt]] = (statement.body, statement.orelse)
            has = [_calls(side, reaching) for side in sides]
            for side in sides:
                yield from _ways(side, reaching, done=done or _calls([ast.Expr(statement.test)], reaching))
            if statement.orelse and has[0] != has[1] and not done:
                other = sides[has[0]]
                if not any(isinstance(s, (ast.Return, ast.Raise)) for s in other):
                    yield other[0].lineno
            done = done or all(has)
        elif isinstance(statement, ast.Return):
            if statement.value is not None and not done and not _calls([statement], reaching):
                yield statement.lineno
            elif isinstance(statement.value, ast.IfExp) and not done:
                for value in (statement.value.body, statement.value.orelse):
                    if not _calls([value], reaching):
                        yield value.lineno
        elif isinstance(statement, (ast.With, ast.For, ast.While, ast.Try)):
            yield from _ways(statement.body, reaching, done=done)
            done = done or _calls(statement.body, reaching)
        else:
            done = done or _calls([statement], reaching)


def outside_data(sources: Sequence[Source]) -> Iterator[Place]:
    """Files, environment, network, other processes: where outputs could come from without being computed."""
    for source in sources:
        for node in _nodes(source):
            if isinstance(node, ast.Call):
                name = source.full(node.func)
                if _READS.fullmatch(name) and not _only_device(node):
                    yield source.path, node.lineno
            elif (
                isinstance(node, ast.Subscript)
                and source.full(node.value) == "os.environ"
                and not (isinstance(node.slice, ast.Constant) and _DEVICE_WORDS.fullmatch(str(node.slice.value)))
            ):
                yield source.path, node.lineno


def _only_device(call: ast.Call) -> bool:
    return (
        bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and bool(_DEVICE_WORDS.fullmatch(str(call.args[0].value)))
    )


def dynamic(sources: Sequence[Source]) -> Iterator[Place]:
    """Code that no reading of the text can judge, and code that ends or outlives the process."""
    for source in sources:
        for node in _nodes(source):
            if isinstance(node, ast.Call):
                name = source.full(node.func)
                constant = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
                if _DYNAMIC.fullmatch(name) or (
                    name in ("getattr", "builtins.getattr") and _library(source.full(node.args[0])) and not constant
                ):
                    yield source.path, node.lineno


def _nodes(source: Source) -> Iterable[ast.AST]:
    return ast.walk(source.tree) if source.tree is not None else ()


def _strings(source: Source) -> Iterator[tuple[ast.Constant, str]]:
    for node in _nodes(source):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node, node.value


def _functions(sources: Sequence[Source]) -> Iterator[tuple[Source, _Function]]:
    for source in sources:
        for node in _nodes(source):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield source, node


def _names(function: _Function) -> Iterator[str]:
    """What a function is called by: its name, and that of an operation of Torch that it is registered as."""
    yield function.name
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            for one in decorator.args[:2]:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value.rpartition("::")[2]


def _called(node: ast.AST) -> Iterator[str]:
    """Names that are called; to define a function within is not to call it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Call):
            target: ast.AST = one.func
            while isinstance(target, (ast.Subscript, ast.Call)):
                target = target.value if isinstance(target, ast.Subscript) else target.func
            yield (
                target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
            )
        waiting += [
            child
            for child in ast.iter_child_nodes(one)
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]


def _calls(body: Sequence[ast.AST], names: set[str]) -> bool:
    executed = [node for node in body if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(name in names for node in executed for name in _called(node))


def _reaching(sources: Sequence[Source]) -> set[str]:
    """Names of kernels and of functions that call one, however far down."""
    functions = list(_functions(sources))
    found = {name for source, function in functions if is_kernel(source, function) for name in _names(function)}
    for source in sources:
        for node in _nodes(source):
            # `kernel = pypto.frontend.jit(f)`
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and source.full(node.value.func).endswith(".jit")
            ):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    grown = True
    while grown:
        some = [f for _, f in functions if f.name not in found and _calls(f.body, found)]
        more = {name for function in some for name in _names(function)} - found - {"__init__"}
        found |= more
        grown = bool(more)
    return found


def _on_the_way(sources: Sequence[Source]) -> Iterator[tuple[Source, _Function]]:
    """``ModelNew.forward`` and the functions it calls that are no kernels."""
    functions = [(source, function) for source, function in _functions(sources) if not is_kernel(source, function)]
    named: dict[str, list[tuple[Source, _Function]]] = {}
    for source, function in functions:
        for name in _names(function):
            named.setdefault(name, []).append((source, function))
    waiting = list(named.get("forward", ()))
    seen: set[int] = set()
    while waiting:
        source, function = waiting.pop(0)
        if id(function) in seen:
            continue
        seen.add(id(function))
        yield source, function
        for name in _called(function):
            if name not in ("__init__", "forward"):
                waiting += named.get(name, ())
