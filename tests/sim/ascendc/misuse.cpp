// One kernel for each mistake the AscendC headers catch, and its clean twin: misuse <case> <bad: 0 or 1>.
#include <string>

#include "acl/acl.h"
#include "kernel_operator.h"

using namespace AscendC;

enum Case { LEAK, LEFT_QUEUED, DOUBLE_FREE, NO_BUFFER, TENSOR_BOUNDS, TBUF_BOUNDS, UB_TOTAL, ODD_COPY, MISALIGNED,
            GLOBAL_BOUNDS, WAIT_ALONE, SET_ALONE, SET_TWICE, CROSS_CORE, UB_POINTER };

__aicore__ void queues(int32_t which, bool bad)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, 1024);
    LocalTensor<half> first = queue.AllocTensor<half>();
    Duplicate(first, half(1), 512);
    queue.EnQue(first);
    if (which == LEFT_QUEUED && bad) {
        return;
    }
    first = queue.DeQue<half>();
    if (which == NO_BUFFER && bad) {
        LocalTensor<half> second = queue.AllocTensor<half>();
        queue.AllocTensor<half>();
        queue.FreeTensor(second);
    }
    if (!(which == LEAK && bad)) {
        queue.FreeTensor(first);
    }
    if (which == DOUBLE_FREE && bad) {
        queue.FreeTensor(first);
    }
}

__aicore__ void bounds(int32_t which, bool bad, GM_ADDR memory)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    LocalTensor<float> tensor = buffer.Get<float>();
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(memory), 256);
    const int32_t more = bad ? 1 : 0;
    switch (which) {
        case TENSOR_BOUNDS: Duplicate(tensor, 1.0f, 256 + more); break;
        case TBUF_BOUNDS: buffer.Get<float>(256 + more); break;
        case UB_TOTAL: {
            TBuf<TPosition::VECCALC> rest;
            pipe.InitBuffer(rest, 191 * 1024 + 32 * more);
            break;
        }
        case ODD_COPY: DataCopy(tensor, global, 64 + more); break;
        case MISALIGNED: Adds(tensor[8 + more], tensor, 1.0f, 8); break;
        case GLOBAL_BOUNDS: DataCopy(tensor, global[8 * more], 256); break;
        case UB_POINTER: {
            __ubuf__ float *last = (__ubuf__ float *)(192 * 1024 - 4);
            __ubuf__ float *end = reinterpret_cast<__ubuf__ float *>(uint64_t(192 * 1024));
            *(bad ? end : last) = 1.0f;
            break;
        }
        default: break;
    }
}

__aicore__ void flags(int32_t which, bool bad)
{
    if (!(which == WAIT_ALONE && bad)) {
        SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
    }
    if (which == SET_TWICE && bad) {
        SetFlag<HardEvent::MTE2_V>(EVENT_ID3);
    }
    if (!(which == SET_ALONE && bad)) {
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID3);
    }
}

// A cube core hands a number to its two vector cores, which answer.
__aicore__ void cross(bool bad, GM_ADDR memory)
{
    __gm__ int32_t *slot = reinterpret_cast<__gm__ int32_t *>(memory) + (ASCEND_IS_AIC ? GetBlockIdx() : GetBlockIdx() / 2);
    if ASCEND_IS_AIC {
        *slot = 40 + static_cast<int32_t>(GetBlockIdx());
        CrossCoreSetFlag<0x2, PIPE_FIX>(1);
        CrossCoreWaitFlag(2);
    }
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(1);
        if (*slot != 40 + GetBlockIdx() / 2) {
            PRINTF("wrong %d\n", *slot);
        }
        if (!(bad && GetSubBlockIdx() == 1)) {
            CrossCoreSetFlag<0x2, PIPE_MTE3>(2);
        }
    }
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void misuse(int32_t which, int32_t bad, GM_ADDR memory)
{
    if (which <= NO_BUFFER) {
        queues(which, bad != 0);
    } else if (which <= GLOBAL_BOUNDS || which == UB_POINTER) {
        bounds(which, bad != 0, memory);
    } else {
        flags(which, bad != 0);
    }
}

extern "C" [[bisheng::core_ratio(1, 2)]] __global__ __aicore__ void mixed(int32_t bad, GM_ADDR memory)
{
    cross(bad != 0, memory);
}

int main(int, char **argv)
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *memory = nullptr;
    aclrtMalloc(&memory, 1024, ACL_MEM_MALLOC_HUGE_FIRST);
    const int which = std::stoi(argv[1]);
    const int bad = std::stoi(argv[2]);
    if (which == CROSS_CORE) {
        mixed<<<2, nullptr, stream>>>(bad, static_cast<uint8_t *>(memory));
    } else {
        misuse<<<1, nullptr, stream>>>(which, bad, static_cast<uint8_t *>(memory));
    }
    return aclrtSynchronizeStream(stream) | aclFinalize();
}
