// SPDX-License-Identifier: MIT
// Writes the layers of a graph one after the other: names, buffers, constants and calls.
#include <headrace/firmware/layer_writer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <headrace/firmware/constant_floats.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/origins.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

// --- layers ------------------------------------------------------------------------------

layer_body::layer_body(const layer_parts& p) : parts(p) {
    for (const node& n : p.body->nodes())
        if (!is<builtin::placeholder>(n) && !is<builtin::output>(n)) nodes.push_back(&n);
}

value layer_body::outside(value v) const {
    std::size_t i = 0;
    for (node& input : parts.body->inputs()) {
        if (v.producer == &input) return parts.inputs[i];
        ++i;
    }
    return v;
}

const node* layer_body::only_reader(value v) const {
    const edge* const use = v.producer->first_use;
    if (use == nullptr || use->next_use != nullptr || is<builtin::output>(*use->target)) return nullptr;
    return use->target;
}

// --- memory ------------------------------------------------------------------------------

error layer_writer::refuse(const node& n, std::string_view reason) {
    return unsupported({message_prefix(n), reason});
}

// The exported node's name; a layer is called as the first operator in it.
std::string layer_writer::name_of_node(const node& n) {
    const graph* const body = parts_of(n).body;
    const node* named = body != nullptr ? body->first() : &n;
    while (is<builtin::placeholder>(*named)) named = named->next;
    if (named->result_count != 0 && !named->results[0].name.empty())
        return std::string(named->results[0].name);
    if (const auto* origin = named->find_annotation<provenance>();
        origin != nullptr && !origin->node_name.empty())
        return std::string(origin->node_name);
    return std::string(named->op->name.substr(named->op->name.find('.') + 1));
}

std::size_t layer_writer::add_buffer(on_device::element type, std::int64_t count) {
    const auto now = done_.steps;
    done_.buffers.push_back({type, std::max<std::int64_t>(count, 1), now, now});
    reads_left_.push_back(0);
    return done_.buffers.size() - 1;
}

void layer_writer::put_new(const node& n, std::uint32_t result, const place& p) {
    done_.buffers[p.buffer].names.push_back(
        is<builtin::placeholder>(n) ? std::string(n.results[result].name) : name_of_node(n));
    put({const_cast<node*>(&n), result}, p);
}

void layer_writer::put(value v, const place& p) {
    places_[{v.producer, v.result}] = p;
    for (const edge* e = v.producer->first_use; e != nullptr; e = e->next_use)
        if (e->slot->result == v.result) ++reads_left_[p.buffer];
}

std::optional<on_device::tensor> dense_tensor(const tensor_meta& meta) {
    const auto type = element_of(meta.dtype);
    if (!type || meta.rank() > on_device::max_rank || meta.elements() > INT32_MAX / 8) return std::nullopt;
    on_device::tensor t{.type = *type, .rank = static_cast<int>(meta.rank())};
    std::ranges::transform(meta.shape, t.size, [](std::int64_t n) { return static_cast<std::int32_t>(n); });
    return row_major(t);
}

result<place> layer_writer::add_result(const node& n, std::uint32_t i) {
    const tensor_meta* const meta = n.results[i].meta;
    const auto type = meta == nullptr ? std::nullopt : dense_tensor(*meta);
    if (!type)
        return refuse(
            n, "kernels of microcontrollers do not compute with this type, or with so many elements");
    const place* const over = is<device::elementwise>(n) ? replaceable(n, *type) : nullptr;
    const place made{over != nullptr ? over->buffer : add_buffer(type->type, type->span), *type};
    put_new(n, i, made);
    return made;
}

bool layer_writer::ends_with(const node& n, std::size_t buffer) const {
    std::int64_t own = 0;
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        const value v = n.operand(i);
        const auto found = places_.find({v.producer, v.result});
        own += found != places_.end() && found->second.buffer == buffer;
    }
    return reads_left_[buffer] == own;
}

const place* layer_writer::replaceable(const node& n, const on_device::tensor& result) const {
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        const value v = n.operand(i);
        const auto found = places_.find({v.producer, v.result});
        if (found == places_.end() || !(found->second.type == result)) continue;
        const planned_buffer& buffer = done_.buffers[found->second.buffer];
        bool reads_alike = true;
        for (std::size_t k = 0; k != n.operand_count; ++k) {
            const value other = n.operand(k);
            const auto place = places_.find({other.producer, other.result});
            if (place != places_.end() && place->second.buffer == found->second.buffer)
                reads_alike = reads_alike && place->second.type == result;
        }
        if (reads_alike && buffer.type == result.type && buffer.count == result.span &&
            ends_with(n, found->second.buffer))
            return &found->second;
    }
    return nullptr;
}

