// SPDX-License-Identifier: MIT
// Counts what a model's layers execute and need on a core, and prints it.
#include <headrace/firmware/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <headrace/base/printable.hpp>

namespace headrace::firmware {

namespace {

// An operator without a choice of kernels has one in C++ alone. Which loops Helium computes is known only to
// the compiler of the header.
std::string_view reason_of(const call& c, std::string_view op, const core_description& core) {
    if (!c.kernel.empty()) return c.because;
    const bool may_be_fast = core.set == on_device::core_id::mve && op == "elementwise";
    return core.set == on_device::core_id::portable || may_be_fast ? "" : "only a portable one exists";
}

std::string name_of(const planned_buffer& b, const std::vector<reported_layer>& layers) {
    if (b.names.empty()) {
        const auto at = static_cast<std::size_t>(b.first);
        return at < layers.size() ? "memory of " + layers[at].name : std::string("memory");
    }
    if (b.names.size() == 1) return b.names.front();
    return fmt::format("{} to {}", b.names.front(), b.names.back());
}

// Names are those of a model, which may be of any length.
std::string shown(std::string_view name) { return std::string(printable(name, 60)); }

// Cells of a table; the last column is as wide as it is.
class table {
public:
    explicit table(std::vector<bool> is_number) : is_number_(std::move(is_number)) {}

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    [[nodiscard]] std::string text() const {
        std::vector<std::size_t> widths(is_number_.size());
        for (const auto& row : rows_)
            for (std::size_t i = 0; i != row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
        std::string all;
        for (const auto& row : rows_) {
            std::string line = " ";
            for (std::size_t i = 0; i != row.size(); ++i)
                line += is_number_[i] ? fmt::format(" {:>{}}", row[i], widths[i])
                                      : fmt::format(" {:<{}}", row[i], widths[i]);
            line.erase(line.find_last_not_of(' ') + 1);
            all += line + '\n';
        }
        return all;
    }

private:
    std::vector<bool> is_number_;
    std::vector<std::vector<std::string>> rows_;
};

std::string format_totals(const model_report& r) {
    std::string text = fmt::format("{}: {} {}, {} MACs", r.core, r.layers.size(),
        r.layers.size() == 1 ? "layer" : "layers", with_commas(static_cast<std::uint64_t>(r.macs)));
    if (r.estimated != 0)
        text += fmt::format("; about {} instructions in {} of them, those that have an estimate",
            with_commas(static_cast<std::uint64_t>(r.instructions)), r.estimated);
    text += fmt::format("\narena      {:>9} bytes; no plan needs less than {}\n",
        with_commas(static_cast<std::uint64_t>(r.arena.bytes)),
        with_commas(static_cast<std::uint64_t>(r.arena.lower_bound)));
    if (r.arena.state_bytes != 0)
        text += fmt::format("states     {:>9} bytes, in the model beside the arena\n",
            with_commas(static_cast<std::uint64_t>(r.arena.state_bytes)));
    return text +
        fmt::format(
            "constants  {:>9} bytes, in flash\n", with_commas(static_cast<std::uint64_t>(r.constant_bytes)));
}

std::string format_layers(const model_report& r) {
    table t({false, false, true, true, false});
    t.add({"layer", "kernel", "MACs", "instructions", "no faster kernel, because"});
    for (const reported_layer& l : r.layers)
        t.add({shown(l.name), l.kernel.empty() ? l.op : l.op + ", " + l.kernel,
            l.macs == 0 ? "" : with_commas(static_cast<std::uint64_t>(l.macs)),
            l.instructions ? with_commas(static_cast<std::uint64_t>(*l.instructions)) : "", l.because});
    return t.text();
}

std::string format_peak(const model_report& r) {
    table t({true, true, false, false});
    t.add({"bytes", "offset", "layers", "tensor"});
    for (const reported_tensor* p : r.peak())
        t.add({with_commas(static_cast<std::uint64_t>(p->bytes)), fmt::format("{}", p->offset),
            fmt::format("{} to {}", p->first, p->last), shown(p->name)});
    return fmt::format("at the fullest layer, {} ({}), there are\n", shown(r.fullest()), r.arena.fullest) +
        t.text();
}

}  // namespace

std::vector<const reported_tensor*> model_report::peak() const {
    std::vector<const reported_tensor*> all;
    for (const reported_tensor& t : tensors)
        if (!t.is_state && t.first <= arena.fullest && arena.fullest <= t.last) all.push_back(&t);
    std::ranges::stable_sort(all, std::greater<>(), [](const reported_tensor* t) { return t->bytes; });
    return all;
}

std::string model_report::fullest() const {
    const auto at = static_cast<std::size_t>(arena.fullest);
    return at < layers.size() ? layers[at].name : "the outputs";
}

std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

model_report report_of(
    const written_layers& layers, const arena_figures& arena, const core_description& core) {
    model_report made{.core = std::string(core.name), .arena = arena};
    made.constant_bytes = static_cast<std::int64_t>(layers.constants.bytes());
    for_each_call(layers.calls, [&](const call& c) {
        const std::string op = c.op.substr(4, c.op.find('<') - 4);
        made.layers.push_back(
            {c.name, op, c.kernel, std::string(reason_of(c, op, core)), c.macs, c.instructions});
        made.macs += c.macs;
        made.instructions += c.instructions.value_or(0);
        made.estimated += c.instructions.has_value();
    });
    for (const planned_buffer& b : layers.buffers)
        made.tensors.push_back({name_of(b, made.layers), b.offset, b.bytes(), b.first, b.last, b.is_state});
    return made;
}

std::string format_report(const model_report& r) {
    return format_totals(r) + format_layers(r) + format_peak(r);
}

namespace {

void write_layer(json_writer& w, const reported_layer& l) {
    w.begin_object();
    w.member("name", l.name);
    w.member("op", l.op);
    if (!l.kernel.empty()) w.member("kernel", l.kernel);
    if (!l.because.empty()) w.member("because", l.because);
    w.member("macs", l.macs);
    if (l.instructions) w.member("instructions", *l.instructions);
    w.end_object();
}

void write_tensor(json_writer& w, const reported_tensor& t) {
    w.begin_object();
    w.member("name", t.name);
    w.member("offset", t.offset);
    w.member("bytes", t.bytes);
    w.member("first", t.first);
    w.member("last", t.last);
    if (t.is_state) w.member("state", true);
    w.end_object();
}

}  // namespace

void write_report(json_writer& w, const model_report& r) {
    w.begin_object();
    w.member("core", r.core);
    w.member("macs", r.macs);
    w.member("instructions", r.instructions);
    w.member("estimated_layers", r.estimated);
    w.member("arena", r.arena.bytes);
    w.member("lower_bound", r.arena.lower_bound);
    w.member("fullest_layer", r.arena.fullest);
    w.member("states", r.arena.state_bytes);
    w.member("constants", r.constant_bytes);
    w.begin_array("layers");
    for (const reported_layer& l : r.layers) write_layer(w, l);
    w.end_array();
    w.begin_array("tensors");
    for (const reported_tensor& t : r.tensors) write_tensor(w, t);
    w.end_array();
    w.end_object();
}

}  // namespace headrace::firmware
