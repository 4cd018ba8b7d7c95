// SPDX-License-Identifier: MIT
// Defines the functions of rewrite/pass_context.hpp.
#ifndef HEADRACE_REWRITE_PASS_CONTEXT_DEFINITION_HPP
#define HEADRACE_REWRITE_PASS_CONTEXT_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/nearest_named.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace {

HEADRACE_INLINE std::pmr::string diagnostic_text(const diagnostic& d) {
    const std::string_view behind = d.source.empty() ? "" : ": ";
    const bool is_named = !d.node.empty();
    return text_of({d.source, behind, printable(d.node), is_named ? " (" : "", printable(d.op),
        is_named ? "): " : ": ", printable(d.reason, max_printed_message)});
}

HEADRACE_INLINE void pass_context::report(const node& n, std::string_view reason, error_kind kind) {
    if (kind == error_kind::invalid && !diagnostics_.empty()) return;
    const node& named = nearest_named(n);
    const auto* origin = named.find_annotation<provenance>();
    diagnostic d{std::pmr::string(origin_name(named)),
        std::pmr::string(origin != nullptr ? origin->op_name : op_name(named)),
        text_of({relation_text(n, named), reason}), kind, source_line(named)};
    const std::hash<std::string_view> hash;
    std::uint32_t& number = numbers_.find_or_add(mix(hash(d.node), hash(d.reason)), [&](std::uint32_t at) {
        const diagnostic& other = diagnostics_[at - 1];
        return other.node == d.node && other.reason == d.reason && other.op == d.op;
    });
    if (number != 0) return;
    diagnostics_.push_back(std::move(d));
    number = static_cast<std::uint32_t>(diagnostics_.size());
}

HEADRACE_INLINE result<void> pass_context::infer(const node& n, inference& out) const {
    if (functions_.infer == nullptr)
        return invalid({message_prefix(n), "no `val` and no inference to make one"});
    return cache_ == nullptr ? functions_.infer(n, out) : cache_->infer(n, out, functions_.infer);
}

}  // namespace headrace

#endif
