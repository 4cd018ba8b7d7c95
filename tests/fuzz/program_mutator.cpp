// SPDX-License-Identifier: MIT
#include "program_mutator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/run/models.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "archive.hpp"

namespace headrace::fuzz {

namespace {

using json = nlohmann::ordered_json;

constexpr std::int64_t odd_sizes[] = {0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 33, 65, 1024, 1 << 20, 1LL << 31};
constexpr std::int64_t odd_integers[] = {0, 0, 1, 1, 1, 2, 2, 3, -1, -1, -2, 4, 5, 7, 8, 16, 127, 128, 255,
    -128, 65535, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 31};
constexpr double odd_numbers[] = {0, 1, 1, 2, 0.5, -1, -0.0, 1e-5, 0.1, 3.0, 6.0, 1e30, -1e30, 1e-300, 1e300,
    127.5, 0.007, 255, -128, 9.3e18};
// Numbers of the schema: uint8 to bfloat16, and the later ones.
constexpr int scalar_types[] = {7, 7, 7, 1, 2, 3, 4, 5, 5, 6, 8, 12, 12, 13, 10, 28, 29, 30};

std::span<const op_info* const> known_ops() {
    static const std::vector<const op_info*> all = [] {
        std::vector<const op_info*> ops;
        ops.insert(ops.end(), op_table<aten::dialect>.begin(), op_table<aten::dialect>.end());
        for (int more = 0; more != 4; ++more)  // there are few of them
            ops.insert(ops.end(), op_table<quantized_decomposed::dialect>.begin(),
                op_table<quantized_decomposed::dialect>.end());
        ops.insert(
            ops.end(), op_table<dim_order_ops::dialect>.begin(), op_table<dim_order_ops::dialect>.end());
        return ops;
    }();
    return all;
}

bool is_graph(const json& at) {
    return at.is_object() && at.contains("nodes") && at.contains("inputs") && at.contains("outputs") &&
        at["nodes"].is_array();
}
void find_graphs(json& at, std::vector<json*>& found) {
    if (is_graph(at)) found.push_back(&at);
    if (!at.is_structured()) return;
    for (json& part : at) find_graphs(part, found);
}

json tensor_argument(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

// Calls f with every string below `at` that names a value.
template <class F>
void for_each_name(json& at, F&& f) {
    if (!at.is_structured()) return;
    if (at.is_object() && at.size() == 1 && at.contains("name") && at["name"].is_string())
        return f(at["name"]);
    for (json& part : at) for_each_name(part, f);
}

class program_mutator {
public:
    program_mutator(archive& a, unsigned seed) : archive_(a), random_(seed) {
        archive_entry* model = a.find("/models/");
        if (model == nullptr) throw std::runtime_error("no model");
        program_ = json::parse(model->data);
        weights_entry_ = a.find("_weights_config.json");
        if (weights_entry_ != nullptr) weights_ = json::parse(weights_entry_->data);
        find_all();
    }

    /// Makes one change, in any of the graphs.
    void change() {
        find_all();
        graph_ = graphs_[up_to(graphs_.size())];
        switch (up_to(16)) {
            case 0:
            case 1:
                return replace_op();
            case 2:
            case 3:
            case 4:
                return replace_argument();
            case 5:
            case 6:
            case 7:
                return insert_node();
            case 8:
                return remove_node(up_to(nodes().size()));
            case 9:
            case 10:
                return change_input();
            case 11:
                return make_constant();
            case 12:
                return change_constant();
            case 13:
                return quantize();
            case 14:
                return change_outputs();
            default:
                return change_target();
        }
    }
    void edit_anything() { edit_json(program_, 0); }

    // The node's users get its first operand instead.
    void remove_node(std::size_t i) {
        json& list = nodes();
        const json removed = list.at(i);
        list.erase(i);
        std::string instead;
        json inputs = removed.at("inputs");
        for_each_name(inputs, [&](const json& name) {
            if (instead.empty()) instead = name.get<std::string>();
        });
        json results = removed.at("outputs");
        for_each_name(results, [&](const json& name) { rename(name.get<std::string>(), instead, i); });
    }
    void remove_argument(std::size_t i, std::size_t k) { nodes().at(i).at("inputs").erase(k); }
    void remove_output(std::size_t i) {
        json& specs = program_.at("graph_module").at("signature").at("output_specs");
        main_graph().at("outputs").erase(i);
        specs.erase(i);
    }
    // Removes inputs, weights and entries that no node uses.
    void remove_unused() {
        json& g = main_graph();
        json& specs = program_.at("graph_module").at("signature").at("input_specs");
        json& inputs = g.at("inputs");
        for (std::size_t i = inputs.size(); i-- != 0;) {
            std::string name;
            for_each_name(inputs[i], [&](const json& n) { name = n.get<std::string>(); });
            if (name.empty() || is_used(name)) continue;
            inputs.erase(i);
            const json spec = specs.at(i);
            specs.erase(i);
            for (const char* kind : {"parameter", "buffer"}) {
                const std::string key = std::string(kind) + "_name";
                if (weights_.is_object() && spec.contains(kind))
                    weights_.at("config").erase(spec.at(kind).at(key).get<std::string>());
            }
        }
    }
    [[nodiscard]] std::size_t node_count() { return nodes().size(); }
    [[nodiscard]] std::size_t argument_count(std::size_t i) { return nodes().at(i).at("inputs").size(); }
    [[nodiscard]] std::size_t output_count() { return main_graph().at("outputs").size(); }

    [[nodiscard]] bytes write(bool without_metadata) {
        find_all();
        if (without_metadata) forget_metadata();
        archive_.find("/models/")->data = program_.dump(-1, ' ', false, json::error_handler_t::replace);
        if (weights_entry_ != nullptr) archive_.find("_weights_config.json")->data = weights_.dump();
        return write_archive(archive_);
    }

private:
    std::size_t up_to(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
    bool chance(unsigned of) { return random_() % of == 0; }
    template <class T, std::size_t N>
    T pick(const T (&from)[N]) {
        return from[up_to(N)];
    }

    // Must be repeated after a change: a graph that is nested in a node moves with it.
    void find_all() {
        graphs_.clear();
        find_graphs(main_graph(), graphs_);
        graph_ = graphs_.at(0);
    }
    json& main_graph() { return program_.at("graph_module").at("graph"); }
    json& nodes() { return graph_->at("nodes"); }

    // Returns the values that node `i` may use.
    std::vector<std::string> names_before(std::size_t i) {
        std::vector<std::string> names;
        const auto add = [&](const json& name) { names.push_back(name.get<std::string>()); };
        for_each_name(graph_->at("inputs"), add);
        for (std::size_t k = 0; k != std::min(i, nodes().size()); ++k)
            for_each_name(nodes()[k].at("outputs"), add);
        return names;
    }
    std::string name_before(std::size_t i) {
        const std::vector<std::string> names = names_before(i);
        if (names.empty()) throw std::runtime_error("no value");
        // Prefers recent ones, which makes longer chains.
        return names[names.size() - 1 - std::min(up_to(names.size()), up_to(names.size()))];
    }
    bool is_used(const std::string& name) {
        bool used = false;
        const auto compare = [&](const json& n) { used = used || n == name; };
        for (json* g : graphs_) {
            for (json& n : g->at("nodes")) for_each_name(n.at("inputs"), compare);
            for_each_name(g->at("outputs"), compare);
        }
        return used;
    }
    void rename(const std::string& from, const std::string& to, std::size_t first_node) {
        if (to.empty()) return;
        const auto replace = [&](json& name) {
            if (name == from) name = to;
        };
        for (std::size_t i = first_node; i < nodes().size(); ++i)
            for_each_name(nodes()[i].at("inputs"), replace);
        for_each_name(graph_->at("outputs"), replace);
        if (graph_ == graphs_.front())
            for_each_name(program_.at("graph_module").at("signature").at("output_specs"), replace);
    }

    // --- arguments ---------------------------------------------------------------------

    std::int64_t integer() {
        return chance(6) ? pick(odd_integers) : static_cast<std::int64_t>(up_to(5)) - 1;
    }
    json integers() {
        json items = json::array();
        const std::int64_t common = integer();
        for (std::size_t count = chance(8) ? up_to(9) : up_to(5); count != 0; --count)
            items.push_back(chance(2) ? common : integer());
        return items;
    }
    // Returns the sizes of an input, which views and expansions need.
    json some_sizes() {
        json found = json::array();
        for (const auto& [name, meta] : main_graph().at("tensor_values").items()) {
            if (!found.empty() && !chance(3)) continue;
            found = json::array();
            for (const json& size : meta.at("sizes")) found.push_back(size.value("as_int", 1));
        }
        if (!found.empty() && chance(2)) found[up_to(found.size())] = integer();
        return found;
    }
    std::string text() {
        static const char* const words[] = {"none", "tanh", "floor", "trunc", "constant", "reflect",
            "circular", "same", "valid", "ij", "xy", "i,i", "ij,jk->ik", "i->", "...->.", "replicate", "",
            "a...,b->ab"};
        return words[up_to(std::size(words))];
    }
    json tensors(std::size_t i) {
        json items = json::array();
        for (std::size_t count = 1 + up_to(4); count != 0; --count)
            items.push_back({{"name", name_before(i)}});
        return items;
    }
    json argument_for(const field_info& field, std::size_t i) {
        switch (field.kind) {
            case field_kind::tensor:
                return tensor_argument(name_before(i));
            case field_kind::tensors:
                return {{"as_tensors", tensors(i)}};
            case field_kind::optional_tensors: {
                json items = json::array();
                for (std::size_t count = up_to(4); count != 0; --count)
                    items.push_back(chance(3) ? json{{"as_none", true}} : tensor_argument(name_before(i)));
                return {{"as_optional_tensors", items}};
            }
            case field_kind::integer:
                return {{"as_int", integer()}};
            case field_kind::integers:
                return {{"as_ints", chance(3) ? some_sizes() : integers()}};
            case field_kind::floating:
                return {{"as_float", pick(odd_numbers)}};
            case field_kind::floatings:
                return {{"as_floats", json::array({pick(odd_numbers), pick(odd_numbers)})}};
            case field_kind::boolean:
                return {{"as_bool", chance(2)}};
            case field_kind::number:
                return chance(2) ? json{{"as_int", integer()}} : json{{"as_float", pick(odd_numbers)}};
            case field_kind::text:
                return {{"as_string", text()}};
            case field_kind::element_type:
                return {{"as_scalar_type", pick(scalar_types)}};
            case field_kind::format:
                return {{"as_memory_format", up_to(5)}};
            default:
                return {{"as_none", true}};
        }
    }
    // Returns arguments that a node of that op could have; `known` are arguments of another op to choose
    // from.
    json arguments_for(const op_info& op, std::size_t i, const json& known) {
        json inputs = json::array();
        for (const field_info& field : op) {
            const bool tensors = field.kind <= field_kind::optional_tensors;
            const auto same = std::find_if(
                known.begin(), known.end(), [&](const json& a) { return a.value("name", "") == field.name; });
            if (same != known.end() && !chance(8)) {
                inputs.push_back(*same);
            } else if ((tensors && !field.optional) || chance(2)) {
                json argument =
                    tensors && !known.empty() && inputs.empty() ? known[0].at("arg") : argument_for(field, i);
                inputs.push_back({{"name", field.name}, {"arg", std::move(argument)}, {"kind", 1}});
            }
        }
        return inputs;
    }
    void set_op(json& n, const op_info& op, std::size_t i) {
        const json known = n.contains("inputs") ? n["inputs"] : json::array();
        n["target"] = "torch.ops." + std::string(op.name);
        n["inputs"] = arguments_for(op, i, known);
        const std::size_t count =
            op.results == variadic_results ? 1 + up_to(4) : static_cast<std::size_t>(op.results);
        json names = json::array();
        if (n.contains("outputs")) {
            json old = n["outputs"];
            for_each_name(old, [&](const json& name) { names.push_back({{"name", name}}); });
        }
        while (names.size() < count) names.push_back({{"name", "new" + std::to_string(random_() % 1000000)}});
        while (names.size() > count) names.erase(names.size() - 1);
        n["outputs"] = json::array();
        if (op.results == variadic_results) {
            n["outputs"].push_back({{"as_tensors", names}});
        } else {
            for (const json& name : names) n["outputs"].push_back({{"as_tensor", name}});
        }
    }

    // --- changes -----------------------------------------------------------------------

    const op_info& any_op() { return *known_ops()[up_to(known_ops().size())]; }
    void replace_op() {
        const std::size_t i = up_to(nodes().size());
        set_op(nodes().at(i), any_op(), i);
    }
    void replace_argument() {
        const std::size_t i = up_to(nodes().size());
        json& n = nodes().at(i);
        const std::string target = n.at("target").get<std::string>();
        const std::string name = target.substr(std::min<std::size_t>(target.size(), 10));
        const op_info* op =
            find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect>(name);
        if (op == nullptr || op->field_count == 0) return;
        const field_info& field = op->fields[up_to(op->field_count)];
        json& inputs = n.at("inputs");
        const auto old = std::find_if(
            inputs.begin(), inputs.end(), [&](const json& a) { return a.value("name", "") == field.name; });
        if (old == inputs.end()) {
            inputs.push_back({{"name", field.name}, {"arg", argument_for(field, i)}, {"kind", 1}});
        } else if (field.kind == field_kind::integers && old->at("arg").contains("as_ints") && !chance(3)) {
            json& items = old->at("arg").at("as_ints");
            if (items.empty() || chance(5)) {
                items.push_back(integer());
            } else if (chance(5)) {
                items.erase(up_to(items.size()));
            } else {
                items[up_to(items.size())] = integer();
            }
        } else if (chance(8)) {
            inputs.erase(old);
        } else {
            old->at("arg") = argument_for(field, i);
        }
    }
    // Replaces a value that a later node uses by the new result, or makes the result an output.
    void insert_node() {
        const std::size_t i = up_to(nodes().size() + 1);
        json n = json::object();
        const op_info& op = any_op();
        set_op(n, op, i);
        n["metadata"] = json::object();
        n["is_hop_single_tensor_return"] = nullptr;
        std::string operand;
        for_each_name(n["inputs"], [&](const json& name) { operand = name.get<std::string>(); });
        std::string result;
        for_each_name(n["outputs"], [&](const json& name) { result = name.get<std::string>(); });
        n["name"] = result;
        nodes().insert(nodes().begin() + static_cast<std::ptrdiff_t>(i), n);
        if (graph_ != graphs_.front() || (!operand.empty() && chance(2))) {
            rename(operand, result, i + 1);
        } else {
            add_output(result);
        }
    }
    void add_output(const std::string& name) {
        main_graph().at("outputs").push_back(tensor_argument(name));
        program_.at("graph_module")
            .at("signature")
            .at("output_specs")
            .push_back({{"user_output", {{"arg", tensor_argument(name)}}}});
    }
    void change_outputs() {
        if (graph_ != graphs_.front()) return;
        if (output_count() > 1 && chance(2)) return remove_output(up_to(output_count()));
        add_output(name_before(nodes().size()));
    }
    void quantize() {
        const std::size_t i = up_to(nodes().size() + 1);
        const std::string name = name_before(i);
        const std::string integers = "q" + std::to_string(random_() % 1000000);
        const bool wide = chance(4);
        const std::int64_t lowest = wide ? -32768 : -128;
        const json parameters = {
            {{"name", "scale"}, {"arg", {{"as_float", chance(8) ? pick(odd_numbers) : 0.01}}}, {"kind", 1}},
            {{"name", "zero_point"}, {"arg", {{"as_int", wide ? 0 : integer()}}}, {"kind", 1}},
            {{"name", "quant_min"}, {"arg", {{"as_int", lowest}}}, {"kind", 1}},
            {{"name", "quant_max"}, {"arg", {{"as_int", -lowest - 1}}}, {"kind", 1}},
            {{"name", "dtype"}, {"arg", {{"as_scalar_type", wide ? 3 : 2}}}, {"kind", 1}}};
        const auto add = [&](std::size_t at, const char* op, const std::string& from, const std::string& to) {
            json inputs = parameters;
            inputs.insert(inputs.begin(), {{"name", "input"}, {"arg", tensor_argument(from)}, {"kind", 1}});
            const json n = {{"target", "torch.ops.quantized_decomposed." + std::string(op)},
                {"inputs", inputs}, {"outputs", json::array({tensor_argument(to)})},
                {"metadata", json::object()}, {"name", to}};
            nodes().insert(nodes().begin() + static_cast<std::ptrdiff_t>(at), n);
        };
        add(i, "quantize_per_tensor.default", name, integers);
        add(i + 1, "dequantize_per_tensor.default", integers, integers + "_real");
        rename(name, integers + "_real", i + 2);
    }

    // --- tensors -----------------------------------------------------------------------

    static std::size_t width_of(int scalar_type) {
        constexpr std::array<std::size_t, 14> widths{1, 1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 2};
        if (scalar_type >= 14) return scalar_type == 28 ? 2 : 1;
        return widths[static_cast<std::size_t>(std::max(scalar_type, 0))];
    }
    void change_meta(json& meta, bool small) {
        json& sizes = meta.at("sizes");
        switch (up_to(5)) {
            case 0:
                meta["dtype"] = pick(scalar_types);
                break;
            case 1:
                if (sizes.size() < 7)
                    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(up_to(sizes.size() + 1)),
                        {{"as_int", 1 + up_to(3)}});
                break;
            case 2:
                if (!sizes.empty()) sizes.erase(up_to(sizes.size()));
                break;
            default:
                if (!sizes.empty())
                    sizes[up_to(sizes.size())] = {
                        {"as_int", odd_sizes[up_to(small ? 12 : std::size(odd_sizes))]}};
        }
        json strides = json::array();
        std::int64_t stride = 1;
        for (std::size_t i = sizes.size(); i-- != 0;) {
            strides.insert(strides.begin(), {{"as_int", stride}});
            stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) *
                std::max<std::uint64_t>(1, sizes[i].value("as_int", 1ULL)));
        }
        meta["strides"] = strides;
    }
    json& input_meta() {
        json& metas = main_graph().at("tensor_values");
        std::vector<std::string> names;
        for (const json& spec : program_.at("graph_module").at("signature").at("input_specs")) {
            if (!spec.contains("user_input")) continue;
            json argument = spec.at("user_input").at("arg");
            for_each_name(argument, [&](const json& name) { names.push_back(name.get<std::string>()); });
        }
        return metas.at(names.at(up_to(names.size())));
    }
    void change_input() { change_meta(input_meta(), chance(2)); }

