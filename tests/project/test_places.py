"""Where a file stands decides how it is judged."""

from __future__ import annotations

import pytest

from opdev.project.places import Places

DISK = {
    "/s/include/shmem.h", "/s/version.info", "/s/examples/made/docs/design.md", "/p/python/pypto/__init__.py",
    "/home/me/ops/put/docs/design.md", "/home/me/ag/CMakeLists.txt", "/home/me/ag/src/ag_kernel.cpp",
    "/g/ops/ApplyAdamWV2/apply_adam_wv2_impl.py", "/g/ops/ApplyAdamWV2/docs/SPEC.md", "/g/ops/lone/lone_impl.py",
    "/g/ops/rope/src/rope_impl.py", "/g/ops/rope/golden/rope_golden.py", "/g/kept/.orchestrator_state.json",
    "/home/me/custom/gelu/gelu_impl.py", "/c/operators/add/pypto/src/add_impl.py", "/c/operators/add/pypto/DESIGN/DESIGN.md",
    "/c/operators/relu/pypto/.orchestrator_state.json", "/c/operators/relu/ascendc/src/relu_kernel.asc", "/o/include/shmem_api.h", "/o/version.info",
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "profile", "operator", "relative"),
    [
        ("/w/custom-ops/ag/src/ag_kernel.cpp", "custom-ops", "ag", "src/ag_kernel.cpp"),
        ("/s/custom-ops/ag/scripts/run.sh", "custom-ops", "ag", "scripts/run.sh"),
        ("/w/custom-ops/scripts/build.sh", "custom-ops", None, "build.sh"),
        ("/s/examples/allgather/run.sh", "in-tree", "allgather", "run.sh"),
        ("/s/examples/made/src/main.cpp", "custom-ops", "made", "src/main.cpp"),
        ("/s/src/host/init.cpp", "in-tree", None, "src/host/init.cpp"),
        ("/s/CMakeLists.txt", "in-tree", None, "CMakeLists.txt"),
        ("/o/include/internal/device/sync.h", "in-tree", None, "include/internal/device/sync.h"),
        ("/s/.agents/skills/x.md", "skill-text", None, ".agents/skills/x.md"),
        ("/p/framework/a.cpp", "pypto-tree", None, "framework/a.cpp"),
        ("/p/examples/01/a.py", "pypto-tree", None, "examples/01/a.py"),
        ("/p/custom/add/test_add.py", "custom-ops", "add", "test_add.py"),
        ("/home/me/ops/put/scripts/run.sh", "custom-ops", "put", "scripts/run.sh"),
        ("/home/me/ag/src/main.cpp", "custom-ops", "ag", "src/main.cpp"),
        ("/home/me/other/x.cpp", "custom-ops", None, "x.cpp"),
        ("/g/ops/ApplyAdamWV2/docs/SPEC.md", "custom-ops", "ApplyAdamWV2", "docs/SPEC.md"),
        ("/g/ops/ApplyAdamWV2/modules/a.py", "custom-ops", "ApplyAdamWV2", "modules/a.py"),
        ("/g/ops/rope/tests/test_rope.py", "custom-ops", "rope", "tests/test_rope.py"),
        ("/g/ops/lone/lone_impl.py", "custom-ops", None, "lone_impl.py"),
        ("/g/kept/eval/module_interfaces.yaml", "custom-ops", "kept", "eval/module_interfaces.yaml"),
        ("/home/me/custom/gelu/modules/x.py", "custom-ops", "gelu", "modules/x.py"),
        ("/c/operators/add/pypto/tests/test_add.py", "custom-ops", "add", "tests/test_add.py"),
        ("/c/operators/relu/pypto/SPEC/SPEC.md", "custom-ops", "relu", "SPEC/SPEC.md"),
        ("/c/operators/relu/ascendc/src/relu_kernel.asc", "custom-ops", None, "relu_kernel.asc"),
    ],
)
def test_places(path, profile, operator, relative):
    place = Places(lambda p: p in DISK).of(path)

    assert (place.profile, place.operator, place.relative) == (profile, operator, relative)


def test_the_disk_is_asked_once_a_path_until_told_to_forget():
    asked = []
    places = Places(lambda p: bool(asked.append(p)))
    for name in ("a", "b", "c"):
        places.of(f"/x/y/{name}.cpp")
    assert len(asked) == len(set(asked))

    before = len(asked)
    places.forget()
    places.of("/x/y/a.cpp")
    assert len(asked) > before
