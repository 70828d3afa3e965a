// Finds waits that nobody can end, the moment they come about.
//
// All threads that could end a wait are counted while they run.  When none runs in any PE, and the condition of none of
// the waits holds, nothing can change any more: that is a deadlock, however long or short it has lasted.
#include <cstdio>
#include <mutex>
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

std::string who(int pe, int block) { return "PE " + std::to_string(pe) + (block >= 0 ? " block " + std::to_string(block) : " host"); }

// One wait, as people read it and (`machine`) as a line of fields.
std::string tell(int pe, const Thread &t, bool machine)
{
    char place[200];
    uint64_t seen = 0;
    std::memcpy(&seen, world.mapping + t.offset, size_of(t.type));
    std::string head = machine ? "[SIM] wait pe=" + std::to_string(pe) + " block=" + std::to_string(t.block) + " file=" + t.file +
                                     " line=" + std::to_string(t.line) + " call=" + t.what
                               : who(pe, t.block) + " (" + t.file + ":" + std::to_string(t.line) + ") waits in " + t.what;
    if (t.team >= 0) {
        const Team &team = world.control->teams[t.team];
        std::string absent;
        // A member that is in this barrier has counted itself in for the coming generation.
        for (int i = 0; i < team.size; i++)
            if (team.arrivals[i].load() != team.generation.load() + 1)
                absent += (absent.empty() ? "" : ",") + std::to_string(team.start + i * team.stride);
        return machine ? head + " for=pe:" + absent : head + " for PE " + absent;
    }
    if (t.offset < offset_of(world.heaps)) {
        const Pe &p = world.control->pe[pe];
        for (const Launch &l : p.launches)
            if (t.offset == offset_of(&l.generation)) {
                std::string n = std::to_string(l.arrived.load()) + " of " + std::to_string(l.blocks.load());
                return machine ? head + " for=blocks:" + n : head + ": " + n + " blocks have come";
            }
        return head;
    }
    describe(t.offset, place, sizeof place);
    int from_pe = 0;
    int from_block = 0;
    uint64_t value = 0;
    bool known = last_writer(t.offset, &from_pe, &from_block, &value);
    std::string want = number(t.type, t.bits);
    std::string is = number(t.type, seen);
    if (machine)
        return head + " address=" + place + " cmp=" + compare_names[t.cmp] + " want=" + want + " seen=" + is +
               (known ? " writer=" + std::to_string(from_pe) + ":" + std::to_string(from_block) : " writer=none");
    return head + " for " + compare_names[t.cmp] + " " + want + " at " + place + ": it holds " + is +
           (known ? ", last set by " + who(from_pe, from_block) : ", nobody has signalled it");
}

[[noreturn]] void report(int waits)
{
    std::string lines;
    std::string first;
    std::string pending;
    Site at;
    static char file[64];
    Control &c = *world.control;
    // Kernels tell more than the hosts that wait for them.
    for (int pass = 0; pass < 2; pass++)
        for (int pe = 0; pe < world.pes; pe++)
            for (const Thread &t : c.pe[pe].threads) {
                if (t.state.load() != ThreadState::waiting || (t.role == Role::block) != (pass == 0)) continue;
                lines += tell(pe, t, true) + "\n";
                bool result = t.role == Role::block || t.team >= 0;
                if (first.empty() && result) {
                    first = tell(pe, t, false);
                    copy_text(file, sizeof file, t.file);
                    at = {file, t.line};
                }
                char text[200];
                if (pending.empty() && t.team < 0 && t.offset >= offset_of(world.heaps) &&
                    pending_over(t.offset, size_of(t.type), text, sizeof text))
                    pending = text;
            }
    for (int pe = 0; pe < world.pes; pe++) {
        PeState s = c.pe[pe].state.load();
        if (s == PeState::left || s == PeState::exited) {
            lines += "[SIM] gone pe=" + std::to_string(pe) + (s == PeState::left ? " after=finalize" : " after=exit") + "\n";
            first += "; PE " + std::to_string(pe) + (s == PeState::left ? " has finalized" : " has exited");
        }
    }
    if (!pending.empty()) first += "; " + pending;
    static std::once_flag once;
    std::call_once(once, [&] {
        uint32_t nobody = 0;
        // Only one process tells, though all may find it.
        if (c.dying.compare_exchange_strong(nobody, static_cast<uint32_t>(world.pe) + 1)) fputs(lines.c_str(), stderr);
    });
    fault(kind::deadlock, at, "nobody is left to end %d waits: %s", "%d 处等待已无人能够结束：%s", waits, first.c_str());
}

}  // namespace

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
