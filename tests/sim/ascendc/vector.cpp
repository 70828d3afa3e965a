// Vector instructions of the stand-in on given numbers: vector <case> <a> <b> <out>, files of raw elements.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
struct Numbers {
    GlobalTensor<T> a, b;
    LocalTensor<T> x, y, z, w;
    uint32_t count;
    __aicore__ Numbers(TPipe &pipe, GM_ADDR a_ptr, GM_ADDR b_ptr, uint32_t n) : count(n)
    {
        a.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(a_ptr), n);
        b.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(b_ptr), n);
        TBuf<TPosition::VECCALC> memory[4];
        LocalTensor<T> *all[4] = {&x, &y, &z, &w};
        for (int i = 0; i < 4; ++i) {
            pipe.InitBuffer(memory[i], 8192);
            *all[i] = memory[i].Get<T>();
        }
        const DataCopyExtParams how(1, n * sizeof(T), 0, 0, 0);
        DataCopyPad(x, a, how, DataCopyPadExtParams<T>(false, 0, 0, 0));
        DataCopyPad(y, b, how, DataCopyPadExtParams<T>(false, 0, 0, 0));
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }
};

template <typename T>
__aicore__ void store(GM_ADDR out, const LocalTensor<T> &from, uint32_t count)
{
    GlobalTensor<T> target;
    target.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(out), count);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopyPad(target, from, DataCopyExtParams(1, count * sizeof(T), 0, 0, 0));
    PipeBarrier<PIPE_ALL>();
}

template <typename T>
__global__ __aicore__ void arithmetic(GM_ADDR a, GM_ADDR b, GM_ADDR out, uint32_t count, int32_t which)
{
    TPipe pipe;
    Numbers<T> in(pipe, a, b, count);
    const int32_t n = static_cast<int32_t>(count);
    switch (which) {
        case 0: Add(in.z, in.x, in.y, n); break;
        case 1: Sub(in.z, in.x, in.y, n); break;
        case 2: Mul(in.z, in.x, in.y, n); break;
        case 3: Max(in.z, in.x, in.y, n); break;
        case 4: Min(in.z, in.x, in.y, n); break;
        case 5: Muls(in.z, in.x, T(3), n); break;
        case 6: Adds(in.z, in.x, T(-2), n); break;
        case 7: Duplicate(in.z, T(7), n); break;
        default: {  // every second lane of whole repeats, the rest from Duplicate
            Duplicate(in.z, T(0), n);
            uint64_t lanes[2] = {0x5555555555555555ull, sizeof(T) == 2 ? 0x5555555555555555ull : 0ull};
            const uint8_t repeats = static_cast<uint8_t>(count * sizeof(T) / 256);
            Add(in.z, in.x, in.y, lanes, repeats, {1, 1, 1, 8, 8, 8});
        }
    }
    store(out, in.z, count);
}

template <typename T>
__global__ __aicore__ void floating(GM_ADDR a, GM_ADDR b, GM_ADDR out, uint32_t count, int32_t which)
{
    TPipe pipe;
    Numbers<T> in(pipe, a, b, count);
    const int32_t n = static_cast<int32_t>(count);
    switch (which) {
        case 0: Div(in.z, in.x, in.y, n); break;
        case 1: Exp(in.z, in.x, n); break;
        case 2: Abs(in.z, in.x, n); break;
        case 3: Relu(in.z, in.x, n); break;
        case 4:
            Abs(in.x, in.x, n);
            Sqrt(in.z, in.x, n);
            break;
        default:
            Duplicate(in.z, T(0), n);
            ReduceSum(in.z, in.x, in.w, n);
            ReduceMax(in.y, in.x, in.w, n);
            in.z.SetValue(1, in.y.GetValue(0));
    }
    store(out, in.z, count);
}

template <typename D, typename S>
__global__ __aicore__ void cast(GM_ADDR a, GM_ADDR out, uint32_t count, int32_t mode)
{
    TPipe pipe;
    Numbers<S> in(pipe, a, a, count);
    TBuf<TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, 16384);
    LocalTensor<D> to = memory.Get<D>();
    Cast(to, in.x, static_cast<RoundMode>(mode), count);
    store(out, to, count);
}

static std::vector<char> read(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        return 2;
    }
    const std::string what = argv[1];
    const int32_t which = std::stoi(argv[2]);
    const std::vector<char> a = read(argv[3]), b = read(argv[4]);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *a_ptr = nullptr, *b_ptr = nullptr, *out_ptr = nullptr;
    std::vector<char> out(a.size() * 2);
    aclrtMalloc(&a_ptr, a.size(), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&b_ptr, b.size(), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&out_ptr, out.size(), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(a_ptr, a.size(), a.data(), a.size(), ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b_ptr, b.size(), b.data(), b.size(), ACL_MEMCPY_HOST_TO_DEVICE);
    auto *x = static_cast<uint8_t *>(a_ptr);
    auto *y = static_cast<uint8_t *>(b_ptr);
    auto *z = static_cast<uint8_t *>(out_ptr);
    const uint32_t n2 = static_cast<uint32_t>(a.size() / 2), n4 = static_cast<uint32_t>(a.size() / 4);
    uint64_t bytes = a.size();
    if (what == "half") {
        arithmetic<half><<<1, nullptr, stream>>>(x, y, z, n2, which);
    } else if (what == "float") {
        arithmetic<float><<<1, nullptr, stream>>>(x, y, z, n4, which);
    } else if (what == "int32") {
        arithmetic<int32_t><<<1, nullptr, stream>>>(x, y, z, n4, which);
    } else if (what == "int16") {
        arithmetic<int16_t><<<1, nullptr, stream>>>(x, y, z, n2, which);
    } else if (what == "floating-half") {
        floating<half><<<1, nullptr, stream>>>(x, y, z, n2, which);
    } else if (what == "floating-float") {
        floating<float><<<1, nullptr, stream>>>(x, y, z, n4, which);
    } else if (what == "float-half") {
        cast<half, float><<<1, nullptr, stream>>>(x, z, n4, which);
        bytes /= 2;
    } else if (what == "float-bfloat16") {
        cast<bfloat16_t, float><<<1, nullptr, stream>>>(x, z, n4, which);
        bytes /= 2;
    } else if (what == "half-float") {
        cast<float, half><<<1, nullptr, stream>>>(x, z, n2, which);
        bytes *= 2;
    } else {
        cast<int32_t, float><<<1, nullptr, stream>>>(x, z, n4, which);
    }
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(out.data(), bytes, out_ptr, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    std::ofstream(argv[5], std::ios::binary).write(out.data(), static_cast<std::streamsize>(bytes));
    return aclFinalize();
}
