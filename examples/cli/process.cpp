// SPDX-License-Identifier: MIT
// The functions of process.hpp for POSIX; windows.cpp has those for Windows.
#ifndef _WIN32

#include "process.hpp"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include <headrace/io/file/atomic_file.hpp>

#include "child.hpp"
#include "messages.hpp"

namespace headrace::cli {

std::string program_path() {
#ifdef __APPLE__
    std::string path(4096, '\0');
    std::uint32_t size = 4096;
    return ::_NSGetExecutablePath(path.data(), &size) == 0 ? path.c_str() : "";
#else
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
#endif
}

std::size_t processor_count() {
#ifdef __linux__
    cpu_set_t allowed;  // the standard library counts all processors
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return static_cast<std::size_t>(CPU_COUNT(&allowed));
#endif
    return std::thread::hardware_concurrency();
}

void open_standard_streams() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
        // Takes the lowest free number. Standard output is opened for reading, so that printing fails.
        static_cast<void>(::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY));
    }
    std::signal(SIGPIPE, SIG_IGN);
}

void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc takes
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void remove_temporary_files_at_end() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction now {};
        const bool ends = ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
        if (ends) sigaddset(&ending, number);
    }
    // Every thread inherits the mask: only the thread below takes these signals, and it may do more than a
    // handler.
    if (::pthread_sigmask(SIG_BLOCK, &ending, nullptr) != 0) return;
    std::thread([ending] {
        int number = 0;
        if (::sigwait(&ending, &number) != 0) return;
        end_child();
        remove_temporary_files();
        std::signal(number, SIG_DFL);
        ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
        ::raise(number);
    }).detach();
}

void end_without_reader() {
    remove_temporary_files();
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    std::abort();  // not reached, unless the signal is blocked
}

int flush_output(int status) {
    errno = 0;
    if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || status != status_ok) return status;
    pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0) end_without_reader();
    const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    return report_error(unwritable("cannot write to standard output" + reason));
}

}  // namespace headrace::cli

#endif
