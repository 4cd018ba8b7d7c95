// SPDX-License-Identifier: MIT
// Defines headrace::dispatch_cache, which remembers what inference gave for an op, its arguments and the
// metadata of its inputs.
#ifndef HEADRACE_INFER_DISPATCH_CACHE_HPP
#define HEADRACE_INFER_DISPATCH_CACHE_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/infer/inference.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

namespace detail {

/// The key of an inference as words: two nodes of which a rule sees the same have the same words.
class dispatch_key {
public:
    /// False if there is no key: the node holds a graph or a constant, or an operand has no `val`.
    bool assign(const node& n) {
        words_.clear();
        sound_ = true;
        put(std::uint64_t{reinterpret_cast<std::uintptr_t>(n.op)});
        for (const field_info& f : *n.op)
            visit_field(f, n.arguments, [this](const auto& member) { put(member); });
        return sound_;
    }
    [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
    [[nodiscard]] std::uint64_t hash() const {
        std::uint64_t state = words_.size();
        for (const std::uint64_t word : words_) {
            state = (state ^ word) * 0x9e3779b97f4a7c15U;
            state ^= state >> 29;
        }
        return state;
    }

private:
    void put(std::uint64_t word) { words_.push_back(word); }
    void put(std::int64_t i) { put(static_cast<std::uint64_t>(i)); }
    void put(bool b) { put(std::uint64_t{b}); }
    void put(double d) { put(std::bit_cast<std::uint64_t>(d)); }
    template <class T>
    requires std::is_enum_v<T>
    void put(T e) { put(static_cast<std::uint64_t>(e)); }
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

    std::pmr::vector<std::uint64_t> words_;
    bool sound_ = true;
};

}  // namespace detail

/// Remembers inferences of the ops of some dialects; those of others go past it. A rule sees arguments and
/// the metadata of its operands alone, and that is the key. Errors are not remembered.
///
///     dispatch_cache cache({&info_of_dialect<aten::dialect>});
///     {
///         const auto more = cache.extend<quantized_decomposed::dialect, tosa::dialect>();
///         …  // those are remembered, too
///     }
///     cache.infer(n, out, &rules);
///
/// It is for rules that cost more than a look-up, as those of an interpreter written in Python do. Headrace's
/// own are faster than a look-up (tests/bench/lowering_time.cpp measures both), so nothing here uses one
/// unless pass_context::use_cache asks for it.
class dispatch_cache {
public:
    using rules = result<void> (*)(const node& n, inference& out);

    explicit dispatch_cache(std::initializer_list<const dialect_info*> dialects = {}) : dialects_(dialects) {}
    dispatch_cache(const dispatch_cache&) = delete;
    dispatch_cache& operator=(const dispatch_cache&) = delete;

    /// Adds dialects for as long as it lives. Scopes may end in any order; what was remembered is found again
    /// by the next that adds its dialect.
    class [[nodiscard]] scope {
    public:
        scope(dispatch_cache& cache, std::initializer_list<const dialect_info*> dialects)
            : cache_(&cache), dialects_(dialects) {
            cache.dialects_.insert(cache.dialects_.end(), dialects.begin(), dialects.end());
        }
        scope(scope&& other) noexcept
            : cache_(std::exchange(other.cache_, nullptr)), dialects_(std::move(other.dialects_)) {}
        scope& operator=(scope&&) = delete;
        ~scope() {
            if (cache_ == nullptr) return;
            for (const dialect_info* d : dialects_) {
                const auto last = std::find(cache_->dialects_.rbegin(), cache_->dialects_.rend(), d);
                cache_->dialects_.erase(std::next(last).base());
            }
        }

    private:
        dispatch_cache* cache_;
        std::pmr::vector<const dialect_info*> dialects_;
    };
    template <class... Dialects>
    scope extend() {
        return scope(*this, {&info_of_dialect<Dialects>...});
    }

    /// What the rules give for that node, from the cache if it is known.
    [[nodiscard]] result<void> infer(const node& n, inference& out, rules rule) {
        if (std::find(dialects_.begin(), dialects_.end(), n.op->dialect) == dialects_.end() ||
            !key_.assign(n)) {
            ++bypassed_;
            return rule(n, out);
        }
        const std::uint64_t hash = key_.hash();
        if (const entry* known = find(hash)) {
            ++hits_;
            for (const tensor_meta& meta : known->results) out.add(meta);
            return boost::outcome_v2::success();
        }
        ++misses_;
        const std::size_t before = out.results().size();
        result<void> done = rule(n, out);
        if (done) insert(hash, out.results().subspan(before));
        return done;
    }

    [[nodiscard]] std::size_t hits() const { return hits_; }
    [[nodiscard]] std::size_t misses() const { return misses_; }
    /// Nodes of other dialects, and those without a key: regions and constants.
    [[nodiscard]] std::size_t bypassed() const { return bypassed_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    void reset_counts() { hits_ = misses_ = bypassed_ = 0; }

private:
    struct entry {
        std::uint64_t hash = 0;
        std::span<const std::uint64_t> key;  // empty: a free slot
        std::span<const tensor_meta> results;
    };

    [[nodiscard]] const entry* find(std::uint64_t hash) const {
        if (slots_.empty()) return nullptr;
        for (std::size_t at = first_slot(hash); !slots_[at].key.empty();
             at = (at + 1) & (slots_.size() - 1)) {
            const entry& e = slots_[at];
            if (e.hash == hash && std::ranges::equal(e.key, key_.words())) return &e;
        }
        return nullptr;
    }
    void insert(std::uint64_t hash, std::span<const tensor_meta> results) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        const std::span<tensor_meta> kept = own(results);
        for (tensor_meta& meta : kept) {
            if (meta.shape.is_view())
                meta.shape = int_list(
                    std::span<const std::int64_t>(own(std::span(meta.shape.data(), meta.shape.size()))));
            meta.dim_order = {};
        }
        place({hash, own(key_.words()), kept});
        ++size_;
    }
    void grow() {
        std::pmr::vector<entry> old(std::max<std::size_t>(64, 2 * slots_.size()));
        old.swap(slots_);
        for (const entry& e : old) {
            if (!e.key.empty()) place(e);
        }
    }
    // There is a power of two of them.
    [[nodiscard]] std::size_t first_slot(std::uint64_t hash) const {
        return static_cast<std::size_t>(hash) & (slots_.size() - 1);
    }
    void place(const entry& e) {
        std::size_t at = first_slot(e.hash);
        while (!slots_[at].key.empty()) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = e;
    }
    template <class T>
    std::span<T> own(std::span<const T> items) {
        if (items.empty()) return {};
        T* copy = static_cast<T*>(
            static_cast<std::pmr::memory_resource&>(arena_).allocate(items.size_bytes(), alignof(T)));
        std::uninitialized_copy(items.begin(), items.end(), copy);
        return {copy, items.size()};
    }

    std::pmr::vector<const dialect_info*> dialects_;
    headrace::arena arena_{std::pmr::get_default_resource()};
    std::pmr::vector<entry> slots_;
    detail::dispatch_key key_;
    std::size_t size_ = 0;
    std::size_t hits_ = 0;
    std::size_t misses_ = 0;
    std::size_t bypassed_ = 0;
};

}  // namespace headrace

#endif
