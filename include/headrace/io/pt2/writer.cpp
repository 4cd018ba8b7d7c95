// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/writer.hpp.

#include <headrace/io/pt2/writer.hpp>

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

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/file/zip_writer.hpp>
#include <headrace/io/pt2/stream_file.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/writing/opaque_writer.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/ir/strided_walk.hpp>

namespace headrace {

namespace pt2 {

namespace {

/// Writes the JSON of one graph, and collects its constants.
class model_writer : private opaque_argument_writer {
public:
    struct weight {
        std::string name;
        std::string file;
        const node* constant;
    };

    struct written_value {
        value next;
        bool is_input;
        std::string state;
    };

    explicit model_writer(const program& p)
        : opaque_argument_writer(*p.graph), program_(p), graph_(*p.graph) {}

    [[nodiscard]] result<std::string> model() {
        collect_weights();
        collect_mutations();
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

    /// Returns the text of model_weights_config.json.
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
    void write_empty(const char* name) {
        w_.begin_object(name);
        w_.end_object();
    }

    // Constants that share memory share a file.
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

    // Finds the values that are written back, and the names of the states in the file. In-place ops write by
    // themselves, and a buffer that is never read is not a state of the program.
    void collect_mutations() {
        for (const mutation& m : program_.mutations) {
            const value next = graph_.outputs()[m.position];
            const bool is_input = m.kind == mutation::kind_type::user_input;
            const std::string& tensor = is_input && m.tensor.empty() ? m.name : m.tensor;
            if (next.producer->name() == tensor) continue;
            std::string state = is_input ? m.name : std::string();
            for (const weight& one : weights_) {
                if (!is_input && one.constant->name() == tensor) state = one.name;
            }
            if (!state.empty()) written_back_.push_back({next, is_input, std::move(state)});
        }
    }

    // --- values ------------------------------------------------------------------------

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
        for (const written_value& w : written_back_) write_tensor_argument(w.next);
        for (const value v : user_outputs()) write_tensor_argument(v);
        w_.end_array();
    }
    [[nodiscard]] std::span<const value> user_outputs() const {
        const list<value> all = graph_.outputs();
        const std::size_t count = program_.mutations.empty() ? all.size() : program_.user_outputs;
        return std::span<const value>(all.begin(), all.end()).first(std::min(count, all.size()));
    }

