// The PE that comes first listens on an abstract socket and hands an anonymous memory file to the others.  Neither has
// a place in the file system, so whatever dies, and however, nothing is left behind.
#include "rendezvous.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "shared.h"

namespace opdev_sim {

namespace {

int64_t now_ms()
{
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void nap(int milliseconds)
{
    timespec t{0, milliseconds * 1000000L};
    nanosleep(&t, nullptr);
}

socklen_t address_of(const char *name, sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    size_t n = strnlen(name, sizeof address->sun_path - 1);
    memcpy(address->sun_path + 1, name, n);  // a leading NUL: the abstract namespace
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
}

struct Reply {
    Met met;
    Hello other;
};

bool send_reply(int to, const Reply &reply, int fd)
{
    iovec io{const_cast<Reply *>(&reply), sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof reply);
}

bool receive_reply(int from, Reply *reply, int *fd)
{
    iovec io{reply, sizeof *reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof *reply)) return false;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
    return true;
}

// The first PE: collects the others, answers them all at the end, so that none starts alone.
Meeting host(int listener, const Hello &hello, int64_t until, const std::function<int()> &make)
{
    Meeting result;
    result.fd = make();
    result.present = 1;
    std::vector<Hello> seen{hello};
    std::vector<int> peers;
    while (static_cast<int>(seen.size()) < hello.pes) {
        int64_t left = until - now_ms();
        if (left <= 0) {
            result.met = Met::late;
            break;
        }
        pollfd ready{listener, POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(left < 500 ? left : 500)) <= 0) continue;
        int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (peer < 0) continue;
        timeval patience{5, 0};
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        Hello other{};
        if (recv(peer, &other, sizeof other, 0) != static_cast<ssize_t>(sizeof other) || other.magic != world_magic) {
            close(peer);
            continue;
        }
        Reply reply{Met::ok, hello};
        for (const Hello &h : seen)
            if (h.pe == other.pe) reply = {Met::taken, h};
        if (other.pes != hello.pes) reply = {Met::other_size, hello};
        else if (other.heap_bytes != hello.heap_bytes) reply = {Met::other_heap, hello};
        if (reply.met != Met::ok) {
            send_reply(peer, reply, -1);
            close(peer);
            if (reply.met == Met::taken) continue;  // a stranger: the run itself can go on
            result.met = reply.met;
            result.other = other;
            break;
        }
        seen.push_back(other);
        peers.push_back(peer);
        result.present++;
    }
    // The name is free for the next run before anybody can begin it.
    close(listener);
    for (int peer : peers) {
        send_reply(peer, {result.met, result.other}, result.met == Met::ok ? result.fd : -1);
        close(peer);
    }
    return result;
}

}  // namespace

Meeting meet(const char *name, const Hello &hello, int timeout_seconds, const std::function<int()> &make)
{
    int64_t until = now_ms() + timeout_seconds * 1000LL;
    sockaddr_un address;
    socklen_t length = address_of(name, &address);
    Meeting result;
    while (now_ms() < until) {
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (bind(s, reinterpret_cast<sockaddr *>(&address), length) == 0 && listen(s, max_pes) == 0)
            return host(s, hello, until, make);
        close(s);
        s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (connect(s, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
            send(s, &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
            close(s);
            nap(2);  // between bind and listen, or the first PE has just died
            continue;
        }
        timeval patience{1, 0};
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        Reply reply{};
        bool answered = false;
        while (now_ms() < until && !(answered = receive_reply(s, &reply, &result.fd)))
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) break;
        close(s);
        if (!answered) {
            nap(2);
            continue;
        }
        result.met = reply.met;
        result.other = reply.other;
        return result;
    }
    result.met = Met::late;
    return result;
}

}  // namespace opdev_sim
