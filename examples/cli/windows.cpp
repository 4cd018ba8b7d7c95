// SPDX-License-Identifier: MIT
// The functions of process.hpp and run_child for Windows.
#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <headrace/io/file/atomic_file.hpp>

#include "child.hpp"
#include "messages.hpp"
#include "process.hpp"

namespace headrace::cli {

std::string program_path() {
    std::string path(MAX_PATH, '\0');
    path.resize(::GetModuleFileNameA(nullptr, path.data(), MAX_PATH));
    return path;
}

std::size_t processor_count() { return std::thread::hardware_concurrency(); }

void open_standard_streams() {
    // Texts and files are the same as on other systems.
    for (const int number : {0, 1, 2}) ::_setmode(number, _O_BINARY);
}

void keep_freed_memory() {}

void remove_temporary_files_at_end() {
    const auto remove = [](DWORD) -> BOOL {
        end_child();
        remove_temporary_files();
        return FALSE;  // then the program ends
    };
    ::SetConsoleCtrlHandler(remove, TRUE);
}

void end_without_reader() {
    remove_temporary_files();
    std::_Exit(1);
}

int flush_output(int status) {
    errno = 0;
    if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || status != status_ok) return status;
    if (errno == EPIPE || errno == EINVAL) end_without_reader();  // what a pipe without a reader gives
    const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
    return report_error(unwritable("cannot write to standard output" + reason));
}

namespace {

std::atomic<HANDLE> limited_job{nullptr};

// Quotes a word as the C library of Windows takes command lines apart: backslashes count before quotes only.
void append_word(std::string& line, const std::string& word) {
    if (!line.empty()) line += ' ';
    line += '"';
    std::size_t backslashes = 0;
    for (const char c : word) {
        if (c == '"') line.append(backslashes + 1, '\\');
        backslashes = c == '\\' ? backslashes + 1 : 0;
        line += c;
    }
    line.append(backslashes, '\\');
    line += '"';
}

class handle {
public:
    explicit handle(HANDLE h) : handle_(h) {}
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() {
        if (is_open()) ::CloseHandle(handle_);
    }
    [[nodiscard]] bool is_open() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
    [[nodiscard]] HANDLE get() const { return handle_; }

private:
    HANDLE handle_;
};

}  // namespace

child_end run_child(std::vector<std::string> words, const std::string& log, double seconds) {
    SECURITY_ATTRIBUTES inherited{
        .nLength = sizeof inherited, .lpSecurityDescriptor = nullptr, .bInheritHandle = TRUE};
    const handle input(
        ::CreateFileA("NUL", GENERIC_READ, FILE_SHARE_READ, &inherited, OPEN_EXISTING, 0, nullptr));
    const handle output(
        ::CreateFileA(log.c_str(), GENERIC_WRITE, FILE_SHARE_READ, &inherited, CREATE_ALWAYS, 0, nullptr));
    const handle job(::CreateJobObjectA(nullptr, nullptr));  // a program is ended with its children
    std::string line;
    for (const std::string& word : words) append_word(line, word);
    STARTUPINFOA start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = input.get();
    start.hStdOutput = output.get();
    start.hStdError = output.get();
    PROCESS_INFORMATION made{};
    if (!output.is_open() || !job.is_open() ||
        ::CreateProcessA(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr,
            &start, &made) == 0)
        return {.is_run = false};
    const handle child(made.hProcess);
    const handle thread(made.hThread);
    ::AssignProcessToJobObject(job.get(), child.get());
    const bool is_limited = seconds > 0;
    if (is_limited) limited_job = job.get();
    ::ResumeThread(thread.get());
    child_end end;
    const DWORD limit = is_limited ? static_cast<DWORD>(seconds * 1000) : INFINITE;
    if (::WaitForSingleObject(child.get(), limit) == WAIT_TIMEOUT) {
        end.timed_out = true;
        ::TerminateJobObject(job.get(), 1);
        ::WaitForSingleObject(child.get(), INFINITE);
    }
    limited_job = nullptr;
    DWORD status = 0;
    if (::GetExitCodeProcess(child.get(), &status) == 0) return end;
    constexpr DWORD first_fault = 0xC000'0000;  // NTSTATUS of a program that a fault ended
    if (status < first_fault) end.status = static_cast<int>(status);
    if (status >= first_fault) end.signal = status == STATUS_ACCESS_VIOLATION ? SIGSEGV : SIGABRT;
    return end;
}

void end_child() {
    if (const HANDLE job = limited_job; job != nullptr) ::TerminateJobObject(job, 1);
}

}  // namespace headrace::cli

#endif
