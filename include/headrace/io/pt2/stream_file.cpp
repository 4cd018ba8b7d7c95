// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/stream_file.hpp.

#include <headrace/io/pt2/stream_file.hpp>

#include <cstddef>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace::pt2 {

namespace {

constexpr std::int64_t largest = INT32_MAX;

// Returns a member from 0 to 2^31 - 1.
template <class Object>
std::int64_t count_in(const Object& object, std::string_view name) {
    const auto count = json_get<std::int64_t>(object, name);
    if (count < 0 || count > largest) fail_malformed(in_quotes(name) + " is out of range");
    return count;
}

// True if the axis of a value has that many elements.
bool has_axis(const tensor_meta* meta, std::int64_t axis, std::int64_t elements) {
    return meta != nullptr && static_cast<std::size_t>(axis) < meta->rank() &&
        meta->shape[static_cast<std::size_t>(axis)] == elements;
}

void check_fits(const stream_signature& s, const program& p) {
    bool fits = !s.inputs.empty() && s.outputs.size() == p.user_outputs;
    for (const streamed_input& i : s.inputs) {
        const node* of = nullptr;
        for (const node& n : p.graph->inputs()) of = n.name() == i.name ? &n : of;
        fits = fits && of != nullptr && has_axis(of->results[0].meta, i.axis, i.step);
    }
    for (std::size_t i = 0; fits && i != s.outputs.size(); ++i) {
        const streamed_output& o = s.outputs[i];
        fits = o.elements == 0 || has_axis(meta_of(p.graph->outputs()[i]), o.axis, o.elements);
    }
    if (!fits)
        fail_malformed("the inputs and outputs that it names are not the model's; make the stream again");
}

}  // namespace

std::string stream_json(const stream_signature& s) {
    json_writer w;
    w.begin_object();
    w.begin_array("inputs");
    for (const streamed_input& i : s.inputs) {
        w.begin_object();
        w.member("name", i.name);
        w.member("axis", i.axis);
        w.member("step", i.step);
        w.end_object();
    }
    w.end_array();
    w.begin_array("outputs");
    for (const streamed_output& o : s.outputs) {
        w.begin_object();
        w.member("axis", o.axis);
        w.member("elements", o.elements);
        w.member("delay", o.delay);
        w.end_object();
    }
    w.end_array();
    w.member("first_step", s.first_step);
    w.end_object();
    return std::move(w).text() + '\n';
}

stream_signature read_stream_json(std::string_view text, const program& p, json_parser& json) {
    const simdjson::dom::object all = json.parse_object(text);
    stream_signature s;
    for (const simdjson::dom::element i : json_get<simdjson::dom::array>(all, "inputs"))
        s.inputs.push_back(
            {std::string(json_get<std::string_view>(i, "name")), count_in(i, "axis"), count_in(i, "step")});
    for (const simdjson::dom::element o : json_get<simdjson::dom::array>(all, "outputs")) {
        const auto delay = json_get<std::int64_t>(o, "delay");
        if (delay < -largest || delay > largest) fail_malformed("'delay' is out of range");
        s.outputs.push_back({count_in(o, "axis"), count_in(o, "elements"), delay});
    }
    s.first_step = count_in(all, "first_step");
    check_fits(s, p);
    return s;
}

}  // namespace headrace::pt2
