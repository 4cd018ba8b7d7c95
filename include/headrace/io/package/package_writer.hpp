// SPDX-License-Identifier: MIT
// Defines headrace::package_writer, which writes a directory of delegates that share constants.
#ifndef HEADRACE_IO_PACKAGE_PACKAGE_WRITER_HPP
#define HEADRACE_IO_PACKAGE_PACKAGE_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/package/package_parts.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

/// Collects the parts of a package, and writes it whole or not at all.
class package_writer {
public:
    /// Adds named data, each distinct content once; for delegates, the data of to_backend.
    void add_data(const named_data_store_output& data);
    /// Adds the elements of a constant; returns its number.
    [[nodiscard]] std::size_t add_constant(std::span<const std::byte> bytes, std::size_t alignment = 8);
    /// Adds a delegate whose constants are among the data; equal delegates are stored once. Returns its
    /// number, or an error if a key is not known.
    [[nodiscard]] result<std::size_t> add_delegate(std::string_view name, std::string_view backend,
        std::vector<std::byte> bytes, std::span<const std::string> data_keys);
    void add_file(std::string name, std::string_view text);
    void add_method(std::string name, package_method method) {
        methods_.emplace(std::move(name), std::move(method));
    }

    /// Returns the total bytes of the distinct constants.
    [[nodiscard]] std::uint64_t data_bytes() const;
    [[nodiscard]] std::size_t data_count() const { return buffers_.size(); }
    [[nodiscard]] const std::vector<package_delegate>& delegates() const { return delegates_; }

    /// Writes the directory. It replaces an older package; anything else that is there stays, and is an
    /// error.
    [[nodiscard]] result<void> write(const std::filesystem::path& directory) const;

private:
    [[nodiscard]] std::optional<std::size_t> find_equal(
        const package_delegate& d, const std::vector<std::byte>& bytes) const;
    struct buffer {
        std::vector<std::byte> bytes;
        std::size_t alignment;
        std::string tag;
    };

    std::size_t add_buffer(std::span<const std::byte> bytes, std::size_t alignment, const std::string& tag);
    [[nodiscard]] static std::string file_of(const std::string& tag) {
        return (tag.empty() ? "constants" : tag) + ".bin";
    }
    // The strictest alignment comes first: then there is no gap if each size is a multiple of its alignment.
    [[nodiscard]] std::vector<std::byte> lay_out(
        const std::string& tag, std::vector<std::uint64_t>& offsets) const;

    template <class Items>
    static void put_numbers(std::string& out, const Items& items);
    [[nodiscard]] std::string manifest(
        const std::vector<std::string>& tags, const std::vector<std::uint64_t>& offsets) const;
    static void put_method(std::string& out, const package_method& m);

    std::vector<buffer> buffers_;
    std::multimap<std::uint64_t, std::size_t> by_content_;
    std::map<std::string, std::size_t, std::less<>> keys_;
    std::vector<package_delegate> delegates_;
    std::vector<std::pair<std::string, std::vector<std::byte>>> files_;
    std::map<std::string, package_method, std::less<>> methods_;
};

}  // namespace headrace

#endif
