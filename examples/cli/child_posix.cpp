// SPDX-License-Identifier: MIT
// Runs programs on POSIX; windows.cpp does on Windows.
#ifndef _WIN32

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "child.hpp"

#ifdef __APPLE__
extern char** environ;
#endif

namespace headrace::cli {

namespace {

std::atomic<pid_t> limited_child{0};

// Returns the number of the process, or 0. With a group of its own, it can be ended with its children, and
// does not read from the terminal.
pid_t start(std::vector<std::string>& words, const std::string& log, bool own_group) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (own_group) ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(
        &actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    // Unblocks the signals that this program blocks: the child would inherit the mask.
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
    pid_t child = 0;
    const int failed =
        ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return failed == 0 ? child : 0;
}

// Returns false if the time is over.
bool wait_for(pid_t child, int& status, double seconds) {
    using clock = std::chrono::steady_clock;
    const auto limit = clock::now() + std::chrono::duration<double>(seconds);
    for (auto pause = std::chrono::microseconds(200);;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended == -1 && errno != EINTR)) return true;
        if (clock::now() >= limit) return false;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(5000));
    }
}

}  // namespace

child_end run_child(std::vector<std::string> words, const std::string& log, double seconds) {
    const bool is_limited = seconds > 0;
    const pid_t child = start(words, log, is_limited);
    if (child == 0) return {.is_run = false};
    child_end end;
    int status = 0;
    if (is_limited) limited_child = child;
    if (is_limited && !wait_for(child, status, seconds)) {
        end.timed_out = true;
        ::kill(-child, SIGKILL);
    }
    if (!is_limited || end.timed_out) {
        while (::waitpid(child, &status, 0) == -1) {
            if (errno != EINTR) break;
        }
    }
    limited_child = 0;
    if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return end;
}

void end_child() {
    if (const pid_t child = limited_child; child != 0) ::kill(-child, SIGKILL);
}

}  // namespace headrace::cli

#endif
