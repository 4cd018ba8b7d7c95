// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/writer.hpp.

#include <headrace/io/text/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/base/target_text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/elements.hpp>
#include <headrace/io/text/names.hpp>
#include <headrace/io/text/opaque_text.hpp>
#include <headrace/io/text/storage.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace::text {

result<std::string> writer::write(const graph& g, const program* facts) {
    out_ += "headrace 1\n";
    put_header(g, facts);
    out_ += '\n';
    put_graph(g);
    if (error_) return *error_;
    return std::string(out_);
}

std::string_view writer::operator()(value v) {
    const std::pmr::string* const name = names_->find(v);
    if (name == nullptr) fail("an operand that is not computed before it");
    return name == nullptr ? std::string_view("none") : std::string_view(*name);
}

std::string_view writer::operator()(const graph* region) {
    if (const std::string key = outside_.nested ? outside_.nested(*region) : std::string(); !key.empty()) {
        (out_ += '@') += key;
        return {};
    }
    out_ += "{\n";
    indent_ += 4;
    put_graph(*region);
    indent_ -= 4;
    out_.append(indent_, ' ');
    return "}";
}

void writer::put_header(const graph& g, const program* facts) {
    if (g.target().features != 0) {
        const std::string target = target_text(g.target());
        if (!parse_target(target)) error_ = invalid({"the graph's target has no profile: ", target});
        out_ += "target \"" + target + "\"\n";
    }
    if (facts == nullptr) return;
    if (!facts->torch_version.empty()) {
        out_ += "torch ";
        append_quoted(out_, facts->torch_version);
        out_ += '\n';
    }
    if (facts->user_outputs != g.outputs().size())
        ((out_ += "user_outputs ") += number_text(facts->user_outputs)) += '\n';
    for (const mutation& m : facts->mutations) {
        static constexpr std::string_view kinds[] = {"buffer", "parameter", "input"};
        ((out_ += "writes ") += kinds[static_cast<std::size_t>(m.kind)]) += ' ';
        append_quoted(out_, m.name);
        (out_ += " from ") += number_text(m.position);
        if (!m.tensor.empty()) append_quoted(out_ += " tensor ", m.tensor);
        out_ += '\n';
    }
}

void writer::put_graph(const graph& g) {
    value_names own;
    const value_names* const outer = std::exchange(names_, &own);
    const node* const outer_node = current_;
    const auto put_one = [&](const node& n) {
        own.add(n);
        put(n);
    };
    // Inputs stay where they are if they are in the order of the signature; else all of them come first.
    std::vector<const node*> in_order;
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n)) in_order.push_back(&n);
    }
    const auto inputs = g.inputs();
    const bool first = !std::ranges::equal(in_order, inputs, {}, {}, [](const node& n) { return &n; });
    if (first) {
        for (const node& n : inputs) put_one(n);
    }
    for (const node& n : g.nodes()) {
        if (!first || !is<builtin::placeholder>(n)) put_one(n);
    }
    names_ = outer;
    current_ = outer_node;
}

void writer::put(const node& n) {
    current_ = &n;
    out_.append(indent_, ' ');
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (i != 0) out_ += ", ";
        (out_ += *names_->find({const_cast<node*>(&n), i})) += ": ";
        put_type(n.results[i].meta);
    }
    if (n.result_count != 0) out_ += " = ";
    if (is<builtin::placeholder>(n)) {
        out_ += "input";
    } else if (is<builtin::constant>(n)) {
        out_ += "constant ";
        put_data(n, args_of<builtin::constant>(n).data);
    } else if (is<builtin::output>(n)) {
        put_outputs(n);
    } else {
        put_call(n);
    }
    put_annotations(n);
    out_ += '\n';
}

void writer::put_type(const tensor_meta* meta) {
    if (meta == nullptr || meta->dtype == dtype::unknown) {
        out_ += '?';
        return;
    }
    out_ += meta_text(*meta);
    if (meta->dim_order.empty()) return;
    out_ += '{';
    for (std::size_t i = 0; i != meta->dim_order.size(); ++i)
        (out_ += i == 0 ? "" : ", ") += number_text(meta->dim_order[i]);
    out_ += '}';
}

void writer::put_data(const node& n, const tensor_data& data) {
    const tensor_meta* const meta = n.result_count != 0 ? meta_of({const_cast<node*>(&n), 0}) : nullptr;
    if (meta == nullptr || traits_of(meta->dtype).bits == 0) return fail("elements without a type");
    storage s = storage_of(data, *meta);
    const bool keeps_strides = s.keeps_strides;
    if (!outside_.constant || s.count <= inline_elements_) {
        append_elements(out_, s.bytes, meta->dtype, s.count);
    } else {
        (out_ += '@') += outside_.constant(std::move(s));
    }
    if (!keeps_strides) return;
    out_ += " strides ";
    detail::printer<writer>(out_, *this).put(data.strides);
}

void writer::put_outputs(const node& n) {
    const auto* exported = n.find_annotation<output_names>();
    if (exported != nullptr && exported->names.size() != n.operand_count)
        fail("outputs that are not as many as their names");
    out_ += "output";
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        out_ += i == 0 ? " " : ", ";
        if (exported != nullptr && i < exported->names.size()) {
            put_word(exported->names[i]);
            out_ += '=';
        }
        out_ += (*this)(n.operand(i));
    }
}

