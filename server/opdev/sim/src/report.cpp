// Faults and warnings, told once for machines and once for people.
#include "opdev_sim/report.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "shared.h"

namespace opdev_sim {

namespace {

std::atomic<bool> faulted{false};

// Whom a line is about, when not the calling thread.
struct Speaker {
    bool other = false;
    int pe = 0, block = -1;
};
thread_local Speaker speaker;

std::string formatted(const char *format, va_list arguments)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    return text;
}

bool chinese()
{
    const char *chosen = getenv("OPDEV_SIM_LANG");
    for (const char *name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        if (chosen != nullptr && *chosen != '\0') break;
        chosen = getenv(name);
    }
    return chosen != nullptr && strncmp(chosen, "zh", 2) == 0;
}

void write_all(int to, const std::string &text)
{
    size_t done = 0;
    while (done < text.size()) {
        ssize_t n = write(to, text.data() + done, text.size() - done);
        if (n <= 0) break;
        done += static_cast<size_t>(n);
    }
}

// Whoever started the run learns of a fault even when the script between does not look at exit statuses.
void keep(const std::string &line)
{
    const char *path = environment("OPDEV_SIM_FAULTS", "");
    int to = *path == '\0' ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (to < 0) return;
    write_all(to, line);
    close(to);
}

void print(const char *level, const char *kind, Site at, std::string en, const std::string &zh)
{
    const Block &b = current();
    if (at.file == nullptr) at = b.site;
    std::string pe = std::to_string(speaker.other ? speaker.pe : world.pe);
    int64_t index = speaker.other ? speaker.block : b.block_idx;
    std::string block = std::to_string(index);
    for (char &c : en)
        if (c == '\n') c = ' ';
    // One write, so that the lines of several PEs do not mix.
    std::string line = std::string("[SIM] ") + level + "=" + kind + " pe=" + pe + " block=" + block +
                       " file=" + (at.file != nullptr ? at.file : "-") +
                       " line=" + std::to_string(at.line) + " text=" + en + "\n";
    std::string where = at.file != nullptr ? std::string(base_name(at.file)) + ":" + std::to_string(at.line) : "";
    if (strcmp(level, "fault") == 0) keep(line);
    if (chinese()) {
        line += "[模拟] PE " + pe + (index >= 0 ? " 核 " + block : " 主机侧") +
                (where.empty() ? "" : "（" + where + "）") + "：" + zh + "\n";
    } else {
        line += "[sim] PE " + pe + (index >= 0 ? " block " + block : " host") + (where.empty() ? "" : ", " + where) +
                ": " + en + "\n";
    }
    fflush(stdout);
    write_all(STDERR_FILENO, line);
}

[[noreturn]] void end_run()
{
    if (world.control != nullptr) {
        uint32_t nobody = 0;
        world.control->dying.compare_exchange_strong(nobody, static_cast<uint32_t>(world.pe) + 1);
    }
    die(fault_status);
}

// The first fault of a process speaks; a thread that comes second waits for the end.
// A PE whose fault is a consequence of another PE's is silent, too.
void claim_fault()
{
    if (faulted.exchange(true))
        for (;;) pause();
    if (world.control != nullptr) {
        uint32_t nobody = 0;
        uint32_t me = static_cast<uint32_t>(world.pe) + 1;
        if (!world.control->dying.compare_exchange_strong(nobody, me) && nobody != me) die(fault_status);
    }
}

}  // namespace

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

void copy_text(char *to, size_t room, const char *from)
{
    if (from == nullptr) from = "";
    size_t n = strnlen(from, room - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

void speak_for(int pe, int block) { speaker = {true, pe, block}; }

int timeout_seconds()
{
    static const int seconds = atoi(environment("OPDEV_SIM_TIMEOUT", "60"));
    return seconds > 0 ? seconds : 60;
}

void die(int status)
{
    fflush(stdout);
    fflush(stderr);
    _exit(status);
}

bool checked(const char *kind)
{
    static const std::string off = std::string(environment("OPDEV_SIM_CHECKS", "")) + ",";
    return off.find(std::string("-") + kind + ",") == std::string::npos;
}

void fault(const char *kind, Site at, const char *en, const char *zh, ...)
{
    claim_fault();
    va_list arguments;
    va_start(arguments, zh);
    std::string english = formatted(en, arguments);
    va_end(arguments);
    va_start(arguments, zh);
    std::string chinese_text = formatted(zh, arguments);
    va_end(arguments);
    print("fault", kind, at, english, chinese_text);
    end_run();
}

void fault(const char *kind, const char *message)
{
    claim_fault();
    print("fault", kind, {}, message, message);
    end_run();
}

void warn(const char *kind, Site at, const char *en, const char *zh, ...)
{
    va_list arguments;
    va_start(arguments, zh);
    std::string english = formatted(en, arguments);
    va_end(arguments);
    va_start(arguments, zh);
    std::string chinese_text = formatted(zh, arguments);
    va_end(arguments);
    print("warning", kind, at, english, chinese_text);
}

}  // namespace opdev_sim
