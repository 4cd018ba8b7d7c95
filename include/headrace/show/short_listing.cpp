// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/short_listing.hpp.

#include <headrace/show/short_listing.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/show/literals.hpp>

namespace headrace {

namespace {

using value_key = std::pair<const node*, std::uint32_t>;
value_key value_key_of(value v) { return {v.producer, v.result}; }

}  // namespace

/// The omitted nodes, and what is shown in their place.
class short_listing::content {
public:
    explicit content(const graph& g) : graph_(g), names_(g) { fold(g); }

    [[nodiscard]] std::string text() const {
        std::string out;
        list(graph_, "", out, nullptr);
        return out;
    }

    [[nodiscard]] std::optional<std::string> around(std::string_view name, std::size_t depth) const {
        if (name.starts_with('%')) name.remove_prefix(1);
        const node* start = nullptr;
        for (const node& n : graph_.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const value v{const_cast<node*>(&n), i};
                if (names_[v] == name) start = shown(v).producer;
            }
        }
        if (start == nullptr) return std::nullopt;
        std::string out;
        const std::set<const node*> near = neighbours(start, depth);
        list(graph_, "", out, &near);
        return out;
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const node& n : graph_.nodes()) {
            for (std::uint32_t i = 0; !hidden_.contains(&n) && i != n.result_count; ++i)
                all.emplace_back(names_[value{const_cast<node*>(&n), i}]);
        }
        return all;
    }

