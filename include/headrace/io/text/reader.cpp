// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/reader.hpp.

#include <headrace/io/text/reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/arguments.hpp>
#include <headrace/io/text/cursor.hpp>
#include <headrace/io/text/opaque_text.hpp>
#include <headrace/io/text/sources.hpp>
#include <headrace/io/text/storage.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::text {

namespace {

class constant_reader {
public:
    /// Elements written in the text are copied into the graph's memory.
    constant_reader(cursor& at, const graph_text_sources& sources, graph& g)
        : at_(at), sources_(sources), graph_(g) {}

    /// Reads the elements of a tensor of that type and shape, defined at `at`.
    tensor_data read(std::size_t at, dtype type, const int_list& shape) {
        std::span<const std::byte> bytes;
        const std::size_t data_at = at_.next();
        if (at_.accept('@')) {
            const std::string_view key = at_.name_here();
            if (!sources_.constant)
                at_.fail(data_at, "the text has no data file; give the constant's elements, as [1, 2]");
            auto found = sources_.constant(key);
            if (!found) at_.fail(data_at, std::string(found.error().message));
            bytes = found.value();
        } else if (at_.peek() == '[') {
            bytes = kept(read_elements(type));
        } else {
            bytes = kept(read_hexadecimal());
        }
        tensor_data data{bytes.data(), {}};
        auto count = std::optional(static_cast<std::uint64_t>(tensor_meta{type, shape, {}}.elements()));
        if (at_.accept_word("strides")) {
            const std::vector<std::int64_t> strides = at_.integers('[', ']');
            data.strides = graph_.own(int_list(strides));
            if (strides.size() != shape.size()) at_.fail(at, "a stride for each dimension is needed");
            count = reached_elements(shape, data.strides);
            if (!count) at_.fail(at, "a stride is negative, or the strides reach too far");
        }
        // Two int4 elements share a byte: no type packs more.
        if (*count > bytes.size() * std::uint64_t{2} || storage_bytes(type, *count) != bytes.size())
            at_.fail(data_at,
                join_text("the constant has ", counted_text(bytes.size(), "byte"), ", but its type takes ",
                    counted_text(*count, "element"), " of ", name_of(type)));
        return data;
    }

private:
    std::span<const std::byte> kept(const std::vector<std::byte>& bytes) {
        const std::span<std::byte> room = graph_.allocate_data(bytes.size());
        std::ranges::copy(bytes, room.begin());
        return room;
    }
    std::vector<std::byte> read_elements(dtype type) {
        element_packer elements(type);
        at_.expect('[', "and elements");
        if (at_.accept(']')) return {};
        do {
            const std::size_t at = at_.next();
            const std::string_view text = at_.literal("an element");
            if (!elements.add(text))
                at_.fail(at, in_quotes(text) + " is not an element of " + std::string(name_of(type)));
        } while (at_.accept(','));
        at_.expect(']', "or ',' after an element");
        return elements.bytes();
    }
    std::vector<std::byte> read_hexadecimal() {
        const std::size_t at = at_.next();
        const std::string_view digits = at_.literal("elements, as [1, 2], @ and a key, or 0x and digits");
        std::vector<std::byte> bytes;
        bool sound = digits.starts_with("0x") && digits.size() % 2 == 0;
        for (std::size_t i = 2; sound && i < digits.size(); i += 2) {
            std::uint8_t byte = 0;
            const char* const end = digits.data() + i + 2;
            sound = std::from_chars(digits.data() + i, end, byte, 16).ptr == end;
            bytes.push_back(static_cast<std::byte>(byte));
        }
        if (!sound)
            at_.fail(at, "expected elements, as [1, 2], @ and a key, or 0x and two digits for each byte");
        return bytes;
    }

    cursor& at_;
    const graph_text_sources& sources_;
    graph& graph_;
};

class annotation_reader {
public:
    explicit annotation_reader(cursor& at) : at_(at) {}

