// SPDX-License-Identifier: MIT
// The driver of targets without instrumentation. It is fast, because one process runs hundreds of inputs, and
// the code under test is not slowed down. It keeps inputs that reach something new, as a corpus for
// libFuzzer.
//
//     headrace_fast_X [--seconds N] [--seed N] [--findings DIR] CORPUS…   mutates files of the folders
//     headrace_fast_X --rounds N …                                       the same inputs each time
//     headrace_fast_X --patience N …                                     seconds of CPU until it is a hang
//     headrace_fast_X FILE…                                              runs each file once
//     headrace_fast_X --minimize FILE                                    writes a smaller finding next to it
//
// New inputs go to the first folder. A finding is a file named after the fault; one of each is kept. Exit
// status 1 if there was one.
#include <execinfo.h>
#include <link.h>
#ifdef HEADRACE_SANITIZED
#include <sanitizer/asan_interface.h>
// UBSan's, for monitors (compiler-rt, ubsan_monitor.h): no header is installed.
extern "C" void __ubsan_get_current_report_data(const char** kind, const char** message, const char** file,
    unsigned* line, unsigned* column, char** address);
extern "C" void __ubsan_on_report();
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "counters.hpp"
#include "target.hpp"

namespace fuzz = headrace::fuzz;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_input = std::size_t{1} << 17;
constexpr int inputs_of_a_child = 400;
#ifdef HEADRACE_SANITIZED
constexpr int default_patience = 60;
#else
constexpr int default_patience = 4;
#endif
constexpr int frames_compared = 5;

std::mt19937 engine;
int patience = default_patience;  // seconds of CPU for one input

/// State shared by a child and its parent.
struct shared_state {
    std::uint8_t seen[fuzz::counter_count];
    std::size_t size;
    std::uint8_t input[largest_input];
    std::uint64_t executions;
    std::uint64_t reached;  ///< how many counters are set
    char key[256];          ///< identifies a finding
    char text[fuzz::fault_capacity];
};
shared_state* state = nullptr;

fuzz::bytes read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void write_file(const fs::path& path, const fuzz::bytes& content) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
}
std::string name_of_content(const fuzz::bytes& content) {
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    char name[32];
    std::snprintf(name, sizeof name, "%016zx", std::hash<std::string_view>()(text));
    return name;
}

// --- in a child ------------------------------------------------------------------------

// The load address of this program, which is subtracted before addresses are compared.
std::uintptr_t load_address() {
    std::uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
            return 1;
        },
        &address);
    return address;
}

// Writes the text of a finding without parts that differ between inputs.
void describe_fault() {
    std::size_t k = 0;
    for (const char* c = fuzz::last_fault; *c != 0 && k + 1 < sizeof state->key; ++c) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == ' ' || *c == '.';
        if (plain) state->key[k++] = *c;
    }
    state->key[k] = 0;
    std::snprintf(
        state->text, sizeof state->text, "in step %s: %.3000s\n", fuzz::last_step, fuzz::last_fault);
}

void on_crash(int number) {
    if (fuzz::last_fault[0] != 0) {
        describe_fault();
    } else {
        void* frames[64];
        const int count = backtrace(frames, static_cast<int>(std::size(frames)));
        const std::uintptr_t base = load_address();
        std::uint64_t hash = 0;
        for (int i = 2; number != SIGPROF && i < std::min(count, 2 + frames_compared); ++i)
            hash = hash * 1000003 + (reinterpret_cast<std::uintptr_t>(frames[i]) - base);
        std::snprintf(state->key, sizeof state->key, "%s in %s %08x",
            number == SIGPROF ? "hang" : strsignal(number), fuzz::last_step, static_cast<unsigned>(hash));
        int at = std::snprintf(state->text, sizeof state->text, "%s\n", state->key);
        for (int i = 2; i < count && at + 32 < static_cast<int>(sizeof state->text); ++i)
            at += std::snprintf(
                state->text + at, 32, "%#zx\n", reinterpret_cast<std::uintptr_t>(frames[i]) - base);
    }
    std::signal(number, SIG_DFL);
    ::raise(number);
}

// Reports a child that ends other than by a signal.
void on_exit_call() {
    if (state->key[0] != 0) return;
    std::snprintf(state->key, sizeof state->key, "exit in %s", fuzz::last_step);
    std::snprintf(state->text, sizeof state->text, "%s: it called exit\n", fuzz::last_step);
}
#ifdef HEADRACE_SANITIZED
// A sanitizer ends the process, and its report on standard error would be lost.
void keep_report(std::string_view kind, std::string_view report) {
    if (state->key[0] != 0) return;
    std::snprintf(state->key, sizeof state->key, "%.60s in %s", std::string(kind).c_str(), fuzz::last_step);
    std::snprintf(state->text, sizeof state->text, "in step %s: %.3000s\n", fuzz::last_step,
        std::string(report).c_str());
}
// "ERROR: AddressSanitizer: heap-buffer-overflow on address …": the kind is one word.
void on_report(const char* report) {
    constexpr std::string_view begin = "Sanitizer: ";
    const std::string_view all(report);
    const std::size_t at = all.find(begin);
    const std::string_view kind = at == std::string_view::npos ? "" : all.substr(at + begin.size());
    keep_report(kind.substr(0, kind.find(' ')), all);
}
void on_death() { keep_report("a sanitizer", "a sanitizer ended it without a report"); }
#endif