private:
    // Nodes come after their operands: constants and quantize nodes before their users.
    void fold(const graph& g) {
        for (const node& n : g.nodes()) {
            if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n)) {
                fold_quantize(n, q->input, quantization_of(*q), q->dtype);
            } else if (n.result_count == 1) {
                fold_dequantize(n);
            }
            if (auto literal = n.first_use == nullptr ? std::nullopt : detail::literal_of(n)) {
                hidden_.insert(&n);
                literals_.emplace(&n, *std::move(literal));
            }
            for_each_region(n, [&](const field_info&, const graph* region) {
                if (region != nullptr && region->parent() == &g) fold(*region);
            });
        }
        for (const node& n : g.nodes()) {
            const auto is_hidden = [&](const edge& e) { return hidden_.contains(e.target); };
            const auto uses = n.uses();
            if (detail::is_constant_node(n) && n.first_use != nullptr &&
                std::all_of(uses.begin(), uses.end(), is_hidden) && !types_.contains({&n, 0}))
                hidden_.insert(&n);
        }
    }

    void fold_quantize(const node& n, value input, const quantization& q, dtype type) {
        const value from = shown(input);
        const value to{const_cast<node*>(&n), 0};
        const bool is_only_user = input.producer->first_use != nullptr &&
            input.producer->first_use == input.producer->last_use && input.producer->result_count == 1 &&
            !hidden_.contains(input.producer) && !is<builtin::placeholder>(*input.producer);
        const value carrier = is_only_user ? from : to;
        set_type(carrier, type, q);
        if (is_only_user) hide(n, carrier);
    }

    void fold_dequantize(const node& n) {
        const auto read = match_dequantize({const_cast<node*>(&n), 0});
        if (!read) return;
        const value from = shown(read->integers);
        const tensor_meta* meta = meta_of(read->integers);
        if (meta == nullptr) return;
        const auto known = types_.find(value_key_of(from));
        const std::string type = format_type(*meta, meta->dtype, read->parameters);
        if (known != types_.end() && known->second != type) return;  // already read by another scale
        types_[value_key_of(from)] = type;
        hidden_.erase(from.producer);  // a small constant keeps its own line: its type says more
        literals_.erase(from.producer);
        const auto uses = n.uses();
        const auto is_output = [](const edge& e) { return is<builtin::output>(*e.target); };
        if (std::any_of(uses.begin(), uses.end(), is_output)) {
            implied_.insert(&n);
        } else {
            hide(n, from);
        }
    }

    static std::string format_type(const tensor_meta& meta, dtype type, const quantization& q) {
        const std::string plain(meta_text(meta));
        return join_text(name_of(type), detail::format_parameters(q), plain.substr(plain.find('[')));
    }
    void set_type(value v, dtype type, const quantization& q) {
        if (meta_of(v) != nullptr) types_[value_key_of(v)] = format_type(*meta_of(v), type, q);
    }
    void hide(const node& n, value stand_in) {
        hidden_.insert(&n);
        stand_ins_[{&n, 0}] = stand_in;
    }

    /// Returns the listed value for a value of the graph.
    [[nodiscard]] value shown(value v) const {
        const auto found = stand_ins_.find(value_key_of(v));
        return found == stand_ins_.end() ? v : found->second;
    }

    [[nodiscard]] std::set<const node*> neighbours(const node* start, std::size_t depth) const {
        std::map<const node*, std::vector<const node*>> edges;
        for (const node& n : graph_.nodes()) {
            if (hidden_.contains(&n)) continue;
            for (const edge& e : n.operand_edges()) {
                const node* source = shown(*e.slot).producer;
                edges[&n].push_back(source);
                edges[source].push_back(&n);
            }
        }
        std::set<const node*> reached{start};
        std::vector<const node*> border{start};
        for (std::size_t step = 0; step != depth && !border.empty(); ++step) {
            std::vector<const node*> next;
            for (const node* n : border) {
                for (const node* other : edges[n]) {
                    if (!hidden_.contains(other) && reached.insert(other).second) next.push_back(other);
                }
            }
            border = std::move(next);
        }
        return reached;
    }

    void list(const graph& g, const std::string& indent, std::string& out,
        const std::set<const node*>* only) const {
        for (const node& n : g.nodes()) {
            if (hidden_.contains(&n) || (only != nullptr && !only->contains(&n))) continue;
            out += indent + line_of(n) + '\n';
            for_each_region(n, [&](const field_info&, const graph* region) {
                if (region == nullptr || region->parent() != &g) return;
                out += indent + "    " + std::string(detail::listed_names(names_)(region)) + ":\n";
                list(*region, indent + "        ", out, nullptr);
            });
        }
    }

    /// Prints values and regions as arguments.
    struct argument_names {
        const content* all;
        std::pmr::string operator()(value v) const { return std::pmr::string(all->argument(v)); }
        std::pmr::string operator()(const graph* region) const {
            return detail::listed_names(all->names_)(region);
        }
    };
    [[nodiscard]] std::string argument(value v) const {
        const value by = shown(v);
        const auto literal = literals_.find(by.producer);
        return literal != literals_.end() ? literal->second : '%' + std::string(names_[by]);
    }

    [[nodiscard]] std::string line_of(const node& n) const {
        std::string out;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value v{const_cast<node*>(&n), i};
            const auto type = types_.find({&n, i});
            out += (i == 0 ? "%" : ", %") + std::string(names_[v]) + ": ";
            out += type != types_.end() ? type->second : std::string(meta_text(meta_of(v)));
        }
        if (n.result_count != 0) out += " = ";
        if (is<builtin::placeholder>(n)) return out + "input";
        if (detail::is_constant_node(n)) return out + "constant";
        if (is<builtin::output>(n)) return out + format_output(n);
        // The type has the other arguments.
        if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n))
            return out + "quantize(" + argument(q->input) + ')';
        if (implied_.contains(&n)) return out + "dequantize(" + argument(n.operand(0)) + ')';
        if (const auto* opaque = args_if<builtin::opaque>(n)) {
            const std::pmr::string given = opaque_arguments(*opaque, argument_names{this});
            return out + std::string(printable(opaque->target)) + '(' + std::string(given) + ')';
        }
        return out + std::string(n.op->name) + '(' + arguments_of(n) + ')';
    }

    // Like detail::listed_arguments, with the listing's names for values.
    [[nodiscard]] std::string arguments_of(const node& n) const {
        std::pmr::string out;
        bool positional = true;
        for (const field_info& f : *n.op) {
            const bool is_list = f.kind == field_kind::tensors || f.kind == field_kind::optional_tensors;
            const bool is_shown = is_list || !equal_field(f, n.arguments, n.op->default_args);
            positional = positional && is_shown && holds_tensors(f.kind);
            if (!is_shown) continue;
            if (!out.empty()) out += ", ";
            if (!positional) (out += f.name) += '=';
            print_field(out, f, n.arguments, argument_names{this});
        }
        return std::string(out);
    }

    [[nodiscard]] std::string format_output(const node& n) const {
        const auto* exported = n.find_annotation<output_names>();
        std::string out = "output";
        std::size_t i = 0;
        for (const value v : args_of<builtin::output>(n).values) {
            out += i == 0 ? " " : ", ";
            const std::string by = argument(v);
            if (exported != nullptr && i < exported->names.size()) {
                const std::string given(printable(exported->names[i]));
                if ('%' + given != by) out += given + '=';
            }
            out += by;
            ++i;
        }
        return out;
    }

    const graph& graph_;
    printed_names names_;
    std::set<const node*> hidden_;
    std::set<const node*> implied_;  // dequantize nodes: the type of their operand has the scale
    std::map<const node*, std::string> literals_;  // constants shown where they are used
    std::map<value_key, value> stand_ins_;         // for results of hidden nodes
    std::map<value_key, std::string> types_;       // of quantized values
};

short_listing::short_listing(const graph& g) : content_(std::make_unique<content>(g)) {}
short_listing::short_listing(short_listing&&) noexcept = default;
short_listing::~short_listing() = default;
std::string short_listing::text() const { return content_->text(); }
std::optional<std::string> short_listing::around(std::string_view name, std::size_t depth) const {
    return content_->around(name, depth);
}
std::vector<std::string> short_listing::names() const { return content_->names(); }

}  // namespace headrace
