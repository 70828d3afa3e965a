// Finds waits that nobody can end, the moment they come about.
//
// All threads that could end a wait are counted while they run.  When none runs in any PE, and the condition of none of
// the waits holds, nothing can change any more: that is a deadlock, however long or short it has lasted.
#include <cstdio>
#include <string>

#include "opdev_sim/heap.h"
#include "opdev_sim/wait.h"
#include "shared.h"

namespace opdev_sim {

namespace {

const char *const compare_names[] = {"EQ", "NE", "GT", "GE", "LT", "LE"};

bool somebody_runs()
{
    Control &c = *world.control;
    if (c.joined.load() < static_cast<uint32_t>(world.pes)) return true;
    for (int pe = 0; pe < world.pes; pe++) {
        PeState s = c.pe[pe].state.load();
        if (s == PeState::absent) return true;
        if (s == PeState::joined && c.pe[pe].running.load() != 0) return true;
    }
    return false;
}

bool is_gate(const Thread &t) { return t.offset == offset_of(&world.control->gate); }

std::string number(Element type, uint64_t bits)
{
    char text[64];
    switch (type) {
        case Element::f32: {
            float f;
            std::memcpy(&f, &bits, sizeof f);
            snprintf(text, sizeof text, "%g", static_cast<double>(f));
            break;
        }
        case Element::f64: {
            double d;
            std::memcpy(&d, &bits, sizeof d);
            snprintf(text, sizeof text, "%g", d);
            break;
        }
        case Element::i8: snprintf(text, sizeof text, "%d", static_cast<int8_t>(bits)); break;
        case Element::i16: snprintf(text, sizeof text, "%d", static_cast<int16_t>(bits)); break;
        case Element::i32: snprintf(text, sizeof text, "%d", static_cast<int32_t>(bits)); break;
        case Element::i64: snprintf(text, sizeof text, "%lld", static_cast<long long>(bits)); break;
        default: snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits));
    }
    return text;
}

std::string who(int pe, int block, bool zh)
{
    std::string text = "PE " + std::to_string(pe);
    if (zh) return text + (block >= 0 ? " 核 " + std::to_string(block) : " 主机侧");
    return text + (block >= 0 ? " block " + std::to_string(block) : " host");
}

// The parts of one wait's description; the three ways of telling it put them together.
struct Told {
    std::string en, zh, fields;
    int rank = 3;  // how much it explains: 0 a value, 1 other PEs, 2 other blocks, 3 the host's wait for kernels
};

Told tell(int pe, const Thread &t)
{
    Told told;
    std::string where = std::string(t.file) + ":" + std::to_string(t.line);
    told.en = who(pe, t.block, false) + " (" + where + ") waits in " + t.what;
    told.zh = who(pe, t.block, true) + "（" + where + "）在 " + t.what + " 中等待";
    told.fields = "[SIM] wait pe=" + std::to_string(pe) + " block=" + std::to_string(t.block) + " file=" + t.file +
                  " line=" + std::to_string(t.line) + " call=" + t.what;
    if (t.team >= 0) {
        const Team &team = world.control->teams[t.team];
        std::string absent;
        // A member that is in this barrier has counted itself in for the coming generation.
        for (int i = 0; i < team.size; i++)
            if (team.arrivals[i].load() != team.generation.load() + 1)
                absent += (absent.empty() ? "" : ",") + std::to_string(team.start + i * team.stride);
        told.en += " for PE " + absent;
        told.zh += " PE " + absent;
        told.fields += " for=pe:" + absent;
        told.rank = 1;
        return told;
    }
    if (t.offset < offset_of(world.heaps)) {
        char flag[200];
        for (const Launch &l : world.control->pe[pe].launches) {
            if (describe_cross_flag(l, t.offset, flag, sizeof flag, false)) {
                told.en += flag;
                describe_cross_flag(l, t.offset, flag, sizeof flag, true);
                told.zh += flag;
                uint64_t index = (t.offset - offset_of(l.raised)) / sizeof(Word);
                told.fields += " for=flag:" + std::to_string(index % cross_flags) + " want=" + std::to_string(t.bits) +
                               " seen=" + std::to_string(l.raised[index].load());
                told.rank = 0;
            }
            if (t.offset == offset_of(&l.generation)) {
                std::string come = std::to_string(l.arrived.load());
                std::string all = std::to_string(l.blocks.load());
                told.en += ": " + come + " of " + all + " blocks have come";
                told.zh += "：" + all + " 个核中只有 " + come + " 个到达";
                told.fields += " for=blocks:" + come + "/" + all;
                told.rank = 2;
            }
        }
        return told;
    }
    char place[200];
    describe(t.offset, place, sizeof place);
    uint64_t seen = 0;
    std::memcpy(&seen, world.mapping + t.offset, size_of(t.type));
    int from_pe = 0;
    int from_block = 0;
    uint64_t value = 0;
    bool known = last_writer(t.offset, &from_pe, &from_block, &value);
    std::string want = std::string(compare_names[t.cmp]) + " " + number(t.type, t.bits);
    std::string is = number(t.type, seen);
    told.en += " for " + want + " at " + place + ": it holds " + is +
               (known ? ", last set by " + who(from_pe, from_block, false) : ", nobody has signalled it");
    told.zh += " " + want + "（" + place + "）：当前值 " + is +
               (known ? "，最后由 " + who(from_pe, from_block, true) + " 写入" : "，没有任何 PE 发过信号");
    told.fields += std::string(" address=") + place + " cmp=" + compare_names[t.cmp] + " want=" + number(t.type, t.bits) + " seen=" + is +
                   (known ? " writer=" + std::to_string(from_pe) + ":" + std::to_string(from_block) : " writer=none");
    told.rank = 0;
    return told;
}

