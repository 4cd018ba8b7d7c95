// SPDX-License-Identifier: MIT
// Defines headrace::dispatch_cache, which remembers inference results by op, arguments and operand metadata.
#ifndef HEADRACE_FX_DISPATCH_CACHE_HPP
#define HEADRACE_FX_DISPATCH_CACHE_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

namespace detail {

/// The key of an inference, as words. Two nodes have equal words if a rule cannot tell them apart.
class dispatch_key {
public:
    /// Returns false if there is no key: the node holds a graph or a constant, or an operand has no `val`.
    bool assign(const node& n);
    [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
    [[nodiscard]] std::uint64_t hash() const;

private:
    void put(std::uint64_t word) { words_.push_back(word); }
    void put(std::int64_t i) { put(static_cast<std::uint64_t>(i)); }
    void put(bool b) { put(std::uint64_t{b}); }
    void put(double d) { put(std::bit_cast<std::uint64_t>(d)); }
    template <class T>
        requires std::is_enum_v<T>
    void put(T e) {
        put(static_cast<std::uint64_t>(e));
    }
    void put(const scalar& s) {
        put(static_cast<std::uint64_t>(s.kind()));
        s.is_floating() ? put(s.to_double()) : put(s.to_int());
    }
    void put(std::string_view text) {
        put(std::uint64_t{text.size()});
        for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
            put(word);
        }
    }
    void put(const value& v) {
        const tensor_meta* meta = v ? meta_of(v) : nullptr;
        if (meta == nullptr) {
            sound_ = false;
            return;
        }
        put(static_cast<std::uint64_t>(meta->dtype) | std::uint64_t{meta->shape.size()} << 8U |
            std::uint64_t{meta->dim_order.size()} << 32U);
        words_.insert(words_.end(), meta->shape.begin(), meta->shape.end());
        words_.insert(words_.end(), meta->dim_order.begin(), meta->dim_order.end());
    }
    void put(graph* const&) { sound_ = false; }
    void put(const custom_member& m) {
        m.type->print(
            m.at, {this, [](void* to, std::string_view text) { static_cast<dispatch_key*>(to)->put(text); }});
    }
    void put(const tensor_data&) { sound_ = false; }
    void put(const int_list& items) { put_all(items); }
    template <class T>
    void put(const list<T>& items) {
        put_all(items);
    }
    template <class T>
    void put(const std::optional<T>& o) {
        put(o.has_value());
        if (o) put(*o);
    }
    template <class Items>
    void put_all(const Items& items) {
        put(std::uint64_t{items.size()});
        for (const auto& item : items) put(item);
    }

    pmr_vector<std::uint64_t> words_;
    bool sound_ = true;
};

}  // namespace detail

/// Remembers inferences for the ops of some dialects; those of other dialects bypass it. A rule depends only
/// on arguments and operand metadata, which form the key. Errors are not remembered.
///
///     dispatch_cache cache({&info_of_dialect<aten::dialect>});
///     {
///         const auto more = cache.extend<quantized_decomposed::dialect, tosa::dialect>();
///         …  // these dialects are remembered, too
///     }
///     cache.infer(n, out, &rules);
///
/// Use it for rules that cost more than a lookup, such as those of an interpreter written in Python.
/// Headrace's own rules are faster than a lookup (tests/bench/lowering_time.cpp measures both), so nothing
/// here uses a cache unless pass_context::use_cache asks for it.
class dispatch_cache final : public inference_cache {
public:
    explicit dispatch_cache(std::initializer_list<const dialect_info*> dialects = {}) : dialects_(dialects) {}
    dispatch_cache(const dispatch_cache&) = delete;
    dispatch_cache& operator=(const dispatch_cache&) = delete;

    /// Adds dialects for its lifetime. Scopes may end in any order; remembered results are found again by the
    /// next scope that adds their dialect.
    class [[nodiscard]] scope {
    public:
        scope(dispatch_cache& cache, std::initializer_list<const dialect_info*> dialects);
        scope(scope&& other) noexcept
            : cache_(std::exchange(other.cache_, nullptr)), dialects_(std::move(other.dialects_)) {}
        scope& operator=(scope&&) = delete;
        ~scope();

    private:
        dispatch_cache* cache_;
        pmr_vector<const dialect_info*> dialects_;
    };
    template <class... Dialects>
    scope extend() {
        return scope(*this, {&info_of_dialect<Dialects>...});
    }

    /// Returns the inference for that node, from the cache if it is known.
    [[nodiscard]] result<void> infer(const node& n, inference& out, rules rule) override;

    [[nodiscard]] std::size_t hits() const { return hits_; }
    [[nodiscard]] std::size_t misses() const { return misses_; }
    /// Counts nodes of other dialects, and those without a key: regions and constants.
    [[nodiscard]] std::size_t bypassed() const { return bypassed_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    void reset_counts() { hits_ = misses_ = bypassed_ = 0; }

private:
    struct entry {
        std::span<const std::uint64_t> key{};
        std::span<const tensor_meta> results{};

        explicit operator bool() const { return !key.empty(); }
    };

    [[nodiscard]] bool has_key(const entry& e) const;
    void insert(std::uint64_t hash, std::span<const tensor_meta> results);
    template <class T>
    std::span<T> own(std::span<const T> items) {
        return {copy_array(arena_, items.data(), items.size()), items.size()};
    }

    pmr_vector<const dialect_info*> dialects_;
    headrace::arena arena_{std::pmr::get_default_resource()};
    flat_map<entry> entries_;
    detail::dispatch_key key_;
    std::size_t hits_ = 0;
    std::size_t misses_ = 0;
    std::size_t bypassed_ = 0;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/fx/dispatch_cache_definition.hpp>
#endif

#endif
