// SPDX-License-Identifier: MIT
// Defines the functions of io/pt2_writer.hpp.
#ifndef HEADRACE_IO_PT2_WRITER_DEFINITION_HPP
#define HEADRACE_IO_PT2_WRITER_DEFINITION_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/atomic_file.hpp>
#include <headrace/io/json_writer.hpp>
#include <headrace/io/pt2_tensor.hpp>
#include <headrace/io/pt2_writer.hpp>
#include <headrace/io/zip_writer.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/strided_walk.hpp>

namespace headrace {

namespace pt2 {

/// The number of a dtype in the schema's ScalarType.
[[nodiscard]] inline std::optional<std::int64_t> number_of(dtype type) {
    constexpr std::int64_t numbers = 40;
    for (std::int64_t i = 0; i != numbers; ++i) {
        if (type != dtype::unknown && dtype_of(i) == type) return i;
    }
    return std::nullopt;
}

/// What PyTorch's schemas take by name alone: for an op and a field, is it behind the schema's asterisk?
[[nodiscard]] inline bool is_keyword_only(const op_info& op, std::string_view field) {
    constexpr std::string_view always[] = {
        "approximate", "correction",  "decimals", "enable_gqa",    "implicit", "indexing", "out_dtype",
        "path",        "sparse_grad", "beta",     "rounding_mode", "alpha",    "dtype",    "memory_format"};
    // Fields that only some ops take by name, and fields of the list that some ops take in order.
    struct exception {
        std::string_view field;
        std::string_view op;  ///< a part of its name
        bool by_name;
    };
    constexpr exception exceptions[] = {
        {"alpha", ".Scalar", false},
        {"alpha", "elu", false},
        {"beta", "softplus", false},
        {"dtype", "softmax", false},
        {"dtype", "aten.to.", false},
        {"dtype", "quantized_decomposed.", false},
        {"memory_format", "aten.to.", false},
        {"keepdim", ".correction", true},
        {"keepdim", "aminmax", true},
        {"dim", "aminmax", true},
        {"scale", "scaled_dot_product", true},
        {"output_size", "repeat_interleave", true},
        {"value", "addcdiv", true},
        {"value", "addcmul", true},
        {"non_blocking", "_to_copy", true},
    };
    for (const exception& e : exceptions) {
        if (e.field == field && op.name.find(e.op) != std::string_view::npos) return e.by_name;
    }
    return std::ranges::find(always, field) != std::ranges::end(always);
}

/// Writes the JSON of one graph, and collects its constants.
class model_writer {
public:
    struct weight {
        std::string name;
        std::string file;
        const node* constant;
    };

    explicit model_writer(const program& p) : program_(p), graph_(*p.graph), names_(graph_) {}

    [[nodiscard]] result<std::string> model() {
        collect_weights();
        w_.begin_object();
        w_.begin_object("graph_module");
        w_.begin_object("graph");
        write_inputs();
        write_outputs();
        w_.begin_array("nodes");
        for (const node& n : graph_.nodes()) write_node(n);
        w_.end_array();
        w_.begin_object("tensor_values");
        for (const node& n : graph_.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) write_meta(n, i);
        }
        w_.end_object();
        for (const char* none : {"sym_int_values", "sym_bool_values"}) write_empty(none);
        w_.member("is_single_tensor_return", false);
        for (const char* none : {"custom_obj_values", "sym_float_values"}) write_empty(none);
        w_.end_object();
        write_signature();
        write_calls();
        write_empty("metadata");
        write_empty("treespec_namedtuple_fields");
        w_.end_object();
        write_versions();
        w_.end_object();
        if (failure_) return *std::move(failure_);
        return w_.text();
    }

    [[nodiscard]] const std::vector<weight>& weights() const { return weights_; }

