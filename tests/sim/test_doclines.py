"""The lines that editors show of the stand-in's names are those of opdev's table."""

from __future__ import annotations

import re

import pytest

from opdev.sim.doclines import documented, headers, words


@pytest.mark.parametrize("path", headers(), ids=lambda p: p.name)
def test_headers_are_as_written(path):
    text = path.read_text(encoding="utf-8")

    assert documented(text) == text


def test_the_names_operators_use_are_documented():
    text = "\n".join(path.read_text(encoding="utf-8") for path in headers())
    told = {match[1] for match in re.finditer(r"^///[^\n]*\n(?:template[^\n]*\n)?[^\n]*?\b(\w+)[({]", text, re.M)}

    assert {
        "aclshmem_malloc",
        "aclshmemx_init_attr",
        "aclshmem_quiet",
        "aclshmemx_signal_op",
        "DataCopy",
        "aclrtMalloc",
    } <= told
    assert words("opdev_nobody") is None


def test_a_macro_that_makes_several_names_says_what_fits_all():
    made = documented("OPDEV_SIM_BULK(aclshmem_putmem, aclshmem_getmem, void, 1)\n")

    assert made.count("///") == 2
    assert "get reads from it" in made