    // Returns elements that kernels may treat specially.
    std::string data_for(const json& meta) {
        constexpr std::size_t most = 1 << 14;
        const int type = meta.at("dtype").get<int>();
        const std::size_t width = width_of(type);
        std::size_t count = 1;
        for (const json& size : meta.at("sizes")) {
            count *= static_cast<std::size_t>(size.value("as_int", 1));
            if (count > most) throw std::runtime_error("too large");
        }
        std::string data(count * width, '\0');
        const std::size_t kind = up_to(5);
        for (std::size_t i = 0; kind != 0 && i != count; ++i) {
            const std::int64_t number = kind == 1 ? 1
                : kind == 2                       ? static_cast<std::int64_t>(i % 3)
                                                  : pick(odd_integers);
            char* at = data.data() + i * width;
            if (type == 7 && kind != 4) {
                const auto real =
                    static_cast<float>(kind == 3 ? pick(odd_numbers) : static_cast<double>(number) * 0.5);
                std::memcpy(at, &real, width);
            } else {
                std::memcpy(at, &number, std::min(width, sizeof number));
                if (type == 12) *at = static_cast<char>(*at & 1);
            }
        }
        return data;
    }
    // Replaces an input by a weight, so that nodes that depend on it are folded.
    void make_constant() {
        json& specs = program_.at("graph_module").at("signature").at("input_specs");
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i != specs.size(); ++i) {
            if (specs[i].contains("user_input")) candidates.push_back(i);
        }
        const std::size_t chosen = candidates.at(up_to(candidates.size()));
        const std::string name =
            specs[chosen].at("user_input").at("arg").at("as_tensor").at("name").get<std::string>();
        json meta = main_graph().at("tensor_values").at(name);
        if (weights_entry_ == nullptr) return;
        const std::string file = "fuzz_" + std::to_string(random_() % 1000000);
        archive_.entries.push_back({folder() + file, data_for(meta)});
        weights_["config"][name] = {
            {"path_name", file}, {"is_param", true}, {"use_pickle", false}, {"tensor_meta", meta}};
        specs[chosen] = {
            {"buffer", {{"arg", {{"name", name}}}, {"buffer_name", name}, {"persistent", true}}}};
        weights_entry_ = archive_.find("_weights_config.json");
    }
    std::string folder() const { return weights_entry_->name.substr(0, weights_entry_->name.rfind('/') + 1); }
    void change_constant() {
        if (weights_entry_ == nullptr || weights_.at("config").empty()) return;
        json& config = weights_.at("config");
        json& chosen = std::next(config.begin(), static_cast<std::ptrdiff_t>(up_to(config.size()))).value();
        json& meta = chosen.at("tensor_meta");
        if (chance(2)) change_meta(meta, true);
        archive_entry* entry = archive_.find(folder() + chosen.at("path_name").get<std::string>());
        if (entry == nullptr) return;
        entry->data = data_for(meta);
        meta["storage_offset"] = {{"as_int", 0}};
    }
    void change_target() {
        static const char* const targets[] = {"", "TOSA-1.0+FP", "TOSA-1.0+INT", "TOSA-1.0+INT+FP",
            "TOSA-1.0+INT+u55", "TOSA-1.0+INT+int16+int4", "TOSA-1.0+INT+int16+u55", "TOSA-1.0+INT+u85",
            "TOSA-1.0+FP+bf16+cf", "TOSA-1.0+INT+FP+int16+bf16+cf+fft"};
        archive_.comment = targets[up_to(std::size(targets))];
    }