    /// What model_weights_config.json says.
    [[nodiscard]] std::string config() const {
        json_writer w(json_style::compact);
        w.begin_object();
        w.begin_object("config");
        for (const weight& one : weights_) {
            w.begin_object(one.name);
            w.member("path_name", one.file);
            w.member("is_param", false);
            w.member("use_pickle", false);
            w.key("tensor_meta");
            write_layout(w, *one.constant->results[0].meta);
            w.end_object();
        }
        w.end_object();
        w.end_object();
        return std::move(w).text();
    }

private:
    void fail(const node& n, std::string_view reason) {
        if (!failure_) failure_ = unsupported(message_prefix(n) + std::pmr::string(reason));
    }
    void write_empty(const char* name) {
        w_.begin_object(name);
        w_.end_object();
    }
    [[nodiscard]] std::string_view name(value v) const { return names_[v]; }

    // Constants that are the same memory are one file.
    void collect_weights() {
        std::map<std::pair<const std::byte*, std::size_t>, std::string> files;
        for (const node& n : graph_.nodes_of(info_of<builtin::constant>)) {
            const tensor_meta& meta = *n.results[0].meta;
            const tensor_data& data = args_of<builtin::constant>(n).data;
            std::string file = "weight_" + std::to_string(files.size());
            if (data.strides.empty()) {
                file = files.emplace(std::pair(data.bytes, bytes_in_memory(meta)), file).first->second;
            } else {
                files.emplace(std::pair(data.bytes, SIZE_MAX - files.size()), file);
            }
            std::string called(name({const_cast<node*>(&n), 0}));
            std::ranges::replace(called, '.', '_');  // a dot would name a submodule
            weights_.push_back({std::move(called), std::move(file), &n});
        }
    }

    // --- values ------------------------------------------------------------------------

    void write_tensor(value v) {
        w_.begin_object("as_tensor");
        w_.member("name", name(v));
        w_.end_object();
    }
    // {"as_tensor": {"name": …}}
    void write_tensor_argument(value v) {
        w_.begin_object();
        write_tensor(v);
        w_.end_object();
    }
    static void write_layout(json_writer& w, const tensor_meta& meta) {
        constexpr std::int64_t strided = 7;
        const auto write_sizes = [&](const char* key, const auto& items) {
            w.begin_array(key);
            for (const std::int64_t item : items) {
                w.begin_object();
                w.member("as_int", item);
                w.end_object();
            }
            w.end_array();
        };
        w.begin_object();
        w.member("dtype", number_of(meta.dtype).value_or(0));
        write_sizes("sizes", meta.shape);
        w.member("requires_grad", false);
        w.begin_object("device");
        w.member("type", "cpu");
        w.member("index", nullptr);
        w.end_object();
        std::vector<std::int64_t> strides(meta.rank(), 1);
        for (std::size_t d = meta.rank(); d-- > 1;)
            strides[d - 1] = strides[d] * std::max<std::int64_t>(meta.shape[d], 1);
        write_sizes("strides", strides);
        w.begin_object("storage_offset");
        w.member("as_int", 0);
        w.end_object();
        w.member("layout", strided);
        w.end_object();
    }
    void write_meta(const node& n, std::uint32_t i) {
        const auto& meta = n.results[i].meta;
        if (!meta || !number_of(meta->dtype)) return fail(n, "a .pt2 has no tensors of its type");
        w_.key(name({const_cast<node*>(&n), i}));
        write_layout(w_, *meta);
    }

    // --- graph -------------------------------------------------------------------------

    void write_inputs() {
        w_.begin_array("inputs");
        for (const weight& one : weights_) write_tensor_argument({const_cast<node*>(one.constant), 0});
        for (const node& n : graph_.inputs()) write_tensor_argument({const_cast<node*>(&n), 0});
        w_.end_array();
    }
    void write_outputs() {
        w_.begin_array("outputs");
        for (const value v : graph_.outputs()) write_tensor_argument(v);
        w_.end_array();
    }