    /// Reads `{origin, …}` after a node, if present.
    void read(node& n) {
        if (!at_.accept('{')) return;
        do {
            const std::size_t at = at_.next();
            const std::string_view key = at_.word("an annotation");
            if (key == "origin") {
                read_origin(n);
                continue;
            }
            at_.expect('=', "and a value after an annotation");
            if (key == "modules") {
                n.owner->annotate(n, module_stack{n.owner->own(at_.quoted("modules"))});
            } else if (key == "source") {
                n.owner->annotate(n, source_location{n.owner->own(at_.quoted("a line of source"))});
            } else if (key == "custom") {
                n.owner->annotate(n, custom_metadata{n.owner->own(at_.quoted("JSON"))});
            } else if (key == "quantization" && is<builtin::placeholder>(n)) {
                n.owner->annotate(n, read_quantization());
            } else if (key == "quantization" && is<builtin::output>(n)) {
                read_output_quantizations(n);
            } else if (key == "channels_last" && (is<builtin::placeholder>(n) || is<builtin::output>(n))) {
                const bool applied = at_.accept_word("applied");
                if (!applied && !at_.accept_word("asked")) at_.fail_here("expected 'asked' or 'applied'");
                n.owner->annotate(n, channels_last_signature{applied});
            } else if (key == "unsigned" && is<builtin::placeholder>(n)) {
                if (!at_.accept_word("true")) at_.fail_here("expected 'true'");
                n.owner->annotate(n, unsigned_input{});
            } else if (key == "unsigned" && is<builtin::output>(n)) {
                read_unsigned_outputs(n);
            } else {
                at_.fail(at,
                    "there is no annotation " + in_quotes(key) +
                        " for such a node; there are origin, modules, source and custom, and for inputs "
                        "and outputs quantization, channels_last and unsigned");
            }
        } while (at_.accept(','));
        at_.expect('}', "or ',' after an annotation");
    }

private:
    void read_origin(node& n) {
        if (!at_.accept('=')) return n.owner->annotate(n, provenance{n.name(), op_name(n)});
        at_.expect('[', "and two names");
        const std::string node_name = at_.quoted("the exported node's name");
        at_.expect(',', "and the exported op");
        const std::string op_name = at_.quoted("the exported op");
        at_.expect(']', "after the exported op");
        n.owner->annotate(n, provenance{n.owner->own(node_name), n.owner->own(op_name)});
    }
    signature_quantization read_quantization() {
        signature_quantization q;
        at_.expect('[', "and scale, zero point, lowest and highest");
        const std::size_t at = at_.next();
        if (!number_in(at_.literal("a scale"), q.scale) || !std::isfinite(q.scale) || q.scale <= 0)
            at_.fail(at, "a scale is a number above 0");
        for (std::int64_t* number : {&q.zero_point, &q.lowest, &q.highest}) {
            at_.expect(',', "and scale, zero point, lowest and highest");
            const std::size_t here = at_.next();
            if (!number_in(at_.literal("an integer"), *number)) at_.fail(here, "expected an integer");
        }
        at_.expect(']', "after the highest integer");
        return q;
    }
    void read_output_quantizations(node& n) {
        std::vector<signature_quantization> all;
        const std::size_t at = at_.next();
        at_.expect('[', "and a quantization for each output, or none");
        do all.push_back(at_.accept_word("none") ? signature_quantization{} : read_quantization());
        while (at_.accept(','));
        at_.expect(']', "or ',' after an output's quantization");
        if (all.size() != n.operand_count) at_.fail(at, "there is not one quantization for each output");
        n.owner->annotate(n, output_quantizations{n.owner->own(list<signature_quantization>(all))});
    }

    void read_unsigned_outputs(node& n) {
        std::vector<std::int64_t> positions;
        at_.expect('[', "and positions of outputs");
        do {
            const std::size_t at = at_.next();
            std::int64_t& position = positions.emplace_back();
            const bool is_position = number_in(at_.literal("a position"), position) && position >= 0 &&
                static_cast<std::uint64_t>(position) < n.operand_count;
            if (!is_position) at_.fail(at, "expected the position of an output, counted from 0");
        } while (at_.accept(','));
        at_.expect(']', "or ',' after a position");
        n.owner->annotate(n, unsigned_outputs{n.owner->own(list<std::int64_t>(positions))});
    }

    cursor& at_;
};

}  // namespace

program reader::read() {
    program p;
    p.graph = std::make_unique<graph>();
    read_header(p);
    graph_ = p.graph.get();
    while (!at_.at_end()) read_node();
    finish_graph();
    const std::size_t outputs = graph_->outputs().size();
    if (!user_outputs_) p.user_outputs = outputs;
    if (p.user_outputs > outputs) at_.fail_here("there are fewer outputs than user_outputs says");
    for (const mutation& m : p.mutations) {
        if (m.position >= outputs)
            at_.fail_here("'" + m.name + "' is written from an output that does not exist");
    }
    return p;
}

void reader::read_header(program& p) {
    if (!at_.accept_word("headrace"))
        at_.fail_here("expected 'headrace 1' at the beginning of a graph's text");
    const std::size_t version_at = at_.next();
    if (const auto version = at_.literal("the version of the text"); version != "1")
        at_.fail(
            version_at, "the text is of version " + in_quotes(version) + "; this program reads version 1");
    for (;;) {
        const std::size_t at = at_.next();
        if (at_.accept_word("target")) {
            const auto target = parse_target(at_.quoted("a target"));
            if (!target) at_.fail(at, "unknown target; write one such as \"TOSA-1.0+INT+int16\"");
            p.graph->set_target(*target);
        } else if (at_.accept_word("torch")) {
            p.torch_version = at_.quoted("PyTorch's version");
        } else if (at_.accept_word("user_outputs")) {
            p.user_outputs = read_count();
            user_outputs_ = true;
        } else if (at_.accept_word("writes")) {
            read_mutation(p);
        } else {
            return;
        }
    }
}

