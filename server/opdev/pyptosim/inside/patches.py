"""What makes simulation compute: the interpreter in place, the caller's tensors written, nothing sent to a device.

These are private functions of one version of the wheel (``wheel.installed`` refuses any other).  In simulation that
version traces a kernel, runs its passes and a cost model and leaves the outputs as they were; with pass verification on,
its interpreter computes them, and where the tensors are on the host it may write straight into the caller's.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .records import Records
    from .taking import Taking

_LIBRARY = "libtile_fwk_calculator.so"


class BuildError(Exception):
    """The interpreter could not be built; ``log`` is what the build said."""

    def __init__(self, problem: str, why: str, log: str = "") -> None:
        super().__init__(problem)
        self.problem, self.why, self.log = problem, why, log


class Patches:
    """Replaces what has to be replaced, once in this process."""

    def __init__(self, spec: dict[str, Any], records: Records) -> None:
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
        import pypto
        import torch

        self.spec, self.records, self.pypto, self.torch = spec, records, pypto, torch
        self.known = dir(pypto)
        self.model_log = f"{spec['out']}/cost-model-not-measured.log"

    def interpreter(self) -> None:
        """Load the interpreter, from the cache where it was built before; BuildError where it cannot be."""
        from pypto._utils import BuildOnlineManager

        manager = BuildOnlineManager()
        path = self._cached(manager)
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(f"{path}.lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not os.path.exists(path):
                    self.records.add("building", path=path)
                    sys.stdout.write(f"{self.spec['texts']['building']}\n")
                    sys.stdout.flush()
                    self._build(manager, path)
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            os.unlink(path)
            raise BuildError("interpreter-load", str(error)) from error
        manager.calculator_loaded = True

    def _cached(self, manager: Any) -> str:
        """Where the interpreter for exactly these wheels and this folder of torch is kept."""
        folder = os.path.dirname(self.torch.__file__)
        key = "\n".join(
            (self.spec["pypto"], str(self.torch.__version__), folder, str(manager.pkg_lib_dir), os.uname().machine)
        )
        name = f"{self.spec['pypto']}-torch{self.torch.__version__}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
        return f"{self.spec['cache']}/{name}/{_LIBRARY}"

    def _build(self, manager: Any, path: str) -> None:
        """The wheel's own way of building it, kept instead of thrown away."""
        try:
            context = manager._CMakeContext()
        except RuntimeError as error:
            raise BuildError("no-cmake", str(error)) from error
        torch = manager._TorchContext()
        with tempfile.TemporaryDirectory(prefix="opdev-pypto-") as scratch:
            job = context.CompileContext(
                src_dir=manager.pkg_lib_dir / "calculator", tmp_dir=manager.pkg_lib_dir.__class__(scratch)
            )
            job.cfg_cmd_ext = (
                f"-DPY3_MOD_TORCH_VERSION={torch.torch_version} -DPY3_MOD_TORCH_ROOT_PATH={torch.torch_root_dir}"
                f" -DPY3_MOD_TORCH_C_GLIBCXX_USE_CXX11_ABI={torch.torch_c_use_cxx11_abi}"
            )
            job.build_job_num = os.cpu_count() or 1
            try:
                made = context.compile(ctx=job)
                # Beside it, then in its place: whoever looks meanwhile sees none or all of it.
                shutil.copyfile(made / "lib" / _LIBRARY, f"{path}.new")
                os.replace(f"{path}.new", path)
            except subprocess.CalledProcessError as error:
                said = f"{error.stdout or ''}\n{error.stderr or ''}"
                log = f"{self.spec['out']}/interpreter-build.log"
                with open(log, "w", encoding="utf-8") as stream:
                    stream.write(said)
                first = next((line.strip() for line in said.splitlines() if "error" in line.lower()), str(error))
                raise BuildError("interpreter-build", first[:400], log) from error
            except OSError as error:
                raise BuildError("interpreter-build", str(error)) from error

    def apply(self, taking: Taking) -> None:
        """Replace the functions; ``taking`` is told of every kernel."""
        from pypto.frontend.parser import entry

        pypto, cpu, wrapper = self.pypto, self.torch.device("cpu"), entry.JitCallableWrapper
        copying, options, calling, running = (
            entry._gen_pto_tensor, wrapper._set_config_option, wrapper.__call__, wrapper._run_with_cpu,
        )  # fmt: skip
        mode = int(pypto.RunMode.SIM)

        def host_tensors(tensors: Any) -> Any:
            tensors = list(tensors)
            if all(getattr(t, "device", None) in (None, cpu) for t in tensors):
                return tensors, None
            return copying(tensors)

        def set_options(self: Any) -> None:
            options(self)
            # The kernel as it is written is computed, not what each of some forty passes makes of it.
            pypto.set_verify_options(enable_pass_verify=True, pass_verify_pass_filter=["no_verify"])

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            self._runtime_options = {**(self._runtime_options or {}), "run_mode": mode}
            with taking.kernel(self, (*args, *kwargs.values())):
                return calling(self, *args, **kwargs)

        def cost_model(self: Any, *args: Any) -> Any:
            # Outputs are written on the way; its times are a model's and are not shown.
            with _elsewhere(log):
                return running(self, *args)

        log = self.model_log
        entry._gen_pto_tensor = host_tensors
        wrapper._set_config_option = set_options
        wrapper.__call__ = call
        wrapper._run_with_cpu = cost_model
        if not hasattr(pypto, "jit"):
            pypto.jit = pypto.frontend.jit


@contextmanager
def _elsewhere(path: str) -> Iterator[None]:
    """Both output streams of this process and its children into a file meanwhile."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(handle)
