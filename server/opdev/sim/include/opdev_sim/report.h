// How the stand-in tells a user that something is wrong: one line for machines, one for people, exit status 86.
//
//   [SIM] fault=<kind> pe=<n> block=<n> file=<f> line=<n> text=<English, to the end of the line>
//
// block is -1 on the host side; file and line are those of the user's call ("-" and 0 when unknown).
#pragma once

namespace opdev_sim {

// Where in the user's source a call stands.  Functions a user calls take `Site at = here()` as their last parameter.
struct Site {
    const char *file = nullptr;
    int line = 0;
};
constexpr Site here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

// The status of a run that a check ended.
constexpr int fault_status = 86;

// The kinds of fault.  `opdev sim api` lists them from api.yaml; a test holds both lists equal.
namespace kind {
constexpr const char *bad_pe = "bad-pe";                        // a PE number outside 0..n-1
constexpr const char *not_symmetric = "not-symmetric";          // a remote address that aclshmem_malloc did not give
constexpr const char *heap_bounds = "heap-bounds";              // past the end of a symmetric allocation
constexpr const char *gm_bounds = "gm-bounds";                  // past the end of an aclrtMalloc block
constexpr const char *ub_bounds = "ub-bounds";                  // past the end of UB, or of a local tensor
constexpr const char *alignment = "alignment";                  // an address or size the engine would refuse
constexpr const char *allocation_order = "allocation-order";    // PEs allocate or free differently
constexpr const char *deadlock = "deadlock";                    // nobody is left who could end the waits
constexpr const char *timeout = "timeout";                      // a wait, and no PE got anywhere for OPDEV_SIM_TIMEOUT s
constexpr const char *peer_died = "peer-died";                  // a PE's process ended in the middle of the run
constexpr const char *unordered_read = "unordered-read";        // reads what a pending put or get may still write
constexpr const char *never_completed = "never-completed";      // a transfer no quiet of its engine ever waited for
constexpr const char *source_changed = "source-changed";        // UB or memory a pending put stores from was overwritten
constexpr const char *signal_reused = "signal-reused";          // a signal used again with the value already waited for
constexpr const char *unordered_signal = "unordered-signal";    // a signal that may overtake its data (a warning)
constexpr const char *launch = "launch";                        // a launch the hardware would refuse
constexpr const char *endpoint = "endpoint";                    // two runs, or two PEs of one number, met
constexpr const char *queue = "queue";                          // TQue/TPipe misuse, e.g. a leaked FreeTensor
constexpr const char *unsupported = "unsupported";              // a use the stand-in does not model
constexpr const char *memory = "memory";                        // a plain access outside every buffer (SIGSEGV, SIGBUS)
constexpr const char *leak = "leak";                            // memory left allocated at finalize (a warning)
}  // namespace kind

// Reports and ends the run of every PE.  `en` and `zh` are printf formats over the same arguments, in the same order
// or with positions (%2$s).  OPDEV_SIM_LANG (zh or en; else the locale) chooses the line for people.
[[noreturn]] void fault(const char *kind, Site at, const char *en, const char *zh, ...)
    __attribute__((format(printf, 3, 5), format(printf, 4, 5)));
// The same with one finished text and the place of the last call that told its own.
[[noreturn]] void fault(const char *kind, const char *message);
// Prints `[SIM] warning=<kind> …` and goes on.
void warn(const char *kind, Site at, const char *en, const char *zh, ...)
    __attribute__((format(printf, 3, 5), format(printf, 4, 5)));
// False for a kind switched off by OPDEV_SIM_CHECKS=-kind,-kind.
bool checked(const char *kind);

}  // namespace opdev_sim