void writer::put_word(std::string_view text) {
    if (is_word(text)) {
        out_ += text;
    } else {
        append_quoted(out_, text);
    }
}

void writer::put_call(const node& n) {
    if (const auto* opaque = args_if<builtin::opaque>(n); opaque != nullptr && is_canonical(*opaque)) {
        out_ += "opaque ";
        put_word(opaque->target);
        ((out_ += '(') += opaque_arguments(*opaque, *this)) += ')';
        return;
    }
    static constexpr std::string_view taken[] = {
        "input", "constant", "output", "target", "torch", "user_outputs", "writes", "opaque"};
    if (std::ranges::find(taken, n.op->name) != std::end(taken)) {
        append_quoted(out_, n.op->name);
    } else {
        put_word(n.op->name);
    }
    out_ += '(';
    // Tensors need no name as long as no argument before them was left out, as in listings.
    bool positional = true;
    bool first = true;
    for (const field_info& f : *n.op) {
        const bool is_list = f.kind == field_kind::tensors || f.kind == field_kind::optional_tensors;
        const bool is_elements = f.kind == field_kind::data && n.op->results != 0;
        const bool shown = is_list || is_elements || !equal_field(f, n.arguments, n.op->default_args);
        positional = positional && shown && holds_tensors(f.kind);
        if (!shown) continue;
        if (!first) out_ += ", ";
        first = false;
        if (!positional) (out_ += f.name) += '=';
        put_argument(n, f);
    }
    out_ += ')';
}

void writer::put_argument(const node& n, const field_info& f) {
    if (f.kind != field_kind::text && f.kind != field_kind::data && f.kind != field_kind::texts)
        return print_field(out_, f, n.arguments, *this);
    detail::visit_field(f, n.arguments, [&]<class T>(const T& member) {
        if constexpr (std::is_same_v<T, std::string_view>) {  // of any length, unlike in listings
            append_quoted(out_, member);
        } else if constexpr (std::is_same_v<T, std::optional<std::string_view>>) {
            if (member) append_quoted(out_, *member);
            if (!member) out_ += "none";
        } else if constexpr (std::is_same_v<T, list<std::string_view>>) {
            put_strings(member);
        } else if constexpr (std::is_same_v<T, std::optional<list<std::string_view>>>) {
            if (member) put_strings(*member);
            if (!member) out_ += "none";
        } else if constexpr (std::is_same_v<T, tensor_data>) {
            put_data(n, member);
        } else if constexpr (std::is_same_v<T, std::optional<tensor_data>>) {
            if (member) put_data(n, *member);
            if (!member) out_ += "none";
        }
    });
}

void writer::put_strings(const list<std::string_view>& texts) {
    out_ += '[';
    for (const std::string_view& text : texts)
        append_quoted(out_ += &text == texts.begin() ? "" : ", ", text);
    out_ += ']';
}

void writer::put_annotations(const node& n) {
    const std::size_t begin = out_.size();
    const auto key = [&](std::string_view word) { (out_ += out_.size() == begin ? " {" : ", ") += word; };
    if (const auto* q = n.find_annotation<signature_quantization>(); q != nullptr && q->scale != 0) {
        key("quantization=");
        put(*q);
    }
    if (const auto* all = n.find_annotation<output_quantizations>(); all != nullptr && !all->values.empty()) {
        key("quantization=[");
        for (const signature_quantization& q : all->values) {
            if (&q != all->values.begin()) out_ += ", ";
            put(q);
        }
        out_ += ']';
    }
    if (const auto* layout = n.find_annotation<channels_last_signature>())
        key(layout->applied ? "channels_last=applied" : "channels_last=asked");
    if (n.find_annotation<unsigned_input>() != nullptr) key("unsigned=true");
    if (const auto* all = n.find_annotation<unsigned_outputs>()) {
        key("unsigned=[");
        for (const std::int64_t position : all->positions) {
            if (&position != all->positions.begin()) out_ += ", ";
            out_ += number_text(position);
        }
        out_ += ']';
    }
    if (const auto* origin = n.find_annotation<provenance>()) {
        key("origin");
        if (origin->node_name != n.name() || origin->op_name != op_name(n)) {
            append_quoted(out_ += "=[", origin->node_name);
            append_quoted(out_ += ", ", origin->op_name);
            out_ += ']';
        }
    }
    if (const auto* modules = n.find_annotation<module_stack>()) {
        key("modules=");
        append_quoted(out_, modules->text);
    }
    if (const auto* source = n.find_annotation<source_location>()) {
        key("source=");
        append_quoted(out_, source->text);
    }
    if (const auto* custom = n.find_annotation<custom_metadata>()) {
        key("custom=");
        append_quoted(out_, custom->json);
    }
    if (out_.size() != begin) out_ += '}';
}

void writer::put(const signature_quantization& q) {
    if (q.scale == 0) {
        out_ += "none";
        return;
    }
    append_floating(out_ += '[', q.scale);
    for (const std::int64_t number : {q.zero_point, q.lowest, q.highest})
        (out_ += ", ") += number_text(number);
    out_ += ']';
}

}  // namespace headrace::text
