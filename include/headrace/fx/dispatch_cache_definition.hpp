// SPDX-License-Identifier: MIT
// Defines the functions of fx/dispatch_cache.hpp.
#ifndef HEADRACE_FX_DISPATCH_CACHE_DEFINITION_HPP
#define HEADRACE_FX_DISPATCH_CACHE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

namespace detail {

HEADRACE_INLINE bool dispatch_key::assign(const node& n) {
    words_.clear();
    sound_ = true;
    put(std::uint64_t{reinterpret_cast<std::uintptr_t>(n.op)});
    for (const field_info& f : *n.op)
        visit_field(f, n.arguments, [this](const auto& member) { put(member); });
    return sound_;
}

HEADRACE_INLINE std::uint64_t dispatch_key::hash() const {
    std::uint64_t state = words_.size();
    for (const std::uint64_t word : words_) state = mix(state, word);
    return state;
}

}  // namespace detail

HEADRACE_INLINE dispatch_cache::scope::scope(
    dispatch_cache& cache, std::initializer_list<const dialect_info*> dialects)
    : cache_(&cache), dialects_(dialects) {
    cache.dialects_.insert(cache.dialects_.end(), dialects.begin(), dialects.end());
}

HEADRACE_INLINE dispatch_cache::scope::~scope() {
    if (cache_ == nullptr) return;
    for (const dialect_info* d : dialects_) {
        const auto last = std::find(cache_->dialects_.rbegin(), cache_->dialects_.rend(), d);
        cache_->dialects_.erase(std::next(last).base());
    }
}

HEADRACE_INLINE result<void> dispatch_cache::infer(const node& n, inference& out, rules rule) {
    if (std::find(dialects_.begin(), dialects_.end(), n.op->dialect) == dialects_.end() || !key_.assign(n)) {
        ++bypassed_;
        return rule(n, out);
    }
    const std::uint64_t hash = key_.hash();
    const auto is_known = [&](const entry& e) { return has_key(e); };
    if (const entry* known = entries_.find(hash, is_known)) {
        ++hits_;
        for (const tensor_meta& meta : known->results) out.add(meta);
        return {};
    }
    ++misses_;
    const std::size_t before = out.results().size();
    result<void> done = rule(n, out);
    if (done) insert(hash, out.results().subspan(before));
    return done;
}

HEADRACE_INLINE bool dispatch_cache::has_key(const entry& e) const {
    return std::ranges::equal(e.key, key_.words());
}

HEADRACE_INLINE void dispatch_cache::insert(std::uint64_t hash, std::span<const tensor_meta> results) {
    const std::span<tensor_meta> kept = own(results);
    for (tensor_meta& meta : kept) {
        if (meta.shape.is_view())
            meta.shape =
                int_list(std::span<const std::int64_t>(own(std::span(meta.shape.data(), meta.shape.size()))));
        meta.dim_order = {};
    }
    entries_.find_or_add(hash, [&](const entry& e) { return has_key(e); }) = {own(key_.words()), kept};
}

}  // namespace headrace

#endif
