// SPDX-License-Identifier: MIT
// Defines headrace::mapped_file, a file's bytes in memory without a copy.
#ifndef HEADRACE_IO_FILE_MAPPED_FILE_HPP
#define HEADRACE_IO_FILE_MAPPED_FILE_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace {

namespace detail {

/// The places where files are mapped, for a signal handler: it may read them, but not wait or allocate.
class mapped_places {
public:
    struct place {
        std::atomic<bool> taken;
        std::atomic<std::uintptr_t> first;
        std::atomic<std::size_t> size;
        std::atomic<int> descriptor;  ///< -1: the file has been closed
        std::atomic<bool> torn;
    };
    /// A position in an open file.
    struct extent {
        int descriptor;
        std::int64_t offset;
    };

    /// Returns null if no place is left: that file is then not guarded. The place closes the descriptor.
    [[nodiscard]] static place* add(const void* first, std::size_t size, int descriptor);
    static void remove(place& p) {
        p.first = 0;
        if (p.descriptor >= 0) os::close_file(p.descriptor);
        p.taken = false;
    }

    /// Maps zeros where the file that was mapped at `address` has ended; false if no file was mapped there.
    [[nodiscard]] static bool fill_up(const void* address);

    /// Returns the position of a mapped file's bytes in the file, if it is still open.
    [[nodiscard]] static std::optional<extent> find(std::span<const std::byte> bytes);

private:
    static constexpr std::size_t capacity = 4096;  // more models and .npy files than a batch has open
    static inline std::array<place, capacity> all{};
};

}  // namespace detail

/// A read-only mapping. It keeps its address when it is moved, so that views into it stay valid.
///
/// If another program shortens the file meanwhile, reading the missing part raises SIGBUS. A program that has
/// called guard_mapped_files() reads zeros instead; check() then returns an error, and is called before
/// anything from the file is written or trusted.
class mapped_file {
public:
    /// The device of a file and its number there: a path may lead to another file later.
    struct identity {
        std::uint64_t device = 0;
        std::uint64_t number = 0;
        friend bool operator==(const identity&, const identity&) = default;
    };

    mapped_file() = default;
    /// Takes ownership of the mapping, and of the place that guards it.
    mapped_file(std::span<const std::byte> bytes, const identity& same, std::string path,
        detail::mapped_places::place* guard = nullptr)
        : bytes_(bytes), place_(guard), identity_(same), path_(std::move(path)) {}
    mapped_file(mapped_file&& other) noexcept
        : bytes_(std::exchange(other.bytes_, {})),
          place_(std::exchange(other.place_, nullptr)),
          identity_(other.identity_),
          path_(std::move(other.path_)) {}
    mapped_file& operator=(mapped_file&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(place_, other.place_);
        std::swap(identity_, other.identity_);
        std::swap(path_, other.path_);
        return *this;
    }
    ~mapped_file();

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    /// Returns an error that names the file if it has become shorter since it was mapped.
    [[nodiscard]] result<void> check() const;

private:
    std::span<const std::byte> bytes_;
    detail::mapped_places::place* place_ = nullptr;
    identity identity_;
    std::string path_;
};

/// Handles SIGBUS for the whole process, see mapped_file. For programs, not for libraries.
void guard_mapped_files();

namespace detail {

struct file_descriptor {
    int number;
    explicit file_descriptor(int n) : number(n) {}
    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;
    ~file_descriptor() {
        if (number >= 0) os::close_file(number);
    }
    [[nodiscard]] int release() { return std::exchange(number, -1); }
};

}  // namespace detail

/// Maps a file. Errors begin with its path.
[[nodiscard]] result<mapped_file> open_mapped(const std::filesystem::path& path);

}  // namespace headrace

#endif
