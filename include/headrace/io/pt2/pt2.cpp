// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/pt2.hpp.

#include <headrace/io/pt2/pt2.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/io/file/json.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pt2/graph.hpp>
#include <headrace/io/pt2/reading/fake_quantize.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/signature.hpp>
#include <headrace/io/pt2/stream_file.hpp>
#include <headrace/io/pt2/weights.hpp>

namespace headrace {

namespace pt2 {

namespace {

/// The model of an archive: its entry, the folder of all entries, and the model's name. Until torch 2.7 an
/// archive had one model, without a name, and the pickles of its weights next to it.
struct model_entry {
    const zip_entry* entry = nullptr;
    std::string_view folder;
    std::string_view name;
    bool is_flat = false;
};

[[nodiscard]] model_entry find_model(const zip_archive& archive) {
    constexpr std::string_view place = "/models/";
    constexpr std::string_view suffix = ".json";
    model_entry found;
    for (const zip_entry& e : archive.entries()) {
        constexpr std::string_view flat = "serialized_exported_program.json";
        if (e.name == flat || e.name.ends_with("/serialized_exported_program.json"))
            return {&e, e.name.substr(0, e.name.size() - flat.size()), "serialized_exported_program", true};
        const std::size_t at = e.name.find('/');
        if (at == std::string_view::npos || !e.name.substr(at).starts_with(place) ||
            !e.name.ends_with(suffix))
            continue;
        const std::string_view file = e.name.substr(at + place.size());
        if (file.size() <= suffix.size() || file.find('/') != std::string_view::npos) continue;
        const std::string_view name = file.substr(0, file.size() - suffix.size());
        if (found.entry != nullptr)
            fail_malformed(
                "holds several models, such as " + in_quotes(found.name) + " and " + in_quotes(name));
        found = {&e, e.name.substr(0, at + 1), name};
    }
    if (found.entry == nullptr) fail_malformed("is not a torch.export archive: it has no models/*.json");
    return found;
}

/// The parts of a model's JSON.
struct model_text {
    graph_text graph;
    std::string_view input_specs;
    std::string_view output_specs;
    std::string_view schema_version;
    std::string_view torch_version;
    std::string_view range_constraints;
};

void read_graph_module(json_cursor& at, model_text& parts) {
    at.members([&](std::string_view key) {
        if (key == "graph") {
            parts.graph = read_graph_text(at);
        } else if (key == "signature") {
            at.members([&](std::string_view part) {
                const std::string_view text = at.skip();
                if (part == "input_specs") parts.input_specs = text;
                if (part == "output_specs") parts.output_specs = text;
            });
        } else {
            at.skip();
        }
    });
}

[[nodiscard]] model_text read_model_text(std::string_view text) {
    model_text parts;
    json_cursor at(text);
    at.members([&](std::string_view key) {
        if (key == "graph_module") return read_graph_module(at, parts);
        const std::string_view content = at.skip();
        if (key == "schema_version") parts.schema_version = content;
        if (key == "torch_version") parts.torch_version = content;
        if (key == "range_constraints") parts.range_constraints = content;
    });
    at.finish();
    if (parts.schema_version.empty()) fail_malformed("'schema_version' is missing");
    return parts;
}

void check_version(const model_text& parts, json_parser& json) {
    constexpr std::int64_t oldest = 7;  // torch 2.5
    constexpr std::int64_t newest = 8;  // torch 2.6 and newer
    const auto major = json_get<std::int64_t>(json.parse_object(parts.schema_version), "major");
    if (major < oldest || major > newest) {
        std::string_view torch = "of an unknown version";
        if (!parts.torch_version.empty() && json.parse(parts.torch_version).get(torch)) torch = "?";
        fail_malformed("it is from torch " + std::string(torch) + ", with version " + std::to_string(major) +
            " of torch.export's schema, and versions " + std::to_string(oldest) + " and " +
            std::to_string(newest) + " are read; export it again with torch 2.5 to 2.15");
    }
    if (!parts.graph.nodes || parts.input_specs.empty() || parts.output_specs.empty()) {
        fail_malformed("the graph or the signature is missing");
    }
}

void check_byte_order(const zip_archive& archive, const weight_store& weights, std::string_view folder) {
    const zip_entry* entry = archive.find(std::string(folder) + "byteorder");
    if (entry == nullptr) return;
    const std::span<const std::byte> bytes = weights.bytes_of(*entry);
    if (std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) != "little") {
        fail_unsupported("its weights are not little-endian");
    }
}

/// Tells the store where weights and constants are: in raw entries since torch 2.9, in pickles before.
void add_weights(weight_store& weights, const model_entry& model) {
    const std::string folder(model.folder);
    if (model.is_flat) {
        weights.add_pickle(folder + "serialized_state_dict.pt");
        weights.add_pickle(folder + "serialized_constants.pt");
        return;
    }
    for (const char* kind : {"weights", "constants"}) {
        weights.add_config(kind, model.name);
        weights.add_pickle(folder + "data/" + kind + "/" + std::string(model.name) + ".pt");
    }
}

/// Reads how the program takes a stream, if it does.
void read_stream(const zip_archive& archive, const weight_store& weights, std::string_view folder,
    json_parser& json, program& out) {
    const zip_entry* const entry = archive.find(std::string(folder) + std::string(stream_file));
    if (entry == nullptr) return;
    const padded_text text(weights.bytes_of(*entry), out.file.bytes());
    try {
        out.stream = read_stream_json(text.view(), out, json);
    } catch (failure& f) {
        f.what = f.what.in(std::string(stream_file));
        throw;
    }
}

/// Reads the program in an open archive.
void read_program(
    const zip_archive& archive, const size_choices& choices, constant_truth truth, program& out) {
    constexpr std::size_t first_capacity = 8 * 1024;
    const model_entry model = find_model(archive);
    const std::span<const std::byte> file = out.file.bytes();
    std::pmr::monotonic_buffer_resource arena(first_capacity);
    json_parser json(&arena);
    json_parser values_json(&arena);
    weight_store weights(archive, file, model.folder, values_json, &arena);
    check_byte_order(archive, weights, model.folder);
    const padded_text text(weights.bytes_of(*model.entry), file);
    try {
        const model_text parts = read_model_text(text.view());
        check_version(parts, json);
        add_weights(weights, model);
        out.graph = std::make_unique<graph>();
        symbol_table symbols;
        scope names(*out.graph, parts.graph, symbols, values_json, &arena);
        if (!parts.range_constraints.empty()) symbols.read_ranges(parts.range_constraints, json);
        find_dynamic_axes(names, parts.graph.inputs, symbols, json, values_json);
        symbols.choose(choices);
        out.sizes = symbols.symbols();
        signature_reader signature(names, weights, json);
        signature.read_inputs(parts.input_specs, parts.graph.inputs);
        graph_builder(symbols, json, values_json, truth, &arena).read_nodes(names, *parts.graph.nodes);
        signature.read_outputs(parts.output_specs, out);
        erase_fake_quantization(*out.graph);
        if (!parts.torch_version.empty()) {
            std::string_view version;
            if (json.parse(parts.torch_version).get(version) == simdjson::SUCCESS)
                out.torch_version = version;
        }
    } catch (failure& f) {
        f.what = f.what.in(std::string(model.name) + ".json");
        throw;
    }
    read_stream(archive, weights, model.folder, json, out);
}

}  // namespace

}  // namespace pt2

result<program> read_pt2(
    mapped_file file, const std::filesystem::path& path, const size_choices& choices, constant_truth truth) {
    program out;
    out.file = std::move(file);
    const auto in_file = [&](const error& e) {
        const result<void> whole = out.file.check();
        return whole ? e.in(path.string()) : whole.error();
    };
    auto archive = zip_archive::open(out.file.bytes());
    if (!archive) return in_file(archive.error());
    try {
        pt2::read_program(archive.value(), choices, truth, out);
    } catch (const failure& f) {
        return in_file(f.what);
    } catch (const std::bad_alloc&) {
        return in_file(malformed("not enough memory"));
    } catch (const std::length_error&) {
        return in_file(malformed("not enough memory"));
    }
    HEADRACE_TRY(out.file.check());
    return out;
}

result<program> read_pt2(
    const std::filesystem::path& path, const size_choices& choices, constant_truth truth) {
    HEADRACE_TRY(file, open_mapped(path));
    return read_pt2(std::move(file), path, choices, truth);
}

}  // namespace headrace
