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

#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/regions.hpp>
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
        for_each_graph(g, [&](graph& sub) { merged += merge(sub); });
        return merged;
    }

private:
    static constexpr std::size_t part_bytes = 1 << 16;

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
    /// Merges constants with the same metadata. Most that differ do so in their first elements; only where
    /// these are equal are all of them looked at.
    static std::size_t merge_alike(graph& g, std::span<entry> alike, std::size_t hashed_bytes = part_bytes) {
        for (entry& e : alike) e.hash = hash_of_data(*e.constant, hashed_bytes);
        std::ranges::sort(alike, [](const entry& a, const entry& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.position < b.position;
        });
        std::size_t merged = 0;
        for (auto from = alike.begin(), to = from; from != alike.end(); from = to) {
            to = std::find_if_not(from, alike.end(), [&](const entry& e) { return e.hash == from->hash; });
            if (to - from == 1) continue;
            merged += hashed_bytes == part_bytes ? merge_alike(g, std::span(from, to), SIZE_MAX)
                                                 : merge_same(g, std::span(from, to));
        }
        return merged;
    }
    /// Merges constants with the same metadata and hash.
    static std::size_t merge_same(graph& g, std::span<const entry> alike) {
        std::size_t merged = 0;
        std::pmr::vector<entry> kept;
        for (const entry& e : alike) {
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
    /// Of the first rows, with as many bytes, but at least one. Elements with strides are collected in parts,
    /// so that large constants are not copied whole.
    static std::uint64_t hash_of_data(const node& n, std::size_t max_bytes) {
        constexpr std::uint64_t start = 14695981039346656037U;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const shape_builder rows = first_rows(*n.results[0].meta, max_bytes);
        const tensor_meta meta{n.results[0].meta->dtype, rows, {}};
        if (data.strides.empty())
            return hash_of({data.bytes, static_cast<std::size_t>(bytes_in_memory(meta))}, start);
        std::pmr::vector<std::byte> part;
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
    static shape_builder first_rows(const tensor_meta& meta, std::size_t max_bytes) {
        shape_builder shape(meta.shape);
        const auto bytes = static_cast<std::size_t>(bytes_in_memory(meta));
        if (bytes <= max_bytes || traits_of(meta.dtype).bits % 8 != 0) return shape;
        const std::size_t row_bytes = bytes / static_cast<std::size_t>(shape[0]);
        shape[0] = static_cast<std::int64_t>(std::max<std::size_t>(1, max_bytes / row_bytes));
        return shape;
    }
    static bool same_data(const node& a, const node& b) {
        std::pmr::vector<std::byte> copy_a, copy_b;
        return std::ranges::equal(bytes_of(a, copy_a), bytes_of(b, copy_b));
    }
};
HEADRACE_COMPILED_PASS(merge_equal_constants);

}  // namespace headrace

#endif