namespace {

const node* depthwise_in(const node& layer) {
    const layer_parts parts = parts_of(layer);
    const auto found = parts.body->nodes_of(info_of<tosa::depthwise_conv2d>);
    return found.empty() ? nullptr : &*found.begin();
}

}  // namespace

bool layer_writer::wants_planes(const node& n, bool has_planes) const {
    const tensor_meta& meta = *n.results[0].meta;
    if (meta.dtype != dtype::int8 || meta.rank() != 4 || meta.shape[0] != 1) return false;
    if (meta.shape[1] * meta.shape[2] == 1) return false;  // one layout is as good as the other
    bool meets_planes = has_planes;
    for (const edge* e = n.first_use; e != nullptr; e = e->next_use) {
        const node& reader = *e->target;
        if (!is<device::convolution>(reader) && !is<device::pooling>(reader)) return false;
        meets_planes = meets_planes || (is<device::convolution>(reader) && depthwise_in(reader) != nullptr);
    }
    return meets_planes;
}

bool layer_writer::is_residual(
    const node& n, value input, const operand& extra, const on_device::tensor& result) const {
    if (!extra.buffer || !(extra.type == result) || !ends_with(n, *extra.buffer)) return false;
    const auto from = places_.find({input.producer, input.result});
    const planned_buffer& buffer = done_.buffers[*extra.buffer];
    return (from == places_.end() || from->second.buffer != *extra.buffer) && buffer.type == result.type &&
        buffer.count == result.span;
}

std::optional<place> layer_writer::place_in_concat(const node& n, bool has_planes) {
    const auto is_part = [](const node& m) {
        return is<device::convolution>(m) && m.first_use != nullptr && m.first_use->next_use == nullptr &&
            is<tosa::concat>(*m.first_use->target);
    };
    if (!is_part(n)) return std::nullopt;
    const node& whole = *n.first_use->target;
    const auto& a = args_of<tosa::concat>(whole);
    if (!std::ranges::all_of(a.input1, [&](value v) { return is_part(*v.producer); })) return std::nullopt;
    if (!places_.contains({&whole, 0})) {
        auto type = dense_tensor(*whole.results[0].meta);
        if (!type) return std::nullopt;
        if (wants_planes(whole, has_planes))
            type = on_device::planes(type->type, type->size[1], type->size[2], type->size[3], 0, 0);
        put_new(whole, 0, {add_buffer(type->type, type->span), *type});
    }
    place part = places_.at({&whole, 0});
    const auto length = [axis = static_cast<std::size_t>(a.axis)](
                            value v) { return static_cast<std::int32_t>(meta_of(v)->shape[axis]); };
    for (std::size_t i = 0; a.input1[i].producer != &n; ++i)
        part.type.offset += length(a.input1[i]) * part.type.stride[a.axis];
    const value v{const_cast<node*>(&n), 0};
    part.type.size[a.axis] = length(v);
    put(v, part);
    return part;
}

result<place> layer_writer::add_image(
    const node& n, const on_device::convolution& s, value input, std::span<const operand> extras) {
    const bool has_planes = s.is_depthwise || (s.in_channels() != 1 && s.input.stride[3] != 1);
    if (const auto part = place_in_concat(n, has_planes)) return *part;
    if (!wants_planes(n, has_planes)) {
        if (extras.size() != 1 || !can_be_over_extra(s) || !is_residual(n, input, extras[0], s.output))
            return add_result(n);
        const place made{*extras[0].buffer, s.output};
        put_new(n, 0, made);
        return made;
    }
    const on_device::tensor& y = s.output;
    place made{0, planes(y.type, y.size[1], y.size[2], y.size[3], 0, 0)};
    on_device::convolution over = s;
    over.output = made.type;
    over.is_in_place = true;
    const auto from = places_.find({input.producer, input.result});
    std::size_t reads = 0;  // as a further operand, too, it would be gone
    for (std::size_t i = 0; i != n.operand_count; ++i) reads += n.operand(i) == input;
    // A much smaller result would keep all of the input's memory.
    const bool is_over = can_be_in_place(over) && from != places_.end() && reads == 1 &&
        ends_with(n, from->second.buffer) &&
        4 * std::int64_t{made.type.span} >= 3 * done_.buffers[from->second.buffer].count;
    made.buffer = is_over ? from->second.buffer : add_buffer(y.type, made.type.span);
    put_new(n, 0, made);
    return made;
}

operand layer_writer::at(const place& p) { return {fmt::format("hr::at<{}>", p.buffer), p.type, p.buffer}; }
operand layer_writer::flash(const std::string& name) {
    return {fmt::format("hr::flash<constants::{}>", name)};
}

