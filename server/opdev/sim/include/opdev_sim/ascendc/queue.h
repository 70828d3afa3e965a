// TPipe, TQue and TBuf: who holds which part of UB.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <deque>
#include <vector>

#include "opdev_sim/ascendc/state.h"
#include "opdev_sim/ascendc/tensor.h"

namespace AscendC {

constexpr bool in_unified_buffer(TPosition position)
{
    return position == TPosition::VECIN || position == TPosition::VECOUT || position == TPosition::VECCALC;
}

/// 一块不排队的 UB。
/// A piece of UB that is not queued.
template <TPosition position = TPosition::VECCALC>
class TBuf {
    static_assert(in_unified_buffer(position), "not in the stand-in: buffers in L1, L0 and BT (Cube)");

public:
    template <class T>
    LocalTensor<T> Get() const
    {
        return LocalTensor<T>(position, address_, bytes_ / static_cast<uint32_t>(sizeof(T)));
    }
    template <class T>
    LocalTensor<T> Get(uint32_t elements, Site at = here()) const
    {
        return GetWithOffset<T>(elements, 0, at);
    }
    template <class T>
    LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t offset, Site at = here()) const
    {
        const uint64_t end = offset + static_cast<uint64_t>(elements) * sizeof(T);
        if (end > bytes_) {
            opdev_sim::fault(opdev_sim::kind::ub_bounds, at, "a TBuf of %u bytes is asked for bytes up to %llu",
                             "TBuf 只有 %u 字节，却要到第 %llu 字节", bytes_, static_cast<opdev_sim::Count>(end));
        }
        return LocalTensor<T>(position, address_ + offset, elements);
    }
    // The signature of a base class user code may hold it by.
    template <class T>
    void FreeTensor(LocalTensor<T> &) const
    {
    }

private:
    friend class TPipe;
    uint32_t address_ = 0;
    uint32_t bytes_ = 0;
};

/// UB 张量队列：AllocTensor、EnQue、DeQue、FreeTensor 依次成对。
/// A queue of tensors in UB: AllocTensor, EnQue, DeQue, FreeTensor, each once.
template <TPosition position, int32_t depth = 1, int32_t mask = 0>
class TQue {
    static_assert(in_unified_buffer(position), "not in the stand-in: queues in L1, L0 and BT (Cube)");

public:
    template <class T>
    LocalTensor<T> AllocTensor(Site at = here())
    {
        for (Slot &slot : slots_) {
            if (slot.use == Use::free) {
                slot.use = Use::taken;
                slot.at = at;
                return tensor<T>(slot);
            }
        }
        if (slots_.empty()) {
            misuse(at, "AllocTensor on a TQue that InitBuffer never gave memory", "AllocTensor 时 TQue 还没有 InitBuffer");
        }
        misuse(at, "AllocTensor finds no free buffer: a FreeTensor is missing, or more tensors are held than InitBuffer "
                   "gave; the core hangs",
               "AllocTensor 拿不到空闲的缓冲：漏了 FreeTensor，或同时持有的张量比 InitBuffer 给的多；核会卡死");
    }
    template <class T>
    bool EnQue(const LocalTensor<T> &tensor, Site at = here())
    {
        Slot &slot = of(tensor, "EnQue", at);
        if (slot.use != Use::taken) {
            misuse(at, "EnQue of a tensor that AllocTensor or DeQue did not give", "EnQue 的张量不是 AllocTensor 或 DeQue 给出的");
        }
        slot.use = Use::queued;
        slot.ticket = opdev_sim::ticket();
        fifo_.push_back(&slot);
        return true;
    }
    template <class T>
    LocalTensor<T> DeQue(Site at = here())
    {
        if (fifo_.empty()) {
            misuse(at, "DeQue on an empty queue: its EnQue is missing; the core hangs", "DeQue 时队列是空的：漏了 EnQue；核会卡死");
        }
        Slot &slot = *fifo_.front();
        fifo_.pop_front();
        slot.use = Use::taken;
        slot.at = at;
        return tensor<T>(slot);
    }
    template <class T>
    void FreeTensor(const LocalTensor<T> &tensor, Site at = here())
    {
        Slot &slot = of(tensor, "FreeTensor", at);
        if (slot.use == Use::free) {
            misuse(at, "FreeTensor frees a tensor twice", "FreeTensor 重复释放同一个张量");
        }
        // The queue orders the next writer of this buffer behind what still reads it.
        opdev_sim::complete(opdev_sim::mte);
        slot.use = Use::free;
    }
    bool HasTensorInQue() const { return !fifo_.empty(); }
    bool VacantInQue() const { return static_cast<int32_t>(fifo_.size()) < depth; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(fifo_.size()); }
    bool HasIdleBuffer() const
    {
        for (const Slot &slot : slots_) {
            if (slot.use == Use::free) {
                return true;
            }
        }
        return false;
    }

