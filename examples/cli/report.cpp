// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "interface.hpp"

namespace headrace::cli {

namespace {

using json = nlohmann::ordered_json;

// TOSA's name of a type (TOSA 1.0, 1.9): FP32, INT8, BOOL.
std::string tosa_type_name(dtype t) {
    switch (t) {
        case dtype::boolean:
            return "BOOL";
        case dtype::float32:
            return "FP32";
        case dtype::float16:
            return "FP16";
        case dtype::bfloat16:
            return "BF16";
        case dtype::float8_e4m3:
            return "FP8E4M3";
        case dtype::float8_e5m2:
            return "FP8E5M2";
        default:
            break;
    }
    std::string name(name_of(t));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
}

json describe(const interface_tensor& t) {
    json j{{"name", t.name},
           {"dtype", tosa_type_name(t.meta.dtype)},
           {"shape", std::vector<std::int64_t>(t.meta.shape.begin(), t.meta.shape.end())}};
    if (const interface_quantization* q = t.quantization) {
        j["quantization"] = {
            {"scale", q->scale}, {"zero_point", q->zero_point}, {"qmin", q->lowest}, {"qmax", q->highest}};
    }
    if (t.channels_last) j["layout"] = "NHWC";
    return j;
}

double milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

}  // namespace

dtype dtype_of_tosa_name(std::string_view name) {
    for (std::size_t i = 0; i != dtype_count; ++i) {
        if (tosa_type_name(static_cast<dtype>(i)) == name) return static_cast<dtype>(i);
    }
    return dtype::unknown;
}

std::string io_json(const graph& g) {
    json j{{"inputs", json::array()}, {"outputs", json::array()}};
    for (const interface_tensor& t : interface_inputs(g)) j["inputs"].push_back(describe(t));
    for (const interface_tensor& t : interface_outputs(g)) j["outputs"].push_back(describe(t));
    return j.dump(1) + "\n";
}

std::string report_json(const lowering_report& report) {
    json passes = json::array();
    std::size_t ran = 0;
    node_counts total;
    for (const pass_record& p : report.passes) {
        ran += p.status == pass_status::ran;
        total.rewritten += p.nodes.rewritten;
        total.copied += p.nodes.copied;
        total.inferred += p.nodes.inferred;
        json entry{{"name", p.name}, {"ran", p.status == pass_status::ran}};
        if (p.status != pass_status::ran) entry["reason"] = name_of(p.status);
        if (p.status == pass_status::ran) {
            entry["rewritten"] = p.nodes.rewritten;
            entry["declined"] = p.nodes.declined;
            entry["ms"] = milliseconds(p.nanoseconds);
        }
        passes.push_back(std::move(entry));
    }
    json left = json::array();
    for (const remaining_transpose& t : report.transposes_left) {
        left.push_back({{"node", t.node},
                        {"shape", t.shape},
                        {"perms", t.perms},
                        {"bytes", t.bytes},
                        {"reason", t.reason}});
    }
    json stages;
    for (const stage_time& s : report.stages) stages[s.name] = milliseconds(s.nanoseconds);
    const json j{{"model", report.model},
                 {"target", report.target},
                 {"nodes", {{"in", report.nodes_in}, {"out", report.nodes_out}}},
                 {"transposes",
                  {{"before", report.transposes_in},
                   {"after", report.transposes_left.size()},
                   {"left", std::move(left)}}},
                 {"passes_run", ran},
                 {"passes_skipped", report.passes.size() - ran},
                 {"nodes_rewritten", total.rewritten},
                 {"nodes_copied", total.copied},
                 {"nodes_inferred", total.inferred},
                 {"ms", stages},
                 {"passes", passes}};
    return j.dump(1) + "\n";
}

}  // namespace headrace::cli
