// Comes after opdev_clangd.h where CANN's own headers are read: the words that only CANN's compiler knows.
//
// `[aicore]` is an attribute of that compiler, so CANN's headers may define __aicore__ as it; clangd is not told.
#pragma once

#include <cstddef>
#include <cstdint>

#define __CCE__ 1
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __aicore__
#define __global__
#define __inout_pipe__(...)
#define __sync_alias__
#define __check_sync_alias__
#define __sync_noalias__
#define __in__
#define __out__
#define __mix__(...)
#define __vector__
#define __cube__
