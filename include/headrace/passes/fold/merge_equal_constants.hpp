// SPDX-License-Identifier: MIT
// Defines headrace::merge_equal_constants.
#ifndef HEADRACE_PASSES_FOLD_MERGE_EQUAL_CONSTANTS_HPP
#define HEADRACE_PASSES_FOLD_MERGE_EQUAL_CONSTANTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <span>
#include <vector>

#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

struct merge_duplicates;
/// Only constants of the same type and shape are hashed, and those with equal hashes are compared byte by
/// byte.
struct merge_equal_constants : pass {
    using runs_after = pass_list<constants_folded>;
    using runs_before = pass_list<merge_duplicates>;
    static constexpr std::string_view summary = "merges constants with the same type, shape and elements";

    using produces = ops<>;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t merged = 0;
        detail::for_each_graph(g, [&](graph& sub) { merged += merge(sub); });
        return merged;
    }

private:
    struct entry {
        node* constant;
        std::uint64_t hash;
        std::size_t position;

        [[nodiscard]] const tensor_meta& meta() const { return *constant->results[0].meta; }
    };

    static std::size_t merge(graph& g) {
        std::pmr::vector<entry> entries;
        for (node& n : g.nodes()) {
            if (is<builtin::constant>(n) && n.results[0].meta) entries.push_back({&n, 0, entries.size()});
        }
        std::size_t merged = 0;
        std::ranges::sort(entries, by_metadata);
        const auto end = entries.end();
        for (auto from = entries.begin(), to = from; from != end; from = to) {
            to = std::find_if_not(from, end, [&](const entry& e) { return e.meta() == from->meta(); });
            if (to - from > 1) merged += merge_alike(g, std::span(from, to));
        }
        return merged;
    }
    /// Merges constants with the same metadata.
    static std::size_t merge_alike(graph& g, std::span<entry> alike) {
        for (entry& e : alike) e.hash = hash_of_data(*e.constant);
        std::ranges::sort(alike, [](const entry& a, const entry& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.position < b.position;
        });
        std::size_t merged = 0;
        std::pmr::vector<entry> kept;
        for (const entry& e : alike) {
            if (!kept.empty() && kept[0].hash != e.hash) kept.clear();
            const auto same = std::ranges::find_if(
                kept, [&](const entry& k) { return same_data(*k.constant, *e.constant); });
            if (same == kept.end()) {
                kept.push_back(e);
                continue;
            }
            g.replace_all_uses(e.constant->result(), same->constant->result());
            g.erase(*e.constant);
            ++merged;
        }
        return merged;
    }

    static bool by_metadata(const entry& a, const entry& b) {
        if (a.meta().dtype != b.meta().dtype) return a.meta().dtype < b.meta().dtype;
        const sizes x(a.meta().shape);
        const sizes y(b.meta().shape);
        if (!std::ranges::equal(x, y)) return std::ranges::lexicographical_compare(x, y);
        return a.position < b.position;
    }

    /// The bytes of the elements in row-major order; `copy` holds them if they have strides. Packed types
    /// (INT4) have none.
    static std::span<const std::byte> bytes_of(const node& n, std::pmr::vector<std::byte>& copy) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const tensor_meta& meta = *n.results[0].meta;
        if (data.strides.empty()) return {data.bytes, static_cast<std::size_t>(bytes_in_memory(meta))};
        const std::size_t width = traits_of(meta.dtype).bits / 8U;
        copy.clear();
        copy.reserve(static_cast<std::size_t>(bytes_in_memory(meta)));
        for_each_element(data, meta, [&](const std::byte* at) { copy.insert(copy.end(), at, at + width); });
        return copy;
    }
    /// Like FNV-1a, of eight bytes at a time: weights are gigabytes. Each word's upper bits are folded down,
    /// as multiplying carries upward alone.
    static std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            const std::size_t count = std::min(bytes.size(), sizeof word);
            std::memcpy(&word, bytes.data(), count);
            hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
            hash ^= hash >> 32U;
            bytes = bytes.subspan(count);
        }
        return hash;
    }
    /// Elements with strides are collected in parts, so that large constants are not copied whole.
    static std::uint64_t hash_of_data(const node& n) {
        constexpr std::uint64_t start = 14695981039346656037U;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        std::pmr::vector<std::byte> part;
        if (data.strides.empty()) return hash_of(bytes_of(n, part), start);
        constexpr std::size_t part_bytes = 1 << 16;
        const tensor_meta& meta = *n.results[0].meta;
        const std::size_t width = traits_of(meta.dtype).bits / 8U;
        std::uint64_t hash = start;
        for_each_element(data, meta, [&](const std::byte* at) {
            part.insert(part.end(), at, at + width);
            if (part.size() < part_bytes) return;
            hash = hash_of(part, hash);
            part.clear();
        });
        return hash_of(part, hash);
    }
    static bool same_data(const node& a, const node& b) {
        std::pmr::vector<std::byte> copy_a, copy_b;
        return std::ranges::equal(bytes_of(a, copy_a), bytes_of(b, copy_b));
    }
};
HEADRACE_COMPILED_PASS(merge_equal_constants);

}  // namespace headrace

#endif