    TQue() = default;
    TQue(const TQue &) = delete;
    TQue &operator=(const TQue &) = delete;
    ~TQue()
    {
        for (const Slot &slot : slots_) {
            if (slot.use == Use::taken) {
                misuse(slot.at, "a tensor taken from this TQue is never freed: the next pass of the loop, or the next "
                                "kernel, finds no buffer",
                       "从这个 TQue 取的张量一直没有 FreeTensor：下一轮循环或下一个 kernel 就没有缓冲可用");
            }
            if (slot.use == Use::queued) {
                misuse(slot.at, "a tensor stays in this TQue: its DeQue is missing, so nothing reads what was computed",
                       "有张量留在这个 TQue 里没有 DeQue：算出的数据没有人取");
            }
        }
    }

private:
    friend class TPipe;
    enum class Use : uint8_t { free, taken, queued };
    struct Slot {
        uint32_t address = 0;
        Use use = Use::free;
        uint64_t ticket = 0;
        Site at;
    };

    [[noreturn]] static void misuse(Site at, const char *en, const char *zh)
    {
        // Each language's format prints its own text and swallows the other's.
        opdev_sim::fault(opdev_sim::kind::queue, at, "%s%.0s", "%.0s%s", en, zh);
    }
    template <class T>
    LocalTensor<T> tensor(const Slot &slot) const
    {
        return LocalTensor<T>(position, slot.address, bytes_ / static_cast<uint32_t>(sizeof(T)));
    }
    template <class T>
    Slot &of(const LocalTensor<T> &tensor, const char *, Site at)
    {
        for (Slot &slot : slots_) {
            if (slot.address == tensor.address_.bufferAddr) {
                return slot;
            }
        }
        misuse(at, "this tensor does not come from this TQue", "这个张量不是从这个 TQue 取的");
    }

    std::vector<Slot> slots_;
    std::deque<Slot *> fifo_;
    uint32_t bytes_ = 0;
};

// A queue that names where its tensors come from and go to.
template <TPosition source, TPosition destination, int32_t depth = 1, int32_t mask = 0>
class TQueBind : public TQue<source, depth, mask> {
};

/// 管理 UB：为队列和缓冲区分配空间。
/// Hands out UB to queues and buffers.
class TPipe {
public:
    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes, Site at = here())
    {
        buffer.address_ = take(bytes, at);
        buffer.bytes_ = rounded(bytes);
        return true;
    }
    template <TPosition position, int32_t depth, int32_t mask>
    bool InitBuffer(TQue<position, depth, mask> &queue, uint8_t count, uint32_t bytes, Site at = here())
    {
        queue.bytes_ = rounded(bytes);
        queue.slots_.reserve(queue.slots_.size() + count);  // the queue keeps pointers
        for (int index = 0; index < count; ++index) {
            queue.slots_.emplace_back();
            queue.slots_.back().address = take(bytes, at);
        }
        return true;
    }
    // Event numbers are the user's to keep apart; the pipe hands them out in turn.
    template <HardEvent event>
    TEventID AllocEventID(Site at = here())
    {
        uint8_t &used = events_[static_cast<int>(event)];
        for (int id = 0; id < 8; ++id) {
            if ((used & 1u << id) == 0) {
                used = static_cast<uint8_t>(used | 1u << id);
                return static_cast<TEventID>(id);
            }
        }
        opdev_sim::fault(opdev_sim::kind::queue, at, "all 8 event numbers are taken: a ReleaseEventID is missing",
                         "8 个事件号都被占用：漏了 ReleaseEventID");
    }
    template <HardEvent event>
    void ReleaseEventID(TEventID id)
    {
        events_[static_cast<int>(event)] = static_cast<uint8_t>(events_[static_cast<int>(event)] & ~(1u << id));
    }
    TEventID FetchEventID(HardEvent) const { return 0; }
    template <HardEvent event>
    TEventID FetchEventID() const
    {
        return 0;
    }
    void Init() {}
    void Destroy() {}
    void Reset() { top_ = 0; }

private:
    static uint32_t rounded(uint32_t bytes) { return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE; }
    uint32_t take(uint32_t bytes, Site at)
    {
        const uint32_t start = top_;
        top_ += rounded(bytes);
        const uint64_t there = opdev_sim::current().ub_size;
        if (top_ > there) {
            opdev_sim::fault(opdev_sim::kind::ub_bounds, at, "TPipe is asked for %u bytes of UB in all, %llu are there",
                             "TPipe 总共要了 %u 字节 UB，只有 %llu 字节", top_, static_cast<opdev_sim::Count>(there));
        }
        return start;
    }
    uint32_t top_ = 0;
    uint8_t events_[static_cast<int>(HardEvent::MAX)] = {};
};

inline TPipe *GetTPipePtr()
{
    static thread_local TPipe pipe;
    return &pipe;
}

}  // namespace AscendC