    void write_node(const node& n) {
        if (n.op->dialect == &info_of_dialect<builtin::dialect>) {
            if (is<builtin::opaque>(n)) fail(n, "an op that is not known cannot be written");
            return;
        }
        const bool written = n.op->dialect == &info_of_dialect<aten::dialect> ||
                             n.op->dialect == &info_of_dialect<quantized_decomposed::dialect>;
        if (!written) return fail(n, "only ops of aten and quantized_decomposed can be written to a .pt2");
        w_.begin_object();
        w_.member("target", "torch.ops." + std::string(n.op->name));
        w_.begin_array("inputs");
        bool by_name = false;
        for (const field_info& f : *n.op) write_argument(n, f, by_name);
        w_.end_array();
        write_results(n);
        w_.begin_object("metadata");
        if (const auto* stack = n.find_annotation<module_stack>()) w_.member("nn_module_stack", stack->text);
        if (const auto* custom = n.find_annotation<custom_metadata>()) w_.member("custom", custom->json);
        w_.end_object();
        w_.member("is_hop_single_tensor_return", nullptr);
        write_node_name(n);
        w_.end_object();
    }
    // A node of one result is called as its result is; another one must not share a name with any.
    void write_node_name(const node& n) {
        if (n.result_count == 1 && n.op->results != variadic_results) {
            w_.member("name", name({const_cast<node*>(&n), 0}));
        } else {
            w_.member("name", "results_of_node_" + std::to_string(n.id));
        }
    }
    void write_results(const node& n) {
        w_.begin_array("outputs");
        if (n.op->results == variadic_results) {
            w_.begin_object();
            w_.begin_array("as_tensors");
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                w_.begin_object();
                w_.member("name", name({const_cast<node*>(&n), i}));
                w_.end_object();
            }
            w_.end_array();
            w_.end_object();
        } else {
            for (std::uint32_t i = 0; i != n.result_count; ++i)
                write_tensor_argument({const_cast<node*>(&n), i});
        }
        w_.end_array();
    }

    // --- arguments ---------------------------------------------------------------------

    template <class T>
    static const T& field_at(const node& n, const field_info& f) {
        return *reinterpret_cast<const T*>(static_cast<const std::byte*>(n.arguments) + f.offset);
    }
    // Calls f(value) with what a member holds, or f(nullptr) if it is optional and empty.
    template <class T, class F>
    static void with_member(const node& n, const field_info& field, F&& f) {
        if (!field.optional) return f(field_at<T>(n, field));
        const auto& held = field_at<std::optional<T>>(n, field);
        held ? f(*held) : f(nullptr);
    }