void reader::read_mutation(program& p) {
    using kind = mutation::kind_type;
    mutation m;
    const std::size_t at = at_.next();
    const std::string_view word = at_.word("buffer, parameter or input");
    if (word == "buffer") {
        m.kind = kind::buffer;
    } else if (word == "parameter") {
        m.kind = kind::parameter;
    } else if (word == "input") {
        m.kind = kind::user_input;
    } else {
        at_.fail(at, in_quotes(word) + " cannot be written to; buffer, parameter and input can");
    }
    m.name = at_.quoted("the name of the buffer, parameter or input");
    if (!at_.accept_word("from"))
        at_.fail_here("expected 'from' and the number of an output, counted from 0");
    m.position = read_count();
    if (at_.accept_word("tensor")) m.tensor = at_.quoted("the tensor's name in the graph");
    p.mutations.push_back(std::move(m));
}

std::size_t reader::read_count() {
    const std::size_t at = at_.next();
    std::size_t count = 0;
    if (!number_in(at_.literal("a number"), count)) at_.fail(at, "expected a number of 0 or more");
    return count;
}

graph* reader::read_region() {
    // A region takes its memory from the enclosing graph, half as much again at each level.
    constexpr int deepest = 12;
    const std::size_t at = at_.next();
    if (at_.accept('@')) {
        const std::string_view key = at_.name_here();
        if (!sources_.nested) at_.fail(at, "the text is not part of a package; give the graph, in braces");
        graph& nested = graph_->create_region();
        if (const auto filled = sources_.nested(key, nested); !filled)
            at_.fail(at, std::string(filled.error().message));
        return &nested;
    }
    at_.expect('{', "and a graph");
    if (++depth_ == deepest) at_.fail_here("graphs are nested too deeply");
    graph& region = graph_->create_region();
    graph* const outer = std::exchange(graph_, &region);
    auto values = std::exchange(values_, {});
    while (at_.peek() != '}' && !at_.at_end()) read_node();
    finish_graph();
    at_.expect('}', "after a graph's output");
    graph_ = outer;
    values_ = std::move(values);
    --depth_;
    return &region;
}

void reader::read_node() {
    if (graph_->output() != nullptr) at_.fail_here("a graph ends with its output; nothing may follow it");
    std::vector<result_text> results;
    if (at_.peek() == '%') {
        do results.push_back(read_result());
        while (at_.accept(','));
        at_.expect('=', "and an op after the results");
    }
    const std::size_t at = at_.next();
    node* made = nullptr;
    if (at_.peek() == '"') {
        made = &read_call(at, at_.quoted("an op"), results);
    } else if (const std::string_view word = at_.word("an op"); word == "input") {
        check_results(at, info_of<builtin::placeholder>, results);
        made = &graph_->create<builtin::placeholder>({});
    } else if (word == "constant") {
        check_results(at, info_of<builtin::constant>, results);
        made = &graph_->create<builtin::constant>({.data = read_data(at, results[0])});
    } else if (word == "output") {
        check_results(at, info_of<builtin::output>, results);
        made = &read_outputs();
    } else if (word == "opaque") {
        made = &read_opaque(results.size());
    } else {
        made = &read_call(at, word, results);
    }
    define(*made, results);
    annotation_reader(at_).read(*made);
}

reader::result_text reader::read_result() {
    result_text r;
    r.at = at_.next();
    std::tie(r.key, r.name) = read_value_name();
    at_.expect(':', "and a type after a result");
    if (at_.accept('?')) return r;
    const std::size_t at = at_.next();
    const std::string_view word = at_.word("a type such as float32[1, 16], or ? for one that is not known");
    const auto type = enumerator_of<dtype>(word);
    if (!type || *type == dtype::unknown)
        at_.fail(at, "there is no type " + in_quotes(word) + types_there_are());
    r.shape = at_.integers('[', ']');
    // The meta's view of the shape is made later, when the result is at its final address.
    if (!tensor_meta{*type, int_list(r.shape), {}}.checked_elements())
        at_.fail(at, "a size below 0, or more elements than can be counted");
    r.meta = tensor_meta{*type, {}, {}};
    if (at_.peek() != '{') return r;
    r.dim_order = at_.integers('{', '}');
    std::vector<std::int64_t> sorted = r.dim_order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i != sorted.size(); ++i) {
        if (sorted[i] != static_cast<std::int64_t>(i) || sorted.size() != r.shape.size())
            at_.fail(at, "the numbers in braces are not a permutation of the dimensions, from 0");
    }
    return r;
}