void set_handlers() {
    std::atexit(&on_exit_call);
#ifdef HEADRACE_SANITIZED
    __asan_set_error_report_callback(&on_report);
    __sanitizer_set_death_callback(&on_death);
#endif
    static std::uint8_t stack[1 << 16];  // after a stack overflow, the handler needs a stack of its own
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    ::sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = &on_crash;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF})
        ::sigaction(number, &action, nullptr);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    void* unused[1];
    backtrace(unused, 1);  // its first call loads a library
}

void run_in_child(const fuzz::bytes& input) {
    state->size = std::min(input.size(), largest_input);
    std::copy_n(input.begin(), state->size, state->input);
    std::memset(fuzz::counters, 0, fuzz::counter_count);
    itimerval timer{};
    timer.it_value.tv_sec = patience;
    ::setitimer(ITIMER_PROF, &timer, nullptr);
    LLVMFuzzerTestOneInput(state->input, state->size);
    ++state->executions;
}
// True if the last run saw something that no earlier one has.
bool is_new() {
    std::uint64_t added = 0;
    for (std::size_t i = 0; i != fuzz::counter_count; ++i) {
        if (fuzz::counters[i] == 0 || state->seen[i] != 0) continue;
        state->seen[i] = 1;
        ++added;
    }
    state->reached += added;
    return added != 0;
}

// --- in the parent ---------------------------------------------------------------------

struct options {
    int seconds = 60;
    unsigned rounds = 0;  // how often a child is started; 0: until the time is up
    unsigned seed = std::random_device{}();
    fs::path findings = "findings";
    fs::path minimize{};
    std::vector<fs::path> places{};
};

class campaign {
public:
    explicit campaign(const options& given) : given_(given) {}

    int run() {
        std::printf("seed %u\n", given_.seed);
        fs::create_directories(given_.places.at(0));
        for (const fs::path& folder : given_.places) read_folder(folder);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(given_.seconds);
        const auto goes_on = [&](unsigned round) {
            return given_.rounds != 0 ? round != given_.rounds : std::chrono::steady_clock::now() < end;
        };
        for (std::size_t next = 0; next < corpus_.size(); next += inputs_of_a_child)
            in_child([&] { replay(next); });
        for (unsigned round = 0; goes_on(round); ++round) {
            in_child([&] { mutate(given_.seed * 1000003U + round); });
            read_folder(given_.places[0]);
        }
        std::printf("%llu executions, %llu things seen, %zu inputs, %zu findings\n",
            static_cast<unsigned long long>(state->executions),
            static_cast<unsigned long long>(state->reached), corpus_.size(), findings_);
        return findings_ == 0 ? 0 : 1;
    }

private:
    // Sorted by name: the order in a folder differs between file systems.
    void read_folder(const fs::path& folder) {
        std::set<fs::path> added;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file() && names_.insert(entry.path().string()).second) added.insert(entry);
        }
        for (const fs::path& file : added) {
            if (fs::file_size(file) <= largest_input) corpus_.push_back(read_file(file));
        }
    }
    void replay(std::size_t first) {
        for (std::size_t i = first; i != std::min(first + inputs_of_a_child, corpus_.size()); ++i) {
            run_in_child(corpus_[i]);
            is_new();
        }
    }
    void mutate(unsigned seed) {
        engine.seed(seed);
        for (int i = 0; i != inputs_of_a_child && !corpus_.empty(); ++i) {
            // Recent inputs have been mutated least.
            const std::size_t back = std::min(engine() % corpus_.size(), engine() % corpus_.size());
            fuzz::bytes input = corpus_[corpus_.size() - 1 - back];
            fuzz::step("mutation");
            for (auto more = 1 + engine() % 3; more != 0; --more)
                input = fuzz::mutated(input, largest_input, static_cast<unsigned>(engine()));
            run_in_child(input);
            if (!is_new()) continue;
            write_file(given_.places[0] / name_of_content(input), input);
            corpus_.push_back(std::move(input));
        }
    }
    template <class F>
    void in_child(F&& f) {
        state->key[0] = state->text[0] = 0;
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            set_handlers();
            f();
            std::_Exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) keep_finding(status);
    }
    void keep_finding(int status) {
        std::string key = state->key[0] != 0 ? state->key : "status " + std::to_string(status);
        for (char& c : key) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
        const fs::path file = given_.findings / key.substr(0, 150);
        if (fs::exists(file)) return;
        ++findings_;
        fs::create_directories(given_.findings);
        write_file(file, fuzz::bytes(state->input, state->input + state->size));
        std::ofstream(file.string() + ".txt") << state->text;
        std::printf("%s: %s", file.c_str(), state->text);
    }

    const options& given_;
    std::vector<fuzz::bytes> corpus_;
    std::set<std::string> names_;
    std::size_t findings_ = 0;
};