    void write_argument(const node& n, const field_info& f, bool& by_name) {
        by_name = by_name || is_keyword_only(*n.op, f.name);
        if (by_name && is_empty(n, f)) return;  // in order, None must be said where there is no default
        constexpr int positional = 1;
        constexpr int keyword = 2;
        w_.begin_object();
        w_.member("name", f.name);
        w_.begin_object("arg");
        write_member(n, f);
        w_.end_object();
        w_.member("kind", by_name ? keyword : positional);
        w_.end_object();
    }
    [[nodiscard]] static bool is_empty(const node& n, const field_info& f) {
        bool empty = false;
        visit(n, f,
              [&](const auto& v) { empty = std::is_same_v<std::decay_t<decltype(v)>, std::nullptr_t>; });
        return empty;
    }
    void write_member(const node& n, const field_info& f) {
        visit(n, f, [&](const auto& v) {
            using type = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<type, std::nullptr_t>) {
                w_.member("as_none", true);
            } else if constexpr (std::is_same_v<type, unwritable_member>) {
                fail(n, "its argument " + std::string(f.name) + " has no form in a .pt2");
            } else {
                write_value(v);
            }
        });
    }

    struct unwritable_member {};
    template <class F>
    static void visit(const node& n, const field_info& f, F&& call) {
        switch (f.kind) {
            case field_kind::tensor:
                return with_member<value>(n, f, call);
            case field_kind::tensors:
                return call(field_at<list<value>>(n, f));
            case field_kind::optional_tensors:
                return call(field_at<list<std::optional<value>>>(n, f));
            case field_kind::integer:
                return with_member<std::int64_t>(n, f, call);
            case field_kind::integers:
                return with_member<int_list>(n, f, call);
            case field_kind::floating:
                return with_member<double>(n, f, call);
            case field_kind::floatings:
                return with_member<list<double>>(n, f, call);
            case field_kind::boolean:
                return with_member<bool>(n, f, call);
            case field_kind::number:
                return with_member<scalar>(n, f, call);
            case field_kind::text:
                return with_member<std::string_view>(n, f, call);
            case field_kind::element_type:
                return with_member<dtype>(n, f, call);
            case field_kind::format:
                return with_member<memory_format>(n, f, call);
            default:
                return call(unwritable_member{});
        }
    }

    void write_value(value v) { write_tensor(v); }
    void write_value(const list<value>& items) {
        w_.begin_array("as_tensors");
        for (const value v : items) {
            w_.begin_object();
            w_.member("name", name(v));
            w_.end_object();
        }
        w_.end_array();
    }
    void write_value(const list<std::optional<value>>& items) {
        w_.begin_array("as_optional_tensors");
        for (const std::optional<value>& v : items) {
            w_.begin_object();
            if (v) {
                write_tensor(*v);
            } else {
                w_.member("as_none", true);
            }
            w_.end_object();
        }
        w_.end_array();
    }
    void write_value(std::int64_t v) { w_.member("as_int", v); }
    void write_value(const int_list& items) { w_.member("as_ints", items); }
    void write_value(bool v) { w_.member("as_bool", v); }
    void write_value(std::string_view v) { w_.member("as_string", v); }
    void write_value(double v) {
        w_.key("as_float");
        write_number(v);
    }
    void write_value(const list<double>& items) {
        w_.begin_array("as_floats");
        for (const double v : items) write_number(v);
        w_.end_array();
    }
    void write_number(double v) {
        if (std::isfinite(v)) return w_.value(v);
        w_.value(std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
    }
    void write_value(const scalar& v) {
        if (v.is_floating()) return write_value(v.to_double());
        if (v.kind() == scalar::kind_type::boolean) return write_value(v.to_int() != 0);
        write_value(v.to_int());
    }
    void write_value(dtype v) { w_.member("as_scalar_type", number_of(v).value_or(0)); }
    void write_value(memory_format v) { w_.member("as_memory_format", static_cast<std::int64_t>(v)); }

    // --- the rest of the model ---------------------------------------------------------

    void write_signature() {
        w_.begin_object("signature");
        w_.begin_array("input_specs");
        for (const weight& one : weights_) {
            w_.begin_object();
            w_.begin_object("buffer");
            w_.begin_object("arg");
            w_.member("name", name({const_cast<node*>(one.constant), 0}));
            w_.end_object();
            w_.member("buffer_name", one.name);
            w_.member("persistent", true);
            w_.end_object();
            w_.end_object();
        }
        for (const node& n : graph_.inputs()) write_spec("user_input", {const_cast<node*>(&n), 0});
        w_.end_array();
        w_.begin_array("output_specs");
        for (const value v : graph_.outputs()) write_spec("user_output", v);
        w_.end_array();
        w_.end_object();
    }
    void write_spec(const char* kind, value v) {
        w_.begin_object();
        w_.begin_object(kind);
        w_.key("arg");
        write_tensor_argument(v);
        w_.end_object();
        w_.end_object();
    }

    // How Python calls the program: trees of containers, as JSON texts of version 1.
    void write_calls() {
        const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
        const auto tuple_of = [&](std::size_t count) {
            std::string text = R"({"type": "builtins.tuple", "context": "null", "children_spec": [)";
            for (std::size_t i = 0; i != count; ++i) text += (i == 0 ? "" : ", ") + leaf;
            return text + "]}";
        };
        std::vector<std::string_view> inputs;
        for (const node& n : graph_.inputs()) inputs.push_back(name({const_cast<node*>(&n), 0}));
        const std::size_t outputs = graph_.outputs().size();
        w_.begin_array("module_call_graph");
        w_.begin_object();
        w_.member("fqn", "");
        w_.begin_object("signature");
        w_.member("inputs", std::vector<std::string>());
        w_.member("outputs", std::vector<std::string>());
        w_.member("in_spec", R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)" +
                                 tuple_of(inputs.size()) +
                                 R"(, {"type": "builtins.dict", "context": "[]", "children_spec": []}]}])");
        w_.member("out_spec", "[1, " + (outputs == 1 ? leaf : tuple_of(outputs)) + "]");
        w_.member("forward_arg_names", inputs);
        w_.end_object();
        w_.end_object();
        w_.end_array();
    }
    void write_versions() {
        constexpr std::int64_t opset = 10;
        constexpr std::int64_t major = 8;
        w_.begin_object("opset_version");
        w_.member("aten", opset);
        w_.end_object();
        write_empty("range_constraints");
        w_.begin_object("schema_version");
        w_.member("major", major);
        w_.member("minor", 0);
        w_.end_object();
        w_.member("verifiers", std::array{"TRAINING"});
        w_.member("torch_version", program_.torch_version);
        w_.member("guards_code", std::vector<std::string>());
    }

    const program& program_;
    const graph& graph_;
    printed_names names_;
    json_writer w_{json_style::compact};
    std::vector<weight> weights_;
    std::optional<error> failure_;
};