// Everything that waits, runs or is gone, a line each; the wait that explains most comes back through the pointers.
std::string table(Told *best, int *pe_of_best, const Thread **of_best)
{
    std::string lines;
    best->rank = 4;
    Control &c = *world.control;
    for (int pe = 0; pe < world.pes; pe++)
        for (const Thread &t : c.pe[pe].threads) {
            ThreadState s = t.state.load();
            if (s == ThreadState::running && t.role == Role::block)
                lines += "[SIM] runs pe=" + std::to_string(pe) + " block=" + std::to_string(t.block) + "\n";
            if (s != ThreadState::waiting) continue;
            Told told = tell(pe, t);
            lines += told.fields + "\n";
            if (told.rank >= best->rank) continue;
            *best = told;
            *pe_of_best = pe;
            *of_best = &t;
        }
    for (int pe = 0; pe < world.pes; pe++) {
        PeState s = c.pe[pe].state.load();
        if (s == PeState::left || s == PeState::exited)
            lines += "[SIM] gone pe=" + std::to_string(pe) + (s == PeState::left ? " after=finalize" : " after=exit") + "\n";
    }
    return lines;
}

[[noreturn]] void report(int waits)
{
    Told best;
    int pe = world.pe;
    const Thread *t = nullptr;
    std::string lines = table(&best, &pe, &t);
    Control &c = *world.control;
    for (int p = 0; p < world.pes; p++) {
        PeState s = c.pe[p].state.load();
        if (s != PeState::left && s != PeState::exited) continue;
        best.en += "; PE " + std::to_string(p) + (s == PeState::left ? " has finalized" : " has exited");
        best.zh += "；PE " + std::to_string(p) + (s == PeState::left ? " 已经 finalize" : " 已经退出");
    }
    Site at;
    static char file[64];
    int block = -1;
    if (t != nullptr) {
        copy_text(file, sizeof file, t->file);
        at = {file, t->line};
        block = t->block;
        char text[200];
        if (best.rank == 0 && pending_over(t->offset, size_of(t->type), text, sizeof text)) {
            best.en += std::string("; a transfer into that word is pending: ") + text;
            best.zh += std::string("；写入该字的传输尚未完成：") + text;
        }
    }
    // Only one process tells, though all may find it.
    uint32_t nobody = 0;
    if (c.dying.compare_exchange_strong(nobody, static_cast<uint32_t>(world.pe) + 1)) fputs(lines.c_str(), stderr);
    speak_for(pe, block);
    fault(kind::deadlock, at, "nobody is left who could end %1$d waits: %2$s%3$.0s", "%1$d 处等待已无人能够结束：%2$.0s%3$s", waits,
          best.en.c_str(), best.zh.c_str());
}

}  // namespace

void print_waits()
{
    Told best;
    int pe = 0;
    const Thread *t = nullptr;
    fputs(table(&best, &pe, &t).c_str(), stderr);
}

void look_for_deadlock()
{
    Control &c = *world.control;
    if (c.dying.load() != 0 || somebody_runs()) return;
    uint64_t moves = c.moves.load();
    int waits = 0;
    int gates = 0;
    for (int pe = 0; pe < world.pes; pe++)
        for (const Thread &t : c.pe[pe].threads) {
            ThreadState s = t.state.load();
            if (s == ThreadState::running) {
                PeState of = c.pe[pe].state.load();
                if (of == PeState::joined) return;
                continue;
            }
            if (s != ThreadState::waiting) continue;
            PeState of = c.pe[pe].state.load();
            if (of != PeState::joined) continue;
            if (holds(t.type, world.mapping + t.offset, t.cmp, t.bits)) return;
            if (is_gate(t)) gates++;
            waits++;
        }
    if (waits == 0 || somebody_runs() || c.moves.load() != moves) return;
    // A gate is the stand-in's own: it opens rather than make a deadlock of a launch not all PEs make.
    if (gates > 0) {
        c.gate.fetch_add(1u << 30);
        wake(c.gate);
        return;
    }
    report(waits);
}

}  // namespace opdev_sim
