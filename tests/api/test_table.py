"""The API table: every name resolves, every signature reads."""

from __future__ import annotations

import pytest

from opdev.api import table


def test_every_name_has_documentation_in_both_languages() -> None:
    for name in table.names():
        api = table.lookup(name)
        assert api is not None
        assert api.variants, name
        assert all(v.summary["zh"] and v.summary["en"] and v.signatures and v.headers for v in api.variants), name


def test_every_function_signature_reads() -> None:
    for name in table.names():
        api = table.lookup(name)
        assert api is not None
        if api.kind != "function":
            continue
        assert api.scopes == {v.scope for v in api.variants}
        for signature in (s for v in api.variants for s in v.signatures):
            assert signature.returns, signature.text
            assert all(p.name and p.type for p in signature.params), signature.text
            assert len(signature.param_spans()) == len(signature.params)


def test_old_spellings_resolve_to_a_name_of_the_table() -> None:
    assert len(table.aliases()) > 150
    for old, new in table.aliases().items():
        api = table.lookup(old)
        assert api is not None, old
        assert api.name == new[0]
        assert old in api.aliases


def test_parameters_with_templates_defaults_and_callbacks() -> None:
    api = table.lookup("aclshmemx_udma_put_nbi")
    assert api is not None
    first = api.variants[0].signatures[0]
    assert first.template == "template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>"
    assert [p.name for p in first.params] == ["dst", "src", "buf", "elem_size", "pe", "sync_id"]
    assert first.params[-1].default == "0"
    logger = table.lookup("aclshmemx_set_extern_logger")
    assert logger is not None
    assert [p.name for p in logger.variants[0].signatures[0].params] == ["func"]


@pytest.mark.parametrize(
    ("unknown", "meant"),
    [
        ("aclshmemx_rdma_put_nbi", "aclshmemx_roce_put_nbi"),
        ("aclshmem_team_sync", "aclshmem_sync"),
        ("aclshmem_maloc", "aclshmem_malloc"),
        ("aclshmemx_putmem", "aclshmem_putmem"),
        ("aclshmemx_sdma_atomic_add", None),
        ("aclshmem_kv_shuffle", None),
    ],
)
def test_nearest_name(unknown: str, meant: str | None) -> None:
    assert table.lookup(unknown) is None
    assert table.nearest(unknown) == meant


def test_renames_end_at_names_that_exist() -> None:
    for old, new in table.RENAMED.items():
        assert table.lookup(old) is None, old
        assert table.lookup(new) is not None, new