/// The elements of a constant, row-major; `copies` keeps those that do not lie so.
[[nodiscard]] inline std::span<const std::byte> row_major_bytes(const node& constant,
                                                                std::deque<std::vector<std::byte>>& copies) {
    const tensor_meta& meta = *constant.results[0].meta;
    const tensor_data& data = args_of<builtin::constant>(constant).data;
    const std::size_t size = bytes_in_memory(meta);
    if (data.strides.empty()) return {data.bytes, size};
    const std::size_t width = traits_of(meta.dtype).bits / 8U;
    std::vector<std::byte>& copy = copies.emplace_back(size);
    std::byte* to = copy.data();
    for_each_position(meta.shape, data.strides, [&](std::int64_t at) {
        std::memcpy(to, data.bytes + at * static_cast<std::int64_t>(width), width);
        to += width;
    });
    return copy;
}

}  // namespace pt2

HEADRACE_INLINE result<std::vector<std::byte>> pt2_archive(const program& p) {
    if (!p.mutations.empty())
        return unsupported(p.mutations.front().name +
                           ": the program writes it back when it ends, which is not written to a .pt2 yet; "
                           "return the new value as an output instead");
    pt2::model_writer writer(p);
    BOOST_OUTCOME_TRY(model, writer.model());
    const std::string config = writer.config();
    std::deque<std::vector<std::byte>> copies;
    zip_writer zip;
    const auto add = [&](const char* name, std::string_view text) {
        zip.add(std::string("model/") + name, std::as_bytes(std::span(text)));
    };
    std::set<std::string> files;
    for (const auto& w : writer.weights()) {
        if (!files.insert(w.file).second) continue;
        zip.add("model/data/weights/" + w.file, pt2::row_major_bytes(*w.constant, copies));
    }
    add("data/weights/model_weights_config.json", config);
    add("data/constants/model_constants_config.json", R"({"config": {}})");
    add("data/sample_inputs/model.pt", "");  // torch.export.load asks for it
    add("models/model.json", model);
    add("archive_format", "pt2");
    add("byteorder", "little");
    add(".data/version", "6\n");
    add("archive_version", "0");
    add(".data/serialization_id", "0000000000000000000000000000000000000000");
    return zip.finish();
}

HEADRACE_INLINE result<void> write_pt2(const std::string& path, const program& p) {
    BOOST_OUTCOME_TRY(bytes, pt2_archive(p));
    return write_atomically(path, bytes);
}

}  // namespace headrace

#endif