// Returns the key of an input's fault; empty if there is none.
std::string fault_of(const fuzz::bytes& input) {
    state->key[0] = 0;
    const pid_t child = ::fork();
    if (child == 0) {
        set_handlers();
        std::freopen("/dev/null", "w", stderr);
        run_in_child(input);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended) return {};
    return state->key[0] != 0 ? state->key : "status";
}

int minimize(const fs::path& file) {
    fuzz::bytes smallest = read_file(file);
    const std::string fault = fault_of(smallest);
    if (fault.empty()) {
        std::printf("%s: nothing is wrong with it\n", file.c_str());
        return 1;
    }
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (fuzz::bytes& candidate : fuzz::simpler(smallest)) {
            if (candidate.size() >= smallest.size() || fault_of(candidate) != fault) continue;
            smallest = std::move(candidate);
            smaller = true;
            break;
        }
    }
    write_file(file.string() + ".min", smallest);
    std::printf("%s.min: %zu bytes: %s\n", file.c_str(), smallest.size(), fault.c_str());
    return 0;
}

options read_options(int count, char** words) {
    options given;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto next = [&] { return i + 1 < count ? std::string(words[++i]) : std::string(); };
        if (word == "--seconds") {
            given.seconds = std::atoi(next().c_str());
        } else if (word == "--rounds") {
            given.rounds = static_cast<unsigned>(std::strtoul(next().c_str(), nullptr, 10));
        } else if (word == "--patience") {
            patience = std::atoi(next().c_str());
        } else if (word == "--seed") {
            given.seed = static_cast<unsigned>(std::strtoul(next().c_str(), nullptr, 10));
        } else if (word == "--findings") {
            given.findings = next();
        } else if (word == "--minimize") {
            given.minimize = next();
        } else {
            given.places.emplace_back(word);
        }
    }
    return given;
}

}  // namespace

#ifdef HEADRACE_SANITIZED
void __ubsan_on_report() {
    const char *kind = nullptr, *message = nullptr, *file = nullptr;
    unsigned line = 0, column = 0;
    char* address = nullptr;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    if (state != nullptr) keep_report(kind, std::string(file) + ":" + std::to_string(line) + ": " + message);
}
#endif

// Roughly like a byte-level mutation of libFuzzer's.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity) {
    const auto at = [&](std::size_t bound) { return bound == 0 ? 0 : engine() % bound; };
    const std::size_t count = std::min<std::size_t>(std::size_t{1} << at(6), size);
    switch (at(6)) {
        case 0:
            if (size != 0) data[at(size)] ^= static_cast<std::uint8_t>(1U << at(8));
            return size;
        case 1:
            if (size != 0) data[at(size)] = static_cast<std::uint8_t>(at(256));
            return size;
        case 2: {  // a number that is often a limit
            constexpr std::int64_t limits[] = {
                0, 1, -1, 2, 127, 128, 255, 65535, INT32_MAX, INT64_MAX, INT64_MIN};
            const std::int64_t number = limits[at(std::size(limits))];
            const std::size_t width = std::size_t{1} << at(4);
            if (size >= width) std::memcpy(data + at(size - width + 1), &number, width);
            return size;
        }
        case 3: {  // a part copied elsewhere
            if (size != 0) std::memmove(data + at(size - count + 1), data + at(size - count + 1), count);
            return size;
        }
        case 4: {  // a part left out
            if (count == 0) return size;
            const std::size_t from = at(size - count + 1);
            std::memmove(data + from, data + from + count, size - from - count);
            return size - count;
        }
        default: {  // a part repeated
            if (size + count > capacity || count == 0) return size;
            const std::size_t from = at(size - count + 1);
            std::memmove(data + from + count, data + from, size - from);
            return size + count;
        }
    }
}

#ifndef HEADRACE_SANITIZED  // ASan has its own operators
// Allocating half the machine's memory is not a crash, but no user wants it.
static constexpr std::size_t largest_allocation = std::size_t{1} << 30;

void* operator new(std::size_t size) {
    if (size > largest_allocation) fuzz::found("an allocation above 1 GB");
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

int main(int count, char** words) {
    void* room =
        ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        std::perror("mmap");
        return 2;
    }
    state = new (room) shared_state{};
    const options given = read_options(count, words);
    if (!given.minimize.empty()) return minimize(given.minimize);
    if (given.places.empty()) {
        std::fprintf(stderr, "no file and no folder is given\n");
        return 2;
    }
    if (fs::is_directory(given.places[0]) || !fs::exists(given.places[0])) return campaign(given).run();
    for (const fs::path& file : given.places) {
        const fuzz::bytes input = read_file(file);
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%zu files\n", given.places.size());
    return 0;
}
