"""AscendC made readable for a CUDA grammar, byte for byte in place.

tree-sitter-cuda knows ``<<<…>>>`` but none of AscendC's qualifiers; on the public SHMEM tree that
is nearly four thousand parse errors.  Each construct below is overwritten with spaces (or with an
ordinary expression of the same length), so no offset ever moves.  Comments and strings may be
touched as well: the tree is only asked for structure, text always comes from the file itself.
"""

from __future__ import annotations

import re

from opdev.syntax.blank import spaces

# Unmistakable words: replaced wherever they stand, at the speed of bytes.replace.
_PLAIN = [
    (word, b" " * len(word))
    for word in rb"""
__gm__ __ubuf__ __aicore__ __global__ __cbuf__ __ca__ __cb__ __cc__ __fbuf__ __cube__ __vector__
__sync_noalias__ __sync_alias__ __check_sync_alias__ __inout_pipe__ __in_pipe__ __out_pipe__
__simt_vf__ __simt_callee__ __simd_vf__ __simd_callee__ __no_simd_vf_fusion__ __forceinline__
__inline__ __host_aicore__ __host__ __device__ __weak__ __noinline__ __restrict__ [aicore] [host]
__bisheng_intrinsic__ ACLSHMEM_DEVICE ACLSHMEM_HOST_API ACLSHMEM_SIMT_DEVICE ACLSHMEM_SIMT_WARP
ACLSHMEM_GLOBAL ACLSHMEM_GLOBAL_VECTOR CATLASS_DEVICE CATLASS_HOST_DEVICE CATLASS_GLOBAL FORCE_INLINE_AICORE
""".split()
]
# The longest first: HOST_API must not leave half of itself behind.
_PLAIN.sort(key=lambda pair: -len(pair[0]))

# Words that are also parts of other names: replaced as whole words only.
_WORDS = re.compile(
    rb"\b(?:SHMEM_DEVICE|SHMEM_GLOBAL|SHMEM_HOST_API|SHMEM_API|HOST_DEVICE|FORCE_INLINE|AICORE|INLINE"
    rb"|ASCENDC_INLINE|ALWAYS_INLINE|__restrict|__mix__|__schedmode__|__launch_bounds__|__attribute__)\b"
    rb"(?P<args>[ \t]*\((?:[^()\n]|\([^()\n]*\))*\))?"
)
_WORDS_HINT = (b"SHMEM_", b"HOST_DEVICE", b"INLINE", b"AICORE", b"__restrict", b"__mix__", b"__schedmode__",
               b"__launch_bounds__", b"__attribute__")  # fmt: skip
_TAKES_ARGS = (b"__attribute__", b"__launch_bounds__", b"__mix__", b"__schedmode__")
_CORE_IF = re.compile(rb"\bif[ \t]+(?:constexpr[ \t]+)?(?P<cond>ASCEND_IS_\w+|g_coreType[^\n{;]*)")
# A macro call alone on its line at file scope, without the semicolon a declaration would need.
_BARE_MACRO = re.compile(
    rb"^(?P<name>[A-Z][A-Z0-9_]{2,})[ \t]*\((?P<args>[^(){};\n\\]*(?:\n[^(){};\n\\]*){0,6})\)[ \t]*;?[ \t]*\r?$",
    re.MULTILINE,
)
# The body of a macro of several lines is opaque to every rule, and to the grammar mostly an error.
_LONG_DEFINE = re.compile(
    rb"^[ \t]*#[ \t]*define\b[^\n]*\\[ \t]*\r?\n(?:[^\n]*\\[ \t]*\r?\n)*[^\n]*"
    rb"|^[ \t]*#[ \t]*define\b[^\n]*(?:\w\.\.\.\)|\#\#|__attribute__)[^\n]*"
    rb"|^[ \t]*#[ \t]*(?:define|undef)[ \t]+(?:inline|ACLSHMEM_\w*DEVICE|ACLSHMEM_HOST_API|GM_ADDR)\b[^\n]*",
    re.MULTILINE,
)
# The C++ guards round `extern "C" {` and its `}`: each half of the brace in a block of its own.
_EXTERN_C = re.compile(
    rb"^[ \t]*#[ \t]*(?:ifdef[ \t]+__cplusplus|if[ \t]+defined[ \t]*\(?__cplusplus\)?)[^\n]*\r?\n"
    rb"(?:[ \t]*extern[ \t]+\S*[ \t]*\{|[ \t]*\})[ \t]*\r?\n[ \t]*#[ \t]*endif\b[^\n]*",
    re.MULTILINE,
)
# Braces that hold declarations, not statements.
_OUTER_BRACE = re.compile(rb"\b(?:namespace|extern)\b[^;{}()]*\{")


def mask_ascendc(data: bytes, code: bytes) -> bytes:
    """``data`` ready for the CUDA grammar; ``code`` is the same text with comments blanked."""
    text = data
    if b"\0" in text:
        text = text.replace(b"\0", b" ")
    if b"\xc2\xa0" in text:
        text = text.replace(b"\xc2\xa0", b"  ")
    out = bytearray(text)
    if b"#" in code and b"define" in code:
        _blank_matches(out, _LONG_DEFINE, code)
    if b"__cplusplus" in code:
        _blank_matches(out, _EXTERN_C, data)
    text = bytes(out)
    for word, gap in _PLAIN:
        if word in text:
            text = text.replace(word, gap)
    out = bytearray(text)
    if any(hint in text for hint in _WORDS_HINT):
        for match in _WORDS.finditer(text):
            end = match.end()
            if match.group("args") is not None and not match.group().startswith(_TAKES_ARGS):
                end = match.start("args")
            out[match.start() : end] = spaces(bytes(out[match.start() : end]))
    if b"ASCEND_IS_" in text or b"g_coreType" in text:
        for match in _CORE_IF.finditer(text):
            _parenthesise(out, *match.span("cond"))
    for match in _BARE_MACRO.finditer(code):
        if _at_file_scope(code, match):
            out[match.start() : match.end()] = spaces(bytes(out[match.start() : match.end()]))
    return bytes(out)


def has_bare_macro(code: bytes) -> bool:
    """Whether some macro call may stand where a declaration would: the text before it decides."""
    return _BARE_MACRO.search(code) is not None


def _blank_matches(out: bytearray, pattern: re.Pattern[bytes], text: bytes) -> None:
    for match in pattern.finditer(text):
        out[match.start() : match.end()] = spaces(match.group())


def _parenthesise(out: bytearray, start: int, end: int) -> None:
    """``if ASCEND_IS_AIV {`` becomes ``if (SCEND_IS_AI) {``: a condition, of the same length."""
    word = bytes(out[start:end]).rstrip()
    out[start] = ord("(")
    out[start + len(word) - 1] = ord(")")
    if b" " in word or b"=" in word:
        out[start + 1 : start + len(word) - 1] = b"1".ljust(len(word) - 2)


def _at_file_scope(code: bytes, match: re.Match[bytes]) -> bool:
    """Whether a bare macro call stands where a declaration would; what follows must be one too."""
    rest = code[match.end() : match.end() + 200].lstrip()
    if rest[:1] in (b"{", b":", b";", b")", b",", b".", b"?", b"=", b"+", b"-"):
        return False
    start = match.start()
    if code[max(0, start - 300) : start].rstrip().endswith(b"\\"):
        return False
    depth = code.count(b"{", 0, start) - code.count(b"}", 0, start)
    return depth <= 0 or depth <= sum(1 for _ in _OUTER_BRACE.finditer(code, 0, start))