    // Changes the JSON at a random position.
    void edit_json(json& at, int depth) {
        if (at.is_structured() && !at.empty() && (depth < 3 || !chance(4))) {
            return edit_json(
                std::next(at.begin(), static_cast<std::ptrdiff_t>(up_to(at.size()))).operator*(), depth + 1);
        }
        switch (up_to(6)) {
            case 0:
                at = integer();
                break;
            case 1:
                at = pick(odd_numbers);
                break;
            case 2:
                at = chance(2) ? std::string() : std::string(up_to(3000), 'x') + "\033[31m\n";
                break;
            case 3:
                at = nullptr;
                break;
            case 4:
                at = json::array({at, at});
                break;
            default:
                at = json::object();
        }
    }

    // Removes metadata that inference will determine.
    void forget_metadata() {
        find_all();
        for (json* g : graphs_) {
            json kept = json::object();
            json& metas = g->at("tensor_values");
            for_each_name(g->at("inputs"), [&](const json& name) {
                const std::string key = name.get<std::string>();
                const bool is_weight = weights_.is_object() && g == graphs_.front() && is_weight_name(key);
                if (metas.contains(key) && !is_weight) kept[key] = metas[key];
            });
            metas = kept;
        }
    }
    bool is_weight_name(const std::string& name) {
        for (const json& spec : program_.at("graph_module").at("signature").at("input_specs")) {
            if (!spec.is_object() || spec.empty()) continue;  // left so by another mutation
            if (!spec.contains("user_input") && spec.begin().value().at("arg").value("name", "") == name)
                return true;
        }
        return false;
    }

