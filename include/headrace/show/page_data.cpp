// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/page_data.hpp.

#include <headrace/show/page_data.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <headrace/base/strings.hpp>
#include <headrace/io/text/memory_plan_json.hpp>
#include <headrace/io/text/memory_plan_text.hpp>
#include <headrace/io/text/node_reasons.hpp>
#include <headrace/io/tosa/names.hpp>
#include <headrace/version.hpp>

namespace headrace {

namespace {

void begin_page(json_writer& w, const std::string& title) {
    w.begin_object();
    w.member("version", page_version);
    w.member("program", join_text("headrace ", version));
    w.member("title", title);
}

void write_page_report(json_writer& w, const lowering_report& report) {
    w.member("target", report.target);
    detail::write_stage_times(w, report);
    detail::write_transposes(w, report);
}

// Writes the name in the flatbuffer of the first result of each node, as tosa_emitter gives it: numbers and
// names in turn.
void write_page_names(json_writer& w, const page_source& source) {
    tosa_file::unique_names names;
    static_cast<void>(names.make("main"));  // the block itself
    const tosa_file::tosa_names values(*source.last, names);
    w.begin_array("names");
    for (const node& n : source.last->nodes()) {
        const std::uint32_t* const number = source.history->find(n);
        if (number == nullptr || n.result_count == 0) continue;
        w.value(*number);
        w.value(values.all()[values.index(n, 0)]);
    }
    w.end_array();
}

// Rectangles in time and address: [node, result, offset, bytes, first step, last step].
void write_page_plan(json_writer& w, const page_source& source) {
    const auto planned = make_memory_plan(*source.last);
    if (!planned) {
        w.member("unplanned", planned.error().message);
        return;
    }
    const memory_plan& plan = planned.value();
    w.begin_object("plan");
    w.member("steps", plan.lifetimes.step_count());
    w.begin_array("memories");
    for (std::size_t k = 0; k != plan.memories.size(); ++k) {
        const planned_memory& m = plan.memories[k];
        w.begin_object();
        w.member("title", title_of_memory(plan, k));
        w.member("peak", m.bytes);
        w.member("lower_bound", m.lower_bound);
        w.member("fullest_step", m.fullest_step);
        if (const auto* need = m.owner->output()->find_annotation<memory_need>())
            w.member("least", need->lower_bound);
        w.begin_array("tensors");
        for (const planned_tensor& t : plan.tensors) {
            const std::uint32_t* const number = source.history->find(*t.tensor.producer);
            if (t.memory != k || number == nullptr) continue;
            w.begin_array();
            w.value(*number);
            w.value(t.tensor.result);
            w.value(t.offset);
            w.value(t.bytes);
            w.value(t.first);
            w.value(t.last);
            w.end_array();
        }
        w.end_array();
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

// "</script>" or "<!--" in a name would end the element that has the JSON.
std::string without_markup(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

std::string page_json(const page_source& source) {
    json_writer w(json_style::compact);
    begin_page(w, source.title);
    if (source.report != nullptr) write_page_report(w, *source.report);
    write_node_reasons(w, "refusals", source.refusals);
    if (!source.comparison.empty()) {
        w.key("comparison");
        w.raw(source.comparison);
    }
    if (!source.vela_csv.empty()) w.member("vela", source.vela_csv);
    if (source.report != nullptr && source.report->cost && !source.report->cost->version.empty())
        w.member("vela_version", source.report->cost->version);
    if (!source.core.empty()) {
        w.key("core");
        w.raw(source.core);
    }
    if (!source.banks.empty()) {
        w.key("banks");
        w.raw(source.banks);
    }
    if (!source.measured.empty()) {
        w.key("measured");
        w.raw(source.measured);
    }
    if (source.last != nullptr) write_page_plan(w, source);
    const bool is_lowered = source.report != nullptr && source.refusals.empty();
    if (source.last != nullptr && is_lowered) write_page_names(w, source);
    source.history->write(w);
    w.end_object();
    return without_markup(w.text());
}

std::string page_json(const page_book& book) {
    json_writer w(json_style::compact);
    begin_page(w, book.title);
    w.begin_array("page");
    w.value(book.page_head);
    w.value(book.page_tail);
    w.end_array();
    w.begin_array("chapters");
    for (const page_book::chapter& c : book.chapters) {
        w.begin_object();
        w.member("title", c.title);
        w.key("data");
        w.raw(c.json);
        w.end_object();
    }
    w.end_array();
    if (!book.batch.empty()) {
        w.key("batch");
        w.raw(book.batch);
    }
    w.end_object();
    return without_markup(w.text());
}

}  // namespace headrace