std::string reader::types_there_are() {
    std::string text = "; there are";
    for (std::size_t i = 1; i != dtype_count; ++i)
        (text += i == 1 ? " " : ", ") += name_of(static_cast<dtype>(i));
    return text;
}

std::pair<std::string, std::string> reader::read_value_name() {
    at_.expect('%', "and the name of a value");
    const std::string name = at_.quote_is_here() ? at_.quoted("a name") : std::string(at_.name_here());
    const bool is_numbered = at_.accept_here('#');
    const std::string_view number = is_numbered ? at_.name_here() : std::string_view();
    if ((name.empty() && !is_numbered) || (is_numbered && number.empty()))
        at_.fail_here("expected a value's name: %x, %\"x y\", %x#1 or %#1");
    return {std::string(number) + '#' + name, name};
}

std::string reader::shown(const std::string& key) {
    const std::size_t end = key.find('#');
    return in_quotes('%' + key.substr(end + 1) + (end == 0 ? "" : '#' + key.substr(0, end)));
}

value reader::read_value() {
    const std::size_t at = at_.next();
    const std::string key = read_value_name().first;
    const auto known = values_.find(key);
    if (known == values_.end())
        at_.fail(at, shown(key) + " is not defined before it is used; nodes stand in the order of execution");
    return known->second;
}

void reader::check_results(std::size_t at, const op_info& op, const std::vector<result_text>& results) {
    if (op.results == variadic_results || results.size() == static_cast<std::size_t>(op.results)) return;
    at_.fail(at,
        join_text(op.name, " gives ", counted_text(static_cast<int>(op.results), "result"), ", not ",
            results.size()));
}

tensor_data reader::read_data(std::size_t at, const result_text& r) {
    if (!r.meta || traits_of(r.meta->dtype).bits == 0) at_.fail(r.at, "a constant needs a type");
    return constant_reader(at_, sources_, *graph_).read(at, r.meta->dtype, int_list(r.shape));
}

node& reader::read_call(
    std::size_t at, const std::string_view name, const std::vector<result_text>& results) {
    const op_info* op = sources_.find_own_op != nullptr ? sources_.find_own_op(name) : nullptr;
    if (op == nullptr) op = find_op_(name);
    if (op == nullptr)
        at_.fail(at,
            "there is no op " + in_quotes(name) +
                " in the dialects of this program; write 'opaque' before an op that no pass "
                "needs to know");
    check_results(at, *op, results);
    const auto data = [&] {
        if (results.empty()) at_.fail_here("elements take the type of a result, but this op has none");
        return read_data(at, results[0]);
    };
    std::pmr::monotonic_buffer_resource memory;
    argument_reader arguments(
        at_, memory, {[&] { return read_value(); }, [&] { return read_region(); }, data});
    return graph_->create(*op, arguments.read(*op), results.size());
}

node& reader::read_opaque(std::size_t results) {
    const std::string target =
        at_.peek() == '"' ? at_.quoted("an op") : std::string(at_.word("an op after 'opaque'"));
    at_.expect('(', "and arguments after an op");
    opaque_writer arguments;
    opaque_reader(at_, arguments, [&] { return read_value(); }).read();
    return graph_->create<builtin::opaque>(arguments.arguments(target), results);
}

void reader::define(node& n, const std::vector<result_text>& results) {
    for (std::uint32_t i = 0; i != results.size(); ++i) {
        const result_text& r = results[i];
        const value v = n.result(i);
        if (!values_.emplace(r.key, v).second)
            at_.fail(r.at, shown(r.key) + " is defined twice; call a second value of that name %name#1");
        if (!r.name.empty()) graph_->set_name(v, r.name);
        if (!r.meta) continue;
        graph_->set_meta(v, {r.meta->dtype, int_list(r.shape), list<std::int64_t>(r.dim_order)});
    }
}

node& reader::read_outputs() {
    std::vector<value> values;
    std::vector<std::string_view> names;
    const std::size_t at = at_.next();
    if (at_.peek() == '%' || at_.peek() == '"' || at_.at_word()) {
        do {
            if (at_.peek() != '%') {
                const std::string name =
                    at_.peek() == '"' ? at_.quoted("a name") : std::string(at_.word("a value or its name"));
                at_.expect('=', "and a value after an output's name");
                names.push_back(graph_->own(name));
            }
            values.push_back(read_value());
        } while (at_.accept(','));
    }
    if (!names.empty() && names.size() != values.size()) at_.fail(at, "name all outputs or none");
    node& made = graph_->create<builtin::output>({.values = values});
    if (!names.empty()) graph_->annotate(made, output_names{graph_->own(list<std::string_view>(names))});
    return made;
}

}  // namespace headrace::text
