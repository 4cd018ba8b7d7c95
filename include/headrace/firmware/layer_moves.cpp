// SPDX-License-Identifier: MIT
// Writes operators that move elements, which are copies between views of tensors.
#include <fmt/format.h>

#include <numeric>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

namespace {

// The part of a tensor that begins at `start` and has these sizes.
on_device::tensor part_of(on_device::tensor t, sizes start, sizes size) {
    for (int d = 0; d != t.rank; ++d) {
        t.offset += static_cast<std::int32_t>(start[static_cast<std::size_t>(d)]) * t.stride[d];
        t.size[d] = static_cast<std::int32_t>(size[static_cast<std::size_t>(d)]);
    }
    return t;
}

}  // namespace

/// Elements stay in place if they follow each other in their order.
result<void> layer_writer::write(tosa::reshape, const args<tosa::reshape>& a, const node& n) {
    const auto type = dense_tensor(*n.results[0].meta);
    if (!type) return refuse(n, "kernels of microcontrollers do not compute with this type");
    const auto from = places_.find({a.input1.producer, a.input1.result});
    if (from != places_.end() && from->second.type.is_dense()) {
        place p{from->second.buffer, *type};
        p.type.offset = from->second.type.offset;
        p.type.span = from->second.type.span;
        put({const_cast<node*>(&n), 0}, p);
        return {};
    }
    HEADRACE_TRY(source, operand_of(a.input1));
    HEADRACE_TRY(to, add_result(n));
    operand view = at(to);
    view.type = row_major(source.type);
    return copy(n, source, view);
}

result<void> layer_writer::write(tosa::identity, const args<tosa::identity>& a, const node& n) {
    HEADRACE_TRY(from, operand_of(a.input1));
    HEADRACE_TRY(to, add_result(n));
    return copy(n, from, at(to));
}

result<void> layer_writer::write(tosa::transpose, const args<tosa::transpose>& a, const node& n) {
    HEADRACE_TRY(from, operand_of(a.input1));
    HEADRACE_TRY(to, add_result(n));
    const on_device::tensor old = from.type;
    for (int d = 0; d != old.rank; ++d) {
        const auto axis = a.perms[static_cast<std::size_t>(d)];
        from.type.size[d] = old.size[axis];
        from.type.stride[d] = old.stride[axis];
    }
    return copy(n, from, at(to));
}

result<void> layer_writer::write(tosa::reverse, const args<tosa::reverse>& a, const node& n) {
    HEADRACE_TRY(from, operand_of(a.input1));
    HEADRACE_TRY(to, add_result(n));
    from.type.offset += (from.type.size[a.axis] - 1) * from.type.stride[a.axis];
    from.type.stride[a.axis] = -from.type.stride[a.axis];
    return copy(n, from, at(to));
}

// Kernels of these readers take any strides, but for computed weights and biases.
static bool takes_views(const node& reader, value v) {
    if (is<device::convolution>(reader)) {
        const layer_body body(parts_of(reader));
        const node& anchor = convolution_in(body);
        return body.outside(anchor.operand(1)) != v && body.outside(anchor.operand(2)) != v;
    }
    return is<device::elementwise>(reader) || is<tosa::slice>(reader) || is<tosa::concat>(reader) ||
        is<tosa::transpose>(reader) || is<tosa::reverse>(reader);
}

// A small part is copied where the rest is not needed any longer.
bool layer_writer::is_read_as_view(const node& n, const operand& from, const on_device::tensor& part) const {
    if (!from.buffer) return false;
    const std::int64_t bytes = std::int64_t{part.elements()} * bytes_of(part.type);
    if (2 * bytes < done_.buffers[*from.buffer].bytes() && ends_with(n, *from.buffer)) return false;
    for (const edge* e = n.first_use; e != nullptr; e = e->next_use)
        if (!takes_views(*e->target, *e->slot)) return false;
    return true;
}

result<void> layer_writer::write(tosa::slice, const args<tosa::slice>& a, const node& n) {
    const auto* const start = match<tosa::const_shape>(a.start);
    const auto* const size = match<tosa::const_shape>(a.size);
    if (start == nullptr || size == nullptr) return refuse(n, "its start is computed");
    HEADRACE_TRY(from, operand_of(a.input1));
    const on_device::tensor part = part_of(from.type, start->values, size->values);
    if (is_read_as_view(n, from, part)) {
        put({const_cast<node*>(&n), 0}, {*from.buffer, part});
        return {};
    }
    HEADRACE_TRY(to, add_result(n));
    from.type = part;
    return copy(n, from, at(to));
}

/// Each operand is copied to its part of the result, unless all were written there.
result<void> layer_writer::write(tosa::concat, const args<tosa::concat>& a, const node& n) {
    if (places_.contains({&n, 0})) return {};
    HEADRACE_TRY(to, add_result(n));
    operand part = at(to);
    for (const value v : a.input1) {
        HEADRACE_TRY(from, operand_of(v));
        part.type.size[a.axis] = from.type.size[a.axis];
        HEADRACE_TRY(copy(n, from, part));
        part.type.offset += from.type.size[a.axis] * part.type.stride[a.axis];
    }
    return {};
}

result<void> layer_writer::write(tosa::pad, const args<tosa::pad>& a, const node& n) {
    const auto* const padding = match<tosa::const_shape>(a.padding);
    if (padding == nullptr) return refuse(n, "its padding is computed");
    HEADRACE_TRY(from, operand_of(a.input1));
    HEADRACE_TRY(number, operand_of(a.pad_const));
    HEADRACE_TRY(to, add_result(n));
    operand part = at(to);
    call_kernel(n, fmt::format("hr::fill<{}>", format_tensor(part.type)), {number, part});
    for (int d = 0; d != part.type.rank; ++d) {
        part.type.offset +=
            static_cast<std::int32_t>(padding->values[static_cast<std::size_t>(2 * d)]) * part.type.stride[d];
        part.type.size[d] = from.type.size[d];
    }
    return copy(n, from, part);
}

result<void> layer_writer::write(tosa::tile, const args<tosa::tile>& a, const node& n) {
    HEADRACE_TRY(from, operand_of(a.input1));
    HEADRACE_TRY(to, add_result(n));
    call_kernel(
        n, fmt::format("hr::tile<{}, {}>", format_tensor(from.type), format_tensor(to.type)), {from, at(to)});
    return {};
}

result<void> layer_writer::write(tosa::gather, const args<tosa::gather>& a, const node& n) {
    HEADRACE_TRY(values, operand_of(a.values));
    HEADRACE_TRY(indices, operand_of(a.indices));
    HEADRACE_TRY(to, add_result(n));
    call_kernel(n,
        fmt::format("hr::gather<{}, {}, {}>", format_tensor(values.type), format_tensor(indices.type),
            format_tensor(to.type)),
        {values, indices, at(to)});
    return {};
}

result<void> layer_writer::write(tosa::scatter, const args<tosa::scatter>& a, const node& n) {
    HEADRACE_TRY(values, operand_of(a.values_in));
    HEADRACE_TRY(indices, operand_of(a.indices));
    HEADRACE_TRY(input, operand_of(a.input));
    HEADRACE_TRY(to, add_result(n));
    call_kernel(n,
        fmt::format("hr::scatter<{}, {}, {}, {}>", format_tensor(values.type), format_tensor(indices.type),
            format_tensor(input.type), format_tensor(to.type)),
        {values, indices, input, at(to)});
    return {};
}

/// Shapes are read where they are used.
result<void> layer_writer::write(tosa::const_shape, const args<tosa::const_shape>&, const node&) {
    return {};
}

}  // namespace headrace::firmware
