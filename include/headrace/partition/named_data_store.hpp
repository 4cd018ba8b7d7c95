// SPDX-License-Identifier: MIT
// Defines headrace::named_data_store, the data that backends share outside of their delegates, with each
// content stored once.
#ifndef HEADRACE_PARTITION_NAMED_DATA_STORE_HPP
#define HEADRACE_PARTITION_NAMED_DATA_STORE_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// Returns a hash of bytes that is the same in each run and on all machines of the same byte order.
[[nodiscard]] inline std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
    detail::hasher hash;
    hash.add(std::uint64_t{bytes.size()});
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, &bytes[at], 8);
        hash.add(eight);
    }
    std::uint64_t rest = 0;
    if (at != bytes.size()) std::memcpy(&rest, &bytes[at], bytes.size() - at);
    hash.add(rest);
    return hash.state();
}

/// Content under one or more keys.
struct named_data_buffer {
    std::vector<std::byte> bytes;
    std::size_t alignment = 1;  ///< satisfies all of its keys
};

/// The contents of a store: buffers, and the buffer of each key. Keys without a tag belong in the program
/// itself; keys with a tag belong in an external file of that name.
struct named_data_store_output {
    std::vector<std::shared_ptr<const named_data_buffer>> buffers;
    std::map<std::string, std::size_t, std::less<>> keys;
    std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> external;  ///< by tag
};

/// Data by key. Each key has one content; keys with equal content share a buffer.
class named_data_store {
public:
    /// Adds data. Adding a key again is not an error if content and tag are the same.
    [[nodiscard]] result<void> add_named_data(std::string_view key, std::span<const std::byte> data,
        std::size_t alignment = 1, std::string_view external_tag = {}) {
        if (alignment == 0) return invalid({"named data '", key, "': an alignment of 0"});
        const auto known = keys_.find(key);
        if (known == keys_.end()) {
            const std::size_t buffer = buffer_of(data, alignment);
            keys_.emplace(std::string(key), entry{buffer, std::string(external_tag)});
            return {};
        }
        if (!equal(buffers_[known->second.buffer]->bytes, data)) {
            return invalid({"named data '", key, "' already exists with different content"});
        }
        if (known->second.tag != external_tag) {
            return invalid({"named data '", key, "' already exists with a different tag"});
        }
        align(known->second.buffer, alignment);
        return {};
    }

    /// Adds all data of another store.
    [[nodiscard]] result<void> merge(const named_data_store_output& other) {
        for (const auto& [key, buffer] : other.keys) {
            HEADRACE_TRY(add_named_data(key, other.buffers[buffer]->bytes, other.buffers[buffer]->alignment));
        }
        for (const auto& [tag, keys] : other.external) {
            for (const auto& [key, buffer] : keys) {
                HEADRACE_TRY(
                    add_named_data(key, other.buffers[buffer]->bytes, other.buffers[buffer]->alignment, tag));
            }
        }
        return {};
    }

    /// Returns the index of a key's buffer, or the number of buffers if there is no such key.
    [[nodiscard]] std::size_t find(std::string_view key) const {
        const auto known = keys_.find(key);
        return known == keys_.end() ? buffers_.size() : known->second.buffer;
    }
    [[nodiscard]] std::size_t size() const { return buffers_.size(); }

    [[nodiscard]] named_data_store_output output() const {
        named_data_store_output out;
        for (const auto& buffer : buffers_) out.buffers.push_back(buffer);
        for (const auto& [key, e] : keys_)
            (e.tag.empty() ? out.keys : out.external[e.tag]).emplace(key, e.buffer);
        return out;
    }

private:
    struct entry {
        std::size_t buffer;
        std::string tag;
    };

    [[nodiscard]] static bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
        return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
    }
    std::size_t buffer_of(std::span<const std::byte> data, std::size_t alignment) {
        const std::uint64_t hash = hash_of_bytes(data);
        const auto [first, last] = by_content_.equal_range(hash);
        for (auto at = first; at != last; ++at) {
            if (!equal(buffers_[at->second]->bytes, data)) continue;
            align(at->second, alignment);
            return at->second;
        }
        by_content_.emplace(hash, buffers_.size());
        buffers_.push_back(std::make_shared<named_data_buffer>(
            named_data_buffer{std::vector<std::byte>(data.begin(), data.end()), alignment}));
        return buffers_.size() - 1;
    }
    // Raises the alignment to a multiple of both. Buffers that were handed out keep theirs.
    void align(std::size_t buffer, std::size_t alignment) {
        auto& held = buffers_[buffer];
        if (held->alignment % alignment == 0) return;
        held = std::make_shared<named_data_buffer>(
            named_data_buffer{held->bytes, std::lcm(held->alignment, alignment)});
    }

    std::vector<std::shared_ptr<const named_data_buffer>> buffers_;
    std::unordered_multimap<std::uint64_t, std::size_t> by_content_;
    std::map<std::string, entry, std::less<>> keys_;
};

}  // namespace headrace

#endif