result<operand> layer_writer::operand_of(value v) {
    const auto found = places_.find({v.producer, v.result});
    if (found != places_.end()) return at(found->second);
    const auto* const constant = match<builtin::constant>(v);
    if (constant == nullptr) return refuse(*v.producer, "kernels of microcontrollers do not read this value");
    const auto made = add_constant(name_of_node(*v.producer), *meta_of(v), constant->data);
    if (!made) return refuse(*v.producer, "no kernel of microcontrollers reads a constant of this type");
    return *made;
}

std::optional<operand> layer_writer::add_constant(
    std::string_view name, const tensor_meta& meta, const tensor_data& data) {
    const auto type = dense_tensor(meta);
    if (!type) return std::nullopt;
    operand made;
    if (const auto floats = floats_of(data, meta)) {
        made = flash(done_.constants.add_floats(name, type->type, *floats));
    } else {
        const auto numbers = integers_of(data, meta);
        if (!numbers) return std::nullopt;
        made = flash(done_.constants.add(name, type->type, *numbers));
    }
    made.type = *type;
    return made;
}

void layer_writer::end_reads(const node& n) {
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        const value v = n.operand(i);
        const auto found = places_.find({v.producer, v.result});
        if (found != places_.end()) --reads_left_[found->second.buffer];
    }
}

// --- calls -------------------------------------------------------------------------------

call& layer_writer::call_kernel(const node& n, std::string op, const std::vector<operand>& operands) {
    call made{.name = name_of_node(n), .op = std::move(op), .operands = {}};
    for (const operand& o : operands) {
        made.operands.push_back(o.text);
        made.buffers.push_back(o.buffer);
        if (o.buffer) done_.buffers[*o.buffer].last = done_.steps;
    }
    ++done_.steps;
    return into_->emplace_back(std::move(made));
}

void layer_writer::add_scratch(call& to, std::int64_t bytes) {
    if (bytes == 0) return;
    to.scratch = add_buffer(on_device::element::int8, bytes);
    planned_buffer& scratch = done_.buffers[*to.scratch];
    scratch.first = scratch.last = done_.steps - 1;
    scratch.names.push_back("scratch of " + to.name);
}

result<void> layer_writer::copy(const node& n, const operand& from, const operand& to) {
    call_kernel(
        n, fmt::format("hr::copy<{}, {}>", format_tensor(from.type), format_tensor(to.type)), {from, to});
    return {};
}

result<void> layer_writer::write_node(const node& n) {
    if (is<builtin::constant>(n) || is<builtin::placeholder>(n) || is<builtin::output>(n)) return {};
    std::optional<result<void>> done;
    const std::size_t calls_before = done_.calls.size();
    const auto write_one = [&]<class Op>(Op, const args<Op>& a) {
        if constexpr (has_writer<Op>) done = write(Op{}, a, n);
    };
    visit_args(device::dialect::all_ops{}, n, write_one);
    visit_args(tosa::dialect::all_ops{}, n, write_one);
    if (!done) return refuse(n, "no kernel of microcontrollers computes this op");
    if (*done) trace(n, calls_before);
    end_reads(n);
    return *std::move(done);
}

void layer_writer::trace(const node& n, std::size_t calls_before) {
    const std::string_view name = names_.find(n);
    const auto found = places_.find({&n, 0});
    if (name.empty() || found == places_.end() || into_ != &done_.calls || done_.calls.size() == calls_before)
        return;
    done_.traces.push_back({done_.calls.size() - 1, std::string(name), found->second});
}

result<written_layers> layer_writer::run() {
    for (node& n : graph_.inputs()) {
        HEADRACE_TRY(p, add_result(n));
        done_.inputs.push_back(p);
    }
    for (const node& n : graph_.nodes()) {
        HEADRACE_TRY(write_node(n));
    }
    for (const value v : graph_.outputs()) {
        HEADRACE_TRY(from, operand_of(v));
        const auto found = places_.find({v.producer, v.result});
        if (found != places_.end() && found->second.type.is_dense()) {
            done_.outputs.push_back(found->second);
        } else {  // a constant, or a tensor in a layout of a kernel
            place p{0, *dense_tensor(*meta_of(v))};
            p.buffer = add_buffer(p.type.type, p.type.span);
            done_.buffers[p.buffer].names.push_back(name_of_node(*v.producer));
            HEADRACE_TRY(copy(*v.producer, from, at(p)));
            done_.outputs.push_back(p);
        }
    }
    for (const place& p : done_.outputs) done_.buffers[p.buffer].last = done_.steps;
    // A name that several layers have is that of parts.
    std::map<std::string_view, std::size_t> counts;
    for (const traced_result& t : done_.traces) ++counts[t.name];
    std::erase_if(done_.traces, [&](const traced_result& t) { return counts.at(t.name) != 1; });
    return std::move(done_);
}

result<written_layers> write_layers(const graph& g, const core_description& core, const result_names& names) {
    return layer_writer(g, core, names).run();
}

}  // namespace headrace::firmware
