"""Positions the argument rules assume, held against every signature of the API table."""

from __future__ import annotations

from opdev.api import table
from opdev.checks.api_args import _comparison_index, _operation_index
from opdev.checks.api_remote import pe_index
from opdev.checks.api_scratch import _RDMA_BUFFER, _SDMA_SIZED, _UDMA_COUNT


def _signatures() -> list[tuple[str, list[str]]]:
    found = []
    for name in sorted(table.names()):
        api = table.lookup(name)
        assert api is not None
        if api.kind == "function":
            found += [(name, [p.name for p in s.params]) for v in api.variants for s in v.signatures]
    return found


def test_the_place_of_signal_operation_and_comparison() -> None:
    for name, params in _signatures():
        if "sig_op" in params:
            assert _operation_index(name) == params.index("sig_op"), name
        else:
            assert _operation_index(name) is None, name
        if "cmp" in params:
            assert _comparison_index(name) == params.index("cmp"), name
        elif "wait" in name or "test" in name:
            assert _comparison_index(name) is None or len(params) <= _comparison_index(name), name


def test_the_place_of_the_pe() -> None:
    movers = ("put", "get", "_atomic_", "signal_op", "_ptr")
    for name, params in _signatures():
        if "pe" in params and (any(m in name for m in movers) or name.endswith(("_p", "_g"))):
            assert pe_index(name, len(params)) == params.index("pe"), (name, params)


def test_the_place_of_scratch_and_counts() -> None:
    by_name: dict[str, list[list[str]]] = {}
    for name, params in _signatures():
        by_name.setdefault(name, []).append(params)
    for name, sizes in _SDMA_SIZED.items():
        for count, index in sizes.items():
            assert any(len(p) == count and p[index] == "ub_size" for p in by_name[name]), name
    for name, index in _RDMA_BUFFER.items():
        api = table.lookup(name)
        assert api is not None
        assert all(p[index] == "buf" for p in by_name[api.name] if len(p) > index), name
    for name, index in _UDMA_COUNT.items():
        assert all(p[index] == "elem_size" for p in by_name[name]), name
