// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/memory_plan_json.hpp.

#include <headrace/io/text/memory_plan_json.hpp>

#include <cstddef>
#include <string_view>

#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/text/memory_plan_text.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

namespace {

void write_planned_tensor(json_writer& w, std::string_view name, const planned_tensor& t) {
    const tensor_meta& meta = *meta_of(t.tensor);
    w.begin_object();
    w.member("name", name);
    w.member("dtype", name_of(meta.dtype));
    w.member("shape", meta.shape);
    w.member("offset", t.offset);
    w.member("bytes", t.bytes);
    w.member("first", t.first);
    w.member("last", t.last);
    if (t.is_input) w.member("input", true);
    if (t.is_output) w.member("output", true);
    w.end_object();
}

}  // namespace

void write_memory_plan(json_writer& w, const graph& g, const memory_plan& plan) {
    const printed_names names(g);
    w.begin_object();
    w.member("algorithm", name_of(plan.options.algorithm));
    w.member("alignment", plan.options.alignment);
    w.member("steps", plan.lifetimes.step_count());
    w.begin_array("memories");
    for (std::size_t k = 0; k != plan.memories.size(); ++k) {
        const planned_memory& m = plan.memories[k];
        w.begin_object();
        w.member("memory", title_of_memory(plan, k));
        w.member("peak", m.bytes);
        w.member("lower_bound", m.lower_bound);
        w.member("fullest_step", m.fullest_step);
        w.begin_array("tensors");
        for (const planned_tensor& t : plan.tensors) {
            if (t.memory == k) write_planned_tensor(w, names[t.tensor], t);
        }
        w.end_array();
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

}  // namespace headrace
