// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/graph_history.hpp.

#include <headrace/show/graph_history.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/io/text/node_text.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace {

namespace {

std::string format_quantization(const signature_quantization& q) {
    return q.scale == 0 ? std::string()
                        : join_text("scale ", shortest_text(q.scale), ", zero point ", q.zero_point);
}

}  // namespace

/// One traversal of a graph, which writes each of its nodes as an object.
class graph_history::snapshot {
public:
    explicit snapshot(graph_history& history) : history_(history) {}

    /// Calls `f(node, object)` for each node of the graph and of its regions.
    template <class F>
    void read(const graph& g, const node* holder, std::string_view field, F&& f) {
        for (const node& n : g.nodes()) {
            f(n, object(n, holder, field));
            for_each_region(n, [&](const field_info& of, const graph* region) {
                if (region != nullptr && region->parent() == &g) read(*region, &n, of.name, f);
            });
        }
    }

private:
    [[nodiscard]] std::string object(const node& n, const node* holder, std::string_view field) {
        json_writer w(json_style::compact);
        w.begin_object();
        w.member("i", history_.number_of(n));
        w.member("op", history_.text(op_name(n)));
        if (!n.name().empty()) w.member("n", n.name());
        if (holder != nullptr) w.member("r", std::vector{history_.number_of(*holder), history_.text(field)});
        write_origin(w, n);
        write_attributes(w, n);
        write_operands(w, n);
        w.begin_array("out");
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            w.value(history_.text(std::string_view(meta_text(meta ? &*meta : nullptr))));
        }
        w.end_array();
        if (is<builtin::constant>(n)) write_constant(w, n);
        if (const std::uint64_t macs = multiply_accumulates(n); macs != 0) w.member("w", macs);
        w.end_object();
        return std::move(w).text();
    }

    void write_origin(json_writer& w, const node& n) {
        if (const auto* origin = n.find_annotation<provenance>())
            w.member("o", std::vector{history_.text(origin->node_name), history_.text(origin->op_name)});
        if (const auto* stack = n.find_annotation<module_stack>()) w.member("m", history_.text(stack->text));
        if (const auto* source = n.find_annotation<source_location>())
            w.member("s", history_.text(source->text));
    }

    // Names and texts alternate: "a" has given arguments, "d" the op's defaults.
    void write_attributes(json_writer& w, const node& n) {
        std::vector<std::uint32_t> given;
        std::vector<std::uint32_t> defaults;
        const auto put = [&](std::vector<std::uint32_t>& to, std::string_view name, std::string_view text) {
            to.push_back(history_.text(name));
            to.push_back(history_.text(text));
        };
        const bool has_fields = !is<builtin::constant>(n) && !is<builtin::opaque>(n);
        if (const auto* opaque = args_if<builtin::opaque>(n); opaque != nullptr && !opaque->arguments.empty())
            put(given, "arguments",
                opaque_arguments(*opaque, [](const value& v) { return join_text('%', v.producer->name()); }));
        for (const field_info& f : *n.op) {
            if (!has_fields || holds_tensors(f.kind) || f.kind == field_kind::region) continue;
            std::pmr::string text;
            print_field(text, f, n.arguments, [](value) { return std::string_view(); });
            put(equal_field(f, n.arguments, n.op->default_args) ? defaults : given, f.name, text);
        }
        if (const auto* q = n.find_annotation<signature_quantization>(); q != nullptr && q->scale != 0)
            put(given, "quantization", format_quantization(*q));
        if (const auto* all = n.find_annotation<output_quantizations>()) {
            for (const signature_quantization& q : all->values) {
                if (q.scale != 0) put(given, "quantization", format_quantization(q));
            }
        }
        if (const auto* custom = n.find_annotation<custom_metadata>()) put(defaults, "custom", custom->json);
        if (!given.empty()) w.member("a", given);
        if (!defaults.empty()) w.member("d", defaults);
    }

    void write_operands(json_writer& w, const node& n) {
        const auto fields = operand_fields(n);
        w.begin_array("in");
        for (const edge& e : n.operand_edges()) {
            w.value(history_.number_of(*e.source));
            w.value(e.slot->result);
            w.value(history_.text(fields[e.operand]));
        }
        w.end_array();
    }

    static void write_constant(json_writer& w, const node& n) {
        if (!n.results[0].meta || !n.results[0].meta->checked_elements()) return;
        const tensor_meta& meta = *n.results[0].meta;
        w.member("e", meta.elements());
        w.member("b", packed_bytes(meta));
        if (const std::string text = small_constant_text(n); !text.empty()) w.member("v", text);
    }

    graph_history& history_;
};

void graph_history::begin(const graph& g) {
    *this = {};
    steps_.emplace_back();
    take(g, steps_.back());
}

void graph_history::add(const pass_record& pass, const graph& g) {
    // A larger page would open slowly: all later changes are shown as those of the last pass.
    constexpr std::size_t max_recorded = std::size_t{96} << 20;
    steps_.push_back({std::string(pass.name), pass.status, pass.nodes, pass.nanoseconds, {}, {}});
    if (pass.nodes.rewritten != 0 && recorded_ < max_recorded) take(g, steps_.back());
}

const std::uint32_t* graph_history::find(const node& n) const {
    const auto at = nodes_.find(&n);
    return at == nodes_.end() ? nullptr : &at->second.number;
}

std::uint32_t graph_history::text(std::string_view text) {
    return texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size())).first->second;
}

std::uint32_t graph_history::number_of(const node& n) {
    const auto [at, is_new] = nodes_.try_emplace(&n);
    if (is_new) at->second.number = next_number_++;
    return at->second.number;
}

void graph_history::take(const graph& g, step& to) {
    const auto now = static_cast<std::uint32_t>(steps_.size());
    snapshot(*this).read(g, nullptr, {}, [&](const node& n, std::string object) {
        known_node& known = nodes_.find(&n)->second;
        const std::uint64_t hash = std::hash<std::string_view>{}(object);
        if (known.seen == 0 || known.hash != hash) {
            recorded_ += object.size();
            to.changed.push_back(std::move(object));
        }
        known.hash = hash;
        known.seen = now;
    });
    erase_if(nodes_, [&](const auto& entry) {
        if (entry.second.seen != now) to.gone.push_back(entry.second.number);
        return entry.second.seen != now;
    });
    std::ranges::sort(to.gone);  // so that the page is deterministic
}

void graph_history::write(json_writer& w) const {
    std::vector<std::string_view> texts(texts_.size());
    for (const auto& [text, position] : texts_) texts[position] = text;
    w.member("texts", texts);
    w.begin_array("steps");
    for (const step& s : steps_) {
        w.begin_object();
        w.member("pass", s.pass);
        if (s.status != pass_status::ran) w.member("skipped", name_of(s.status));
        w.member("rewritten", s.counts.rewritten);
        w.member("declined", s.counts.declined);
        w.member("ms", static_cast<double>(s.nanoseconds) / 1e6);
        w.begin_array("set");
        for (const std::string& object : s.changed) w.raw(object);
        w.end_array();
        w.member("gone", s.gone);
        w.end_object();
    }
    w.end_array();
}

}  // namespace headrace