    void write_node(const node& n) {
        const bool opaque = is<builtin::opaque>(n);
        if (is_of_dialect<builtin::dialect>(n) && !opaque) return;
        const bool written =
            opaque || is_of_dialect<aten::dialect>(n) || is_of_dialect<quantized_decomposed::dialect>(n);
        if (!written) return fail(n, "only ops of aten and quantized_decomposed can be written to a .pt2");
        w_.begin_object();
        w_.member(
            "target", "torch.ops." + std::string(opaque ? args_of<builtin::opaque>(n).target : n.op->name));
        w_.begin_array("inputs");
        if (opaque) {
            write_opaque_inputs(n);
        } else {
            write_known_inputs(n);
        }
        w_.end_array();
        write_results(n);
        w_.begin_object("metadata");
        if (const auto* stack = n.find_annotation<module_stack>()) w_.member("nn_module_stack", stack->text);
        write_source(n);
        if (const auto* custom = n.find_annotation<custom_metadata>()) w_.member("custom", custom->json);
        w_.end_object();
        w_.member("is_hop_single_tensor_return", nullptr);
        write_node_name(n);
        w_.end_object();
    }
    void write_known_inputs(const node& n) {
        bool by_name = false;
        for (const field_info& f : *n.op) {
            write_argument(n, f, by_name);
            if (&f == n.op->begin() && n.op->name == "aten.to.device") write_device();
        }
    }
    void write_source(const node& n) {
        const auto* call = n.find_annotation<traced_call>();
        const auto* source = n.find_annotation<source_location>();
        const auto member = [&](std::string_view key, std::string_view text) {
            if (!text.empty()) w_.member(key, text);
        };
        if (call == nullptr) return member("stack_trace", source == nullptr ? "" : source->text);
        member("stack_trace", call->stack_trace);
        member("source_fn_stack", call->source_fn_stack);
        member("torch_fn", call->torch_fn);
        member("from_node", call->from_node);
    }
    // A node with one result has the name of the result; the name of any other node must not be that of a
    // value.
    void write_node_name(const node& n) {
        if (n.result_count == 1 && !gives_a_list(n)) {
            w_.member("name", name({const_cast<node*>(&n), 0}));
        } else {
            w_.member("name", "results_of_node_" + std::to_string(n.id));
        }
    }
    // The results of an unknown op are taken for a tuple.
    static bool gives_a_list(const node& n) {
        return n.op->results == variadic_results && !is<builtin::opaque>(n);
    }
    void write_results(const node& n) {
        w_.begin_array("outputs");
        if (gives_a_list(n)) {
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
        for (const written_value& w : written_back_) write_mutation(w);
        for (const value v : user_outputs()) write_spec("user_output", v);
        w_.end_array();
        w_.end_object();
    }
    // Mutations come first, as in torch.export.
    void write_mutation(const written_value& w) {
        w_.begin_object();
        w_.begin_object(w.is_input ? "user_input_mutation" : "buffer_mutation");
        w_.begin_object("arg");
        w_.member("name", name(w.next));
        w_.end_object();
        w_.member(w.is_input ? "user_input_name" : "buffer_name", w.state);
        w_.end_object();
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

    // Writes how Python calls the program: trees of containers, as JSON strings of version 1.
    void write_calls() {
        const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
        const auto tuple_of = [&](std::size_t count) {
            std::string text = R"({"type": "builtins.tuple", "context": "null", "children_spec": [)";
            for (std::size_t i = 0; i != count; ++i) text += (i == 0 ? "" : ", ") + leaf;
            return text + "]}";
        };
        std::vector<std::string_view> inputs;
        for (const node& n : graph_.inputs()) inputs.push_back(name({const_cast<node*>(&n), 0}));
        const std::size_t outputs = user_outputs().size();
        w_.begin_array("module_call_graph");
        w_.begin_object();
        w_.member("fqn", "");
        w_.begin_object("signature");
        w_.member("inputs", std::vector<std::string>());
        w_.member("outputs", std::vector<std::string>());
        w_.member("in_spec",
            R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)" +
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
    std::vector<weight> weights_;
    std::vector<written_value> written_back_;
};

/// Returns the elements of a constant in row-major order; `copies` holds those that are stored in another
/// order.
[[nodiscard]] std::span<const std::byte> row_major_bytes(
    const node& constant, std::deque<std::vector<std::byte>>& copies) {
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

}  // namespace

}  // namespace pt2

result<std::vector<std::byte>> pt2_archive(const program& p) {
    HEADRACE_TRY(refuse_unread(*p.graph));
    pt2::model_writer writer(p);
    HEADRACE_TRY(model, writer.model());
    const std::string config = writer.config();
    const std::string stream = p.stream ? pt2::stream_json(*p.stream) : std::string();
    std::deque<std::vector<std::byte>> copies;
    zip_writer zip;
    const auto add = [&](std::string_view name, std::string_view text) {
        zip.add("model/" + std::string(name), std::as_bytes(std::span(text)));
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
    if (p.stream) add(pt2::stream_file, stream);
    add("archive_format", "pt2");
    add("byteorder", "little");
    add(".data/version", "6\n");
    add("archive_version", "0");
    add(".data/serialization_id", "0000000000000000000000000000000000000000");
    return zip.finish();
}

result<void> write_pt2(const std::string& path, const program& p) {
    HEADRACE_TRY(bytes, pt2_archive(p));
    return write_atomically(path, bytes);
}

}  // namespace headrace
