// SPDX-License-Identifier: MIT
#include "tools.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/atomic_file.hpp>

namespace headrace::cli {

scratch_directory::scratch_directory(std::string_view tool) {
    constexpr int max_attempts = 1000;
    const std::string wanted =
        (std::filesystem::temp_directory_path() / join_text("headrace_", tool)).string();
    for (int i = 0; i != max_attempts && !is_made_; ++i) {
        path_ = detail::temporary_name(wanted);
        is_made_ = detail::temporaries::of_process().add(
            path_, [](const char* path) { return ::mkdir(path, 0700) == 0; });
        if (!is_made_ && errno != EEXIST) return;
    }
}

scratch_directory::~scratch_directory() {
    std::error_code ignored;
    if (is_made_) std::filesystem::remove_all(path_, ignored);
    detail::temporaries::of_process().forget(path_);
}

int run_program(std::vector<std::string> words, const std::string& log) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    // Unblocks the signals that this program blocks: the child would inherit the mask.
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int failed =
        ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return -1;
    int status = 0;
    while (::waitpid(child, &status, 0) == -1) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string last_line_of(std::string_view said) {
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
    const std::size_t begin = said.rfind('\n');
    return std::string(printable(said.substr(begin == std::string_view::npos ? 0 : begin + 1), 300));
}

}  // namespace headrace::cli