    archive& archive_;
    std::mt19937 random_;
    json program_;
    json weights_;
    archive_entry* weights_entry_ = nullptr;
    std::vector<json*> graphs_;
    json* graph_ = nullptr;
};

bool gets_past_the_reader(const bytes& file) {
    const memory_file input(file);
    return read_model(input.path(), {.examples = true}).has_value();
}

}  // namespace

bytes mutated_program(const bytes& file, std::size_t capacity, unsigned seed) {
    constexpr unsigned attempts = 8;
    const std::optional<archive> given = read_archive(file);
    if (!given) return mutated_bytes(file, capacity);
    for (unsigned attempt = 0; attempt != attempts; ++attempt) {
        const unsigned own = seed * attempts + attempt;
        try {
            archive changed = *given;
            program_mutator mutator(changed, own);
            if (own % 64 == 0) {
                mutator.edit_anything();
                return mutator.write(false);
            }
            for (unsigned more = 1 + own % 2; more != 0; --more) mutator.change();
            bytes written = mutator.write(true);
            const bool broken_on_purpose = attempt + 1 == attempts;
            if (written.size() > capacity || (!broken_on_purpose && !gets_past_the_reader(written))) continue;
            return written;
        } catch (const std::exception&) {
            // The program has nothing that this mutation changes.
        }
    }
    return file;
}

