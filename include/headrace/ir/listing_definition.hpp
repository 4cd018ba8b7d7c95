// SPDX-License-Identifier: MIT
// Defines the functions of ir/listing.hpp.
#ifndef HEADRACE_IR_LISTING_DEFINITION_HPP
#define HEADRACE_IR_LISTING_DEFINITION_HPP

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/time_step.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

HEADRACE_INLINE printed_names::printed_names(const graph& g) {
    claim_own(g, 0);
    std::sort(graphs_.begin(), graphs_.end(),
        [](const names_of_graph& a, const names_of_graph& b) { return std::less<>()(a.owner, b.owner); });
    fill_missing(g);
}

HEADRACE_INLINE std::string_view printed_names::operator[](value v) const {
    const names_of_graph* graph = v ? find(v.producer->owner) : nullptr;
    if (graph == nullptr || v.producer->id >= graph->owner->id_bound()) return "null";
    const std::string_view* results = graph->names[v.producer->id];
    return results != nullptr && v.result < v.producer->result_count ? results[v.result] : "null";
}

HEADRACE_INLINE std::size_t printed_names::number_of(const graph& region) const {
    const names_of_graph* names = find(&region);
    if (names != nullptr) return names->number;
    // The region belongs to a graph that is not listed here.
    std::size_t number = 0;
    for (const graph* other : regions_of(*region.parent())) {
        if (other == &region) break;
        ++number;
    }
    return number;
}

HEADRACE_INLINE const printed_names::names_of_graph* printed_names::find(const graph* g) const {
    const auto is_before = [](const names_of_graph& names, const graph* owner) {
        return std::less<>()(names.owner, owner);
    };
    const auto* const found = std::lower_bound(graphs_.begin(), graphs_.end(), g, is_before);
    return found != graphs_.end() && found->owner == g ? found : nullptr;
}

HEADRACE_INLINE pmr_vector<const graph*> printed_names::regions_of(const graph& g) {
    pmr_vector<const graph*> regions;
    for (const graph& region : g.regions()) regions.push_back(&region);
    std::reverse(regions.begin(), regions.end());
    return regions;
}

HEADRACE_INLINE void printed_names::claim_own(const graph& g, std::size_t number) {
    std::string_view** names = make_array<std::string_view*>(memory_, g.id_bound());
    graphs_.push_back({&g, number, names});
    for (const node& n : g.nodes()) {
        names[n.id] = make_array<std::string_view>(memory_, n.result_count);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const std::string_view own = n.results[i].name;
            if (!own.empty()) claim(printable(own), names[n.id][i]);
        }
    }
    std::size_t next = 0;
    for (const graph* region : regions_of(g)) claim_own(*region, next++);
}

HEADRACE_INLINE void printed_names::fill_missing(const graph& g) {
    std::string_view* const* names = find(&g)->names;
    for (const node& n : g.nodes()) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            std::string_view& name = names[n.id][i];
            const std::string_view own = n.results[i].name;
            if (!name.empty()) continue;
            const auto* const step = n.find_annotation<time_step>();
            if (!own.empty()) {
                name = unused(printable(own));
            } else if (step != nullptr) {
                name = unused(text_of({printable(step->name), "_", base_of(*n.op)}));
            } else {
                name = unused(base_of(*n.op));
            }
        }
    }
    for (const graph* region : regions_of(g)) fill_missing(*region);
}

HEADRACE_INLINE std::pmr::string printed_names::base_of(const op_info& op) {
    std::string_view text = op.name.substr(op.name.find('.') + 1);
    std::pmr::string base(text.substr(0, text.find('.')));
    for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return base;
}

HEADRACE_INLINE bool printed_names::claim(std::string_view text, std::string_view& as) {
    if (taken_.find(text) != nullptr) return false;
    as = {copy_array(memory_, text.data(), text.size()), text.size()};
    taken_.try_emplace(as);
    return true;
}

HEADRACE_INLINE std::string_view printed_names::unused(std::string_view base) {
    std::string_view name;
    if (claim(base, name)) return name;
    std::pmr::string numbered;
    do {
        numbered = base;
        (numbered += '_') += number_text(++*taken_.find(base));
    } while (!claim(numbered, name));
    return name;
}

namespace detail {

HEADRACE_INLINE std::pmr::string listed_names::operator()(value v) const {
    std::pmr::string name(1, '%');
    return name += (*names_)[v];
}

HEADRACE_INLINE std::pmr::string listed_names::operator()(const graph* region) const {
    if (region->parent() == nullptr) return "none";
    return text_of({"#", names_->number_of(*region)});
}

HEADRACE_INLINE std::pmr::string listed_arguments(const node& n, const listed_names& names) {
    std::pmr::string out;
    bool positional = true;
    for (const field_info& f : *n.op) {
        const bool is_list = f.kind == field_kind::tensors || f.kind == field_kind::optional_tensors;
        const bool shown = is_list || !equal_field(f, n.arguments, n.op->default_args);
        positional = positional && shown && holds_tensors(f.kind);
        if (!shown) continue;
        if (!out.empty()) out += ", ";
        if (!positional) (out += f.name) += '=';
        print_field(out, f, n.arguments, names);
    }
    return out;
}

[[nodiscard]] inline std::pmr::string node_line(const node& n, const printed_names& names) {
    const listed_names name(names);
    std::pmr::string out;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const value v{const_cast<node*>(&n), i};
        (((out += i == 0 ? "" : ", ") += name(v)) += ": ") += meta_text(meta_of(v));
    }
    if (n.result_count != 0) out += " = ";
    if (is<builtin::placeholder>(n)) return out += "input";
    if (is<builtin::constant>(n)) {
        out += "constant";
        if (args_of<builtin::constant>(n).data.strides.empty()) return out;
        out += ", ";
        print_field(out, n.op->fields[0], n.arguments, name);
        return out;
    }
    if (is<builtin::output>(n)) {
        const auto* exported = n.find_annotation<output_names>();
        out += "output";
        std::size_t i = 0;
        for (const value v : args_of<builtin::output>(n).values) {
            out += i == 0 ? " " : ", ";
            const bool named = exported != nullptr && i < exported->names.size();
            const std::pmr::string given = named ? printable(exported->names[i]) : std::pmr::string(names[v]);
            if (given != names[v]) (out += given) += '=';
            out += name(v);
            ++i;
        }
        return out;
    }
    if (const auto* opaque = args_if<builtin::opaque>(n)) {
        ((out += printable(opaque->target)) += '(') += opaque_arguments(*opaque, name);
        return out += ')';
    }
    ((out += n.op->name) += '(') += listed_arguments(n, name);
    return out += ')';
}

inline void list_graph(
    const graph& g, const printed_names& names, const std::pmr::string& indent, std::pmr::string& out) {
    for (const node& n : g.nodes()) {
        ((out += indent) += node_line(n, names)) += '\n';
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr || region->parent() != &g) return;
            (((out += indent) += "    ") += listed_names(names)(region)) += ":\n";
            list_graph(*region, names, text_of({indent, "        "}), out);
        });
    }
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string listing(const graph& g) {
    const printed_names names(g);
    std::pmr::string out;
    detail::list_graph(g, names, "", out);
    return out;
}

}  // namespace headrace

#endif
