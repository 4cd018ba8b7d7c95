// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/mapped_file.hpp for POSIX.

#ifndef _WIN32

#include <headrace/io/file/mapped_file.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <headrace/base/result.hpp>

namespace headrace {

namespace detail {

/// Places from this index on have never been taken: searches for an address stop there.
inline std::atomic<std::size_t> end_of_places{0};

/// Files of at least that size stay open while they are mapped, so that the kernel can copy from them.
constexpr std::size_t bytes_of_large_file = std::size_t{1} << 24;

mapped_places::place* mapped_places::add(const void* first, std::size_t size, int descriptor) {
    for (place& p : all) {
        if (p.taken.exchange(true)) continue;
        const auto end = static_cast<std::size_t>(&p - all.data()) + 1;
        for (std::size_t known = end_of_places; known < end;) {
            if (end_of_places.compare_exchange_weak(known, end)) break;
        }
        p.torn = false;
        p.size = size;
        p.descriptor = descriptor;
        p.first = reinterpret_cast<std::uintptr_t>(first);
        return &p;
    }
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
}

std::optional<mapped_places::extent> mapped_places::find(std::span<const std::byte> bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
    for (const place& p : std::span(all).first(end_of_places)) {
        const std::uintptr_t first = p.first;
        if (first == 0 || at < first || at - first > p.size || bytes.size() > p.size - (at - first)) continue;
        if (p.descriptor < 0) return std::nullopt;
        return extent{p.descriptor, static_cast<std::int64_t>(at - first)};
    }
    return std::nullopt;
}

bool mapped_places::fill_up(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (place& p : std::span(all).first(end_of_places)) {
        const std::uintptr_t first = p.first;
        if (first == 0 || at < first || at - first >= p.size) continue;
        const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const std::uintptr_t page = at / page_size * page_size;
        p.torn = true;
        return ::mmap(reinterpret_cast<void*>(page), first + p.size - page, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

}  // namespace detail

namespace {

mapped_file::identity identity_of(const struct stat& status) {
    return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

mapped_file::~mapped_file() {
    if (place_ != nullptr) detail::mapped_places::remove(*place_);
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

result<void> mapped_file::check() const {
    struct stat now {};
    const bool is_shorter = !bytes_.empty() && ::stat(path_.c_str(), &now) == 0 &&
        identity_of(now) == identity_ && static_cast<std::size_t>(now.st_size) < bytes_.size();
    if (!is_shorter && (place_ == nullptr || !place_->torn)) return {};
    return malformed({path_, ": became shorter while it was read"});
}

void guard_mapped_files() {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int number, siginfo_t* fault, void*) {
        const int reason = errno;
        if (!detail::mapped_places::fill_up(fault->si_addr)) ::signal(number, SIG_DFL);  // faults again
        errno = reason;
    };
    ::sigaction(SIGBUS, &action, nullptr);
}

result<mapped_file> open_mapped(const std::filesystem::path& path) {
    const auto fail = [&](const char* what) { return malformed({path.string(), ": ", what}); };
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    detail::file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number < 0) return fail(errno == ENOENT ? "no such file" : std::strerror(errno));
    struct stat status {};
    if (::fstat(file.number, &status) != 0) return fail(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return fail("is a directory, not a file");
    if (!S_ISREG(status.st_mode)) return fail("is not a regular file");
    if (status.st_size == 0) return fail("is empty");
    const auto size = static_cast<std::size_t>(status.st_size);
    void* first = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (first == MAP_FAILED) return fail(std::strerror(errno));
    const int kept = size >= detail::bytes_of_large_file ? file.release() : -1;
    return mapped_file({static_cast<const std::byte*>(first), size}, identity_of(status), path.string(),
        detail::mapped_places::add(first, size, kept));
}

}  // namespace headrace

#endif