std::vector<bytes> simpler_programs(const bytes& file) {
    std::vector<bytes> all;
    const std::optional<archive> given = read_archive(file);
    if (!given) return without_parts(file);
    const auto add = [&](auto&& change) {
        try {
            archive changed = *given;
            program_mutator mutator(changed, 0);
            change(mutator);
            mutator.remove_unused();
            all.push_back(mutator.write(true));
        } catch (const std::exception&) {
            // Some programs do not allow every change.
        }
    };
    add([](program_mutator&) {});
    try {
        archive counted = *given;
        program_mutator counts(counted, 0);
        for (std::size_t i = counts.output_count(); i-- != 0 && counts.output_count() > 1;)
            add([=](program_mutator& m) { m.remove_output(i); });
        for (std::size_t i = counts.node_count(); i-- != 0;)
            add([=](program_mutator& m) { m.remove_node(i); });
        for (std::size_t i = counts.node_count(); i-- != 0;) {
            for (std::size_t k = counts.argument_count(i); k-- != 0;)
                add([=](program_mutator& m) { m.remove_argument(i, k); });
        }
    } catch (const std::exception&) {
        return all;
    }
    for (std::size_t i = 0; i != given->entries.size(); ++i) {
        archive fewer = *given;
        fewer.entries.erase(fewer.entries.begin() + static_cast<std::ptrdiff_t>(i));
        all.push_back(write_archive(fewer));
    }
    return all;
}

}  // namespace headrace::fuzz
