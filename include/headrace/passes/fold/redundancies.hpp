// SPDX-License-Identifier: MIT
// Defines the passes that remove what is redundant: headrace::remove_dead_code, headrace::fuse_clamps,
// headrace::merge_duplicates and headrace::merge_equal_constants.
#ifndef HEADRACE_PASSES_FOLD_REDUNDANCIES_HPP
#define HEADRACE_PASSES_FOLD_REDUNDANCIES_HPP

#include <cstring>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// See ir/dead_code.hpp.
struct remove_dead_code : pass {
    using runs_after = pass_list<functional>;
    using ensures = pass_list<no_dead_code>;
    static constexpr std::string_view summary = "removes nodes that no output and no effect depends on";
    static constexpr bool repeatable = true;

    result<std::size_t> operator()(graph& g, pass_context&) const { return eliminate_dead_code(g); }
};
HEADRACE_COMPILED_PASS(remove_dead_code);

/// A CLAMP to the whole range of its dtype is kept here, because some targets want it; for the others
/// headrace::remove_whole_clamps removes it.
struct fuse_clamps : pass {
    using runs_after = pass_list<tosa_only>;
    static constexpr std::string_view summary =
        "fuses a CLAMP of a CLAMP into one where their ranges overlap";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on_match(twice<tosa::clamp>) = [](auto x, const auto& m) {
            const args<tosa::clamp>& outer = get<"outer">(m);
            const args<tosa::clamp>& inner = get<"inner">(m);
            const scalar min = less(outer.min_val, inner.min_val) ? inner.min_val : outer.min_val;
            const scalar max = less(inner.max_val, outer.max_val) ? inner.max_val : outer.max_val;
            const auto both = [&] { return call<tosa::clamp>(x, min, max, outer.nan_mode); };
            return choose(inner.nan_mode == outer.nan_mode && !less(max, min), both, unchanged);
        });
    }

private:
    static bool less(scalar a, scalar b) { return a.to_double() < b.to_double(); }
};
HEADRACE_COMPILED_PASS(fuse_clamps);

/// True if two nodes compute the same: they have the same op and operands, and equal arguments and results.
[[nodiscard]] inline bool same_computation(const node& a, const node& b) {
    if (a.op != b.op || a.result_count != b.result_count) return false;
    for (std::uint32_t i = 0; i != a.result_count; ++i) {
        if (!same_meta(a.results[i].meta, b.results[i].meta)) return false;
    }
    return equal_arguments(*a.op, a.arguments, b.arguments);
}

/// Common subexpression elimination; the first node is kept. RESCALEs to INT32 are spared on targets that
/// fuse them into their readers.
struct merge_duplicates : pass {
    using runs_after = pass_list<functional, canonical_quantization>;
    using ensures = pass_list<quantizers_merged, duplicates_merged>;
    using invalidates = pass_list<distinct_outputs>;
    static constexpr std::string_view summary = "merges nodes that compute the same from the same operands";
    static constexpr bool repeatable = true;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        const bool spares = preferences_of(g.target()).widens_per_reader;
        return sum_over_graphs(g, [&](graph& sub) { return merge(sub, spares); });
    }

private:
    // True if the node widens its operand for a single reader, on targets that fuse it into that.
    static bool widens_for_reader(const node& n) {
        return n.op->has(trait::per_reader) && has_result_of(n, dtype::int32);
    }
    // True if the node is the only user of one of its operands: no other node can then compute the same.
    static bool is_sole_user(const node& n) {
        return std::ranges::any_of(
            n.operand_edges(), [](const edge& e) { return e.source->first_use == e.source->last_use; });
    }

    static std::size_t merge(graph& g, bool spares_widenings) {
        flat_map<node*> seen;  // by what they compute
        seen.reserve(g.size());
        // Returns an earlier node that computes the same; otherwise adds this one and returns null.
        const auto find_or_add = [&](node& n) -> node* {
            node*& known = seen.find_or_add(hash_arguments(*n.op, n.arguments),
                [&](const node* other) { return same_computation(*other, n); });
            if (known != nullptr) return known;
            known = &n;
            return nullptr;
        };
        pmr_vector<bool> sole_users(g.id_bound());  // by id: nodes that were not looked up
        std::size_t merged = 0;
        for (auto at = g.nodes().begin(); at != g.nodes().end();) {
            node& current = *at++;
            if (!is_pure(current) || (spares_widenings && widens_for_reader(current))) continue;
            sole_users[current.id] = is_sole_user(current);
            if (sole_users[current.id]) continue;
            node* const same = find_or_add(current);
            if (same == nullptr) continue;
            const edge* const sole_use = same->first_use == same->last_use ? same->first_use : nullptr;
            for (std::uint32_t i = 0; i != current.result_count; ++i) {
                g.replace_all_uses(current.result(i), same->result(i));
            }
            g.erase(current);
            ++merged;
            // Its user is no longer a sole user: a later node may compute the same.
            node* const user = sole_use == nullptr ? nullptr : sole_use->target;
            if (user == nullptr || !sole_users[user->id] || is_sole_user(*user)) continue;
            sole_users[user->id] = false;
            find_or_add(*user);
        }
        return merged;
    }
};
HEADRACE_COMPILED_PASS(merge_duplicates);

