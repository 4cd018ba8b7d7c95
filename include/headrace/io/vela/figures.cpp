// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/vela/figures.hpp.

#include <headrace/io/vela/figures.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/file/json_writer.hpp>
#include <headrace/ir/time_step.hpp>

namespace headrace {

std::size_t vela_figures::on_npu() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        layers, [](const vela_layer& layer) { return layer.on_npu && layer.cycles != 0; }));
}

std::vector<vela_operator> vela_figures::by_operator() const {
    std::map<std::string_view, vela_operator> found;
    for (const vela_layer& layer : layers) {
        if (layer.cycles == 0) continue;
        vela_operator& sum = found[layer.op];
        sum.op = layer.op;
        ++sum.count;
        sum.cycles += layer.cycles;
    }
    std::vector<vela_operator> all;
    all.reserve(found.size());
    for (auto& [op, sum] : found) all.push_back(std::move(sum));
    std::ranges::stable_sort(all, std::ranges::greater(), &vela_operator::cycles);
    return all;
}

std::vector<vela_step> vela_figures::by_step() const {
    std::map<named_step, vela_step> found;
    for (const vela_layer& layer : layers) {
        const auto step = layer.cycles == 0 ? std::nullopt : step_in_name(layer.name);
        if (!step) continue;
        vela_step& sum = found[*step];
        sum.network = step->network;
        sum.step = step->step;
        ++sum.count;
        sum.cycles += layer.cycles;
    }
    std::vector<vela_step> all;
    all.reserve(found.size());
    for (auto& [step, sum] : found) all.push_back(std::move(sum));
    return all;
}

namespace {

/// A table of comma-separated values whose first row names the columns. Vela quotes no field.
class csv_table {
public:
    explicit csv_table(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            std::string_view line = text.substr(at, end - at);
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (!line.empty()) rows_.push_back(fields_of(line));
            at = end + 1;
        }
    }
    /// Returns the number of rows below the header.
    [[nodiscard]] std::size_t size() const { return rows_.empty() ? 0 : rows_.size() - 1; }
    [[nodiscard]] bool has(std::string_view column) const { return position_of(column) != npos; }
    /// Returns a field; empty if the row ends before it.
    [[nodiscard]] std::string_view field(std::size_t row, std::string_view column) const {
        const std::size_t at = position_of(column);
        const auto& fields = rows_[row + 1];
        return at < fields.size() ? fields[at] : std::string_view();
    }
    /// Returns a field as a number; 0 if it is not one.
    [[nodiscard]] double number(std::size_t row, std::string_view column) const {
        const std::string_view text = field(row, column);
        double found = 0;
        std::from_chars(text.data(), text.data() + text.size(), found);
        return found;
    }

private:
    static constexpr std::size_t npos = SIZE_MAX;

    [[nodiscard]] static std::vector<std::string_view> fields_of(std::string_view line) {
        std::vector<std::string_view> fields;
        for (std::size_t at = 0; at <= line.size();) {
            const std::size_t end = std::min(line.find(',', at), line.size());
            fields.push_back(line.substr(at, end - at));
            at = end + 1;
        }
        return fields;
    }
    [[nodiscard]] std::size_t position_of(std::string_view column) const {
        if (rows_.empty()) return npos;
        const auto found = std::ranges::find(rows_[0], column);
        return found == rows_[0].end() ? npos : static_cast<std::size_t>(found - rows_[0].begin());
    }

    std::vector<std::vector<std::string_view>> rows_;
};

[[nodiscard]] std::uint64_t whole_number(double x) {
    return x > 0 && x < 1e18 ? static_cast<std::uint64_t>(x) : 0;
}

}  // namespace

result<vela_figures> read_vela_figures(
    std::string accelerator, std::string_view per_layer, std::string_view summary) {
    const csv_table layers(per_layer);
    const csv_table totals(summary);
    for (const std::string_view column : {"Name", "NNG Operator", "Target", "Op Cycles"}) {
        if (!layers.has(column)) return malformed({"Vela's figures by layer have no column '", column, "'"});
    }
    if (totals.size() == 0 || !totals.has("cycles_total"))
        return malformed("Vela's summary has no column 'cycles_total'");
    vela_figures figures{.accelerator = std::move(accelerator),
        .cycles = whole_number(totals.number(0, "cycles_total")),
        .sram_kib = totals.number(0, "sram_memory_used"),
        .dram_kib = totals.number(0, "dram_memory_used"),
        .flash_kib =
            totals.number(0, "on_chip_flash_memory_used") + totals.number(0, "off_chip_flash_memory_used"),
        .constants_in = std::string(totals.field(0, "weights_storage_area")),
        .layers = {}};
    for (std::size_t i = 0; i != layers.size(); ++i)
        figures.layers.push_back(
            {std::string(layers.field(i, "Name")), std::string(layers.field(i, "NNG Operator")),
                whole_number(layers.number(i, "Op Cycles")), layers.field(i, "Target") == "NPU"});
    return figures;
}

void write_vela_figures(json_writer& w, const vela_figures& figures) {
    w.begin_object("cost");
    w.member("accelerator", figures.accelerator);
    if (!figures.version.empty()) w.member("vela", figures.version);
    w.member("cycles", figures.cycles);
    w.member("on_npu", figures.on_npu());
    w.member("on_cpu", figures.on_cpu());
    w.member("sram_kib", figures.sram_kib);
    w.member("dram_kib", figures.dram_kib);
    w.member("flash_kib", figures.flash_kib);
    w.member("constants_in", figures.constants_in);
    w.begin_array("operators");
    for (const vela_operator& o : figures.by_operator()) {
        w.begin_object();
        w.member("op", o.op);
        w.member("count", o.count);
        w.member("cycles", o.cycles);
        w.end_object();
    }
    w.end_array();
    if (const auto steps = figures.by_step(); !steps.empty()) {
        w.begin_array("steps");
        for (const vela_step& s : steps) {
            w.begin_object();
            w.member("network", s.network);
            w.member("step", s.step);
            w.member("count", s.count);
            w.member("cycles", s.cycles);
            w.end_object();
        }
        w.end_array();
    }
    w.begin_array("layers");
    for (const vela_layer& layer : figures.layers) {
        w.begin_object();
        w.member("name", layer.name);
        w.member("op", layer.op);
        w.member("cycles", layer.cycles);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

}  // namespace headrace
