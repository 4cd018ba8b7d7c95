// SPDX-License-Identifier: MIT
// Defines headrace::merge_equal_constants.
#ifndef HEADRACE_PASSES_FOLD_MERGE_EQUAL_CONSTANTS_HPP
#define HEADRACE_PASSES_FOLD_MERGE_EQUAL_CONSTANTS_HPP

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <span>
#include <vector>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace {

/// Makes constants of the same type, shape and elements one: the first. Only those that agree in type and
/// shape are hashed (FNV-1a), and equal hashes are compared element by element.
struct merge_equal_constants : pass {
    static constexpr std::string_view summary = "make constants of equal type, shape and elements one";
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
    /// Of constants with the same metadata.
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
            e.constant->owner = nullptr;
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

    /// Calls `f(bytes)` for each run of bytes that lie together, in row-major order, until it returns false.
    /// Packed types (INT4) have no strides.
    template <class F>
    static bool each_run(const node& n, F&& f) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const tensor_meta& meta = *n.results[0].meta;
        const auto count = static_cast<std::uint64_t>(meta.elements());
        if (data.strides.empty()) return f(std::span(data.bytes, bytes_in_memory(meta)));
        const std::size_t width = traits_of(meta.dtype).bits / 8U;
        for (std::uint64_t i = 0; i != count; ++i) {
            std::int64_t at = 0;
            auto left = static_cast<std::int64_t>(i);
            for (std::size_t d = meta.rank(); d-- != 0; left /= meta.shape[d])
                at += left % meta.shape[d] * data.strides[d];
            if (!f(std::span(data.bytes + at * static_cast<std::int64_t>(width), width))) return false;
        }
        return true;
    }
    static std::uint64_t hash_of_data(const node& n) {
        std::uint64_t hash = 14695981039346656037U;
        each_run(n, [&](std::span<const std::byte> bytes) {
            for (const std::byte b : bytes)
                hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 1099511628211U;
            return true;
        });
        return hash;
    }
    static bool same_data(const node& a, const node& b) {
        const bool packed = args_of<builtin::constant>(a).data.strides.empty();
        if (packed && args_of<builtin::constant>(b).data.strides.empty()) {
            const std::byte* other = args_of<builtin::constant>(b).data.bytes;
            return each_run(a, [&](std::span<const std::byte> bytes) {
                return bytes.empty() || std::memcmp(bytes.data(), other, bytes.size()) == 0;
            });
        }
        std::pmr::vector<std::byte> elements;
        each_run(a, [&](std::span<const std::byte> bytes) {
            elements.insert(elements.end(), bytes.begin(), bytes.end());
            return true;
        });
        std::size_t at = 0;
        return each_run(b, [&](std::span<const std::byte> bytes) {
            const bool same = bytes.empty() || std::memcmp(&elements[at], bytes.data(), bytes.size()) == 0;
            at += bytes.size();
            return same;
        });
    }
};

}  // namespace headrace

#endif