/// Only constants of the same dtype and shape are hashed; those with equal hashes are compared byte by byte.
struct merge_equal_constants : pass {
    using runs_after = pass_list<constants_folded>;
    using runs_before = pass_list<merge_duplicates>;
    static constexpr std::string_view summary = "merges constants with the same type, shape and elements";

    result<std::size_t> operator()(graph& g, pass_context&) const { return sum_over_graphs(g, merge); }

private:
    static constexpr std::size_t part_bytes = 1 << 16;
    static constexpr std::uint64_t hash_start = 14695981039346656037U;

    struct entry {
        node* constant;
        std::uint64_t hash;
        std::size_t position;

        friend bool operator<(const entry& a, const entry& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.position < b.position;
        }
    };

    static std::size_t merge(graph& g) {
        pmr_vector<entry> entries;
        for (node& n : g.nodes()) {
            if (!is<builtin::constant>(n) || n.results[0].meta == nullptr) continue;
            entries.push_back({&n, hash_of_metadata(*n.results[0].meta), entries.size()});
        }
        return merge_alike(g, entries, 0);
    }
    /// Merges equal constants, given the hashes of their metadata or of their first `hashed_bytes` bytes.
    /// Most constants with equal metadata differ in their first elements; only if these are equal, all
    /// elements are hashed.
    static std::size_t merge_alike(graph& g, std::span<entry> entries, std::size_t hashed_bytes) {
        std::size_t merged = 0;
        std::sort(entries.begin(), entries.end());
        for (auto from = entries.begin(), to = from; from != entries.end(); from = to) {
            to = std::find_if_not(from, entries.end(), [&](const entry& e) { return e.hash == from->hash; });
            const std::span alike(from, to);
            if (alike.size() == 1) continue;
            if (hashed_bytes == SIZE_MAX) {
                merged += merge_same(g, alike);
                continue;
            }
            const std::size_t more_bytes = hashed_bytes == 0 ? part_bytes : SIZE_MAX;
            for (entry& e : alike) e.hash = hash_of_data(*e.constant, more_bytes);
            merged += merge_alike(g, alike, more_bytes);
        }
        return merged;
    }
    /// Merges equal constants among those with the same hash.
    static std::size_t merge_same(graph& g, std::span<const entry> alike) {
        std::size_t merged = 0;
        pmr_vector<entry> kept;
        for (const entry& e : alike) {
            const auto same = std::ranges::find_if(
                kept, [&](const entry& k) { return same_constant(*k.constant, *e.constant); });
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

    static std::uint64_t hash_of_metadata(const tensor_meta& meta) {
        return hash_of(std::as_bytes(std::span(meta.shape.data(), meta.shape.size())),
            hash_start + static_cast<std::uint64_t>(meta.dtype));
    }

    /// Returns the bytes of the elements in row-major order, in `copy` if the constant has strides. Packed
    /// dtypes (INT4) have none.
    static std::span<const std::byte> bytes_of(const node& n, pmr_vector<std::byte>& copy) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const tensor_meta& meta = *n.results[0].meta;
        if (data.strides.empty()) return {data.bytes, static_cast<std::size_t>(bytes_in_memory(meta))};
        const std::size_t width = traits_of(meta.dtype).bits / 8U;
        copy.clear();
        copy.reserve(static_cast<std::size_t>(bytes_in_memory(meta)));
        for_each_element(data, meta, [&](const std::byte* at) { copy.insert(copy.end(), at, at + width); });
        return copy;
    }
    /// Hashes eight bytes at a time: weights are gigabytes.
    static std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t hash) {
        while (!bytes.empty()) {
            std::uint64_t word = 0;
            const std::size_t count = std::min(bytes.size(), sizeof word);
            std::memcpy(&word, bytes.data(), count);
            hash = mix(hash, word);
            bytes = bytes.subspan(count);
        }
        return hash;
    }
    /// Hashes the first rows, up to `max_bytes`, but at least one row. Elements with strides are gathered in
    /// chunks, so that large constants are not copied whole.
    static std::uint64_t hash_of_data(const node& n, std::size_t max_bytes) {
        const tensor_data& data = args_of<builtin::constant>(n).data;
        const shape_builder rows = first_rows(*n.results[0].meta, max_bytes);
        const tensor_meta meta{n.results[0].meta->dtype, rows, {}};
        if (data.strides.empty())
            return hash_of({data.bytes, static_cast<std::size_t>(bytes_in_memory(meta))}, hash_start);
        pmr_vector<std::byte> part;
        const std::size_t width = traits_of(meta.dtype).bits / 8U;
        std::uint64_t hash = hash_start;
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
    static bool same_constant(const node& a, const node& b) {
        if (*a.results[0].meta != *b.results[0].meta) return false;
        pmr_vector<std::byte> copy_a, copy_b;
        return std::ranges::equal(bytes_of(a, copy_a), bytes_of(b, copy_b));
    }
};
HEADRACE_COMPILED_PASS(merge_equal_constants);

}  // namespace headrace

#endif
