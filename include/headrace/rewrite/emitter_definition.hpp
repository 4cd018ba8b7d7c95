// SPDX-License-Identifier: MIT
// Defines the functions of rewrite/emitter.hpp.
#ifndef HEADRACE_REWRITE_EMITTER_DEFINITION_HPP
#define HEADRACE_REWRITE_EMITTER_DEFINITION_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/float_format.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

HEADRACE_INLINE value_list results_of(node* n, std::size_t count) {
    value_list results;
    for (std::uint32_t i = 0; n != nullptr && i != n->result_count && i != count; ++i)
        results.push_back(n->result(i));
    return results;
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::unsupported(std::string_view reason) {
    return fail(headrace::unsupported(reason));
}
[[gnu::noinline]] HEADRACE_INLINE value emitter::unsupported(std::initializer_list<text_part> reason) {
    return fail(headrace::unsupported(reason));
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::fail(error e) {
    if (!failed()) at_->context_->report(*at_->current_, std::move(e.message), e.kind);
    at_->failed_ = true;
    return {};
}

[[gnu::noinline]] HEADRACE_INLINE bool emitter::may_unroll(std::int64_t steps) {
    if (steps <= max_unrolled_nodes) return !failed();
    unsupported({"it would be unrolled into more than ", max_unrolled_nodes,
        " nodes; reduce the sizes that cause this, or leave it to the host with "
        "--partition"});
    return false;
}

[[gnu::noinline]] HEADRACE_INLINE bool emitter::may_compute(std::int64_t elements, headrace::dtype type) {
    const auto count = static_cast<std::uint64_t>(elements);
    if (count > max_computed_bytes || storage_bytes(type, count) > max_computed_bytes) {
        unsupported({"it needs a constant of ", elements, " elements, which is above the limit of ",
            max_computed_bytes, " bytes; give the tensor as an input or a buffer"});
    } else if (at_->graph_->data_bytes() + storage_bytes(type, count) > max_data_bytes) {
        unsupported({"the constants that are made would take more than the limit of ", max_data_bytes,
            " bytes; give large tensors as inputs or buffers"});
    }
    return !failed();
}

[[gnu::noinline]] HEADRACE_INLINE value emitter::splat(
    scalar number, headrace::dtype type, std::size_t rank) {
    static constexpr std::int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return splat(number, type, std::span(ones, rank));
}

HEADRACE_INLINE node* emitter::add(const op_info& op, const void* arguments, std::size_t results) {
    if (failed() || !operands_sound(op, arguments)) return nullptr;
    node& n = at_->graph_->create(op, arguments, results, at_->before_);
    at_->inference_.clear();
    result<void> inferred = at_->context_->infer(n, at_->inference_);
    if (inferred && at_->inference_.results().size() != results)
        inferred = invalid("inference gives a different number of results");
    if (!inferred) {
        at_->graph_->erase(n);
        cannot_make(op, inferred.error());
        return nullptr;
    }
    annotate_inferred(n);
    return &n;
}

HEADRACE_INLINE value emitter::constant(
    const tensor_meta& meta, function_ref<void(std::span<std::byte>)> fill) {
    const value v = create_constant(owner(), meta, at_->before_, fill);
    owner().inherit_annotations(*v.producer, current());
    return v;
}

HEADRACE_INLINE value emitter::constant_of_bytes(
    const tensor_meta& meta, std::span<const std::byte> elements) {
    if (failed()) return {};
    const std::size_t bytes = bytes_in_memory(meta);
    if (elements.size() != bytes)
        return fail(invalid({"a constant of ", name_of(meta.dtype), " with ", bytes, " bytes is given ",
            elements.size(), " bytes: give an element of the type in which the dtype is stored for each ",
            "place of the shape, or one number for all by `e.splat`"}));
    return constant(meta, [&](std::span<std::byte> data) { std::ranges::copy(elements, data.begin()); });
}

HEADRACE_INLINE value emitter::constant_of(
    headrace::dtype type, std::span<const std::int64_t> shape, function_ref<scalar(std::size_t)> number) {
    if (!may_store(element_count(shape), type)) return {};
    return constant({type, int_list(shape), {}}, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::size_t i = 0; i * width != data.size(); ++i)
            detail::store_element(number(i), type, &data[i * width]);
    });
}

HEADRACE_INLINE bool emitter::may_store(std::int64_t elements, headrace::dtype type) {
    std::byte zero[8]{};
    if (detail::store_element(0, type, zero)) return may_compute(elements, type);
    unsupported({"it needs a constant of type ", name_of(type), ", which has no lowering; use another type"});
    return false;
}

[[gnu::noinline]] HEADRACE_INLINE void emitter::cannot_make(const op_info& op, const error& why) {
    error failure = why.in(text_of({"cannot make ", op.name}));
    const auto is_empty = [](value v) {
        const tensor_meta* meta = meta_of(v);
        return meta != nullptr && element_count(meta->shape) == 0;
    };
    bool empty = false;
    for (const edge& e : at_->current_->operand_edges()) empty = empty || is_empty(*e.slot);
    for (std::uint32_t i = 0; i != at_->current_->result_count; ++i)
        empty = empty || is_empty(at_->current_->result(i));
    if (empty) {
        failure = headrace::unsupported(
            {failure.message, ": an empty tensor has no lowering; drop it from the model"});
    }
    fail(std::move(failure));
}

[[gnu::noinline]] HEADRACE_INLINE node* emitter::add_by(
    inference_rule rule, const op_info& op, const void* arguments) {
    if (failed() || !operands_sound(op, arguments)) return nullptr;
    if (rule == nullptr) {
        cannot_make(op, invalid("nothing infers its results; declare infer_results(Op, …) beside the op"));
        return nullptr;
    }
    at_->inference_.clear();
    if (const result<void> inferred = rule(arguments, at_->inference_); !inferred) {
        cannot_make(op, inferred.error());
        return nullptr;
    }
    node& n = at_->graph_->create(op, arguments, at_->inference_.results().size(), at_->before_);
    annotate_inferred(n);
    return &n;
}

HEADRACE_INLINE void emitter::annotate_inferred(node& n) {
    std::uint32_t i = 0;
    for (const tensor_meta& meta : at_->inference_.results()) at_->graph_->set_meta(n.result(i++), meta);
    at_->graph_->inherit_annotations(n, *at_->current_);
    at_->context_->emitted(n);
}

namespace detail {

HEADRACE_INLINE bool store_element(scalar number, headrace::dtype type, std::byte* at) {
    const auto put = [&](auto v) {
        std::memcpy(at, &v, sizeof v);
        return true;
    };
    switch (type) {
        case dtype::boolean:
            return put(static_cast<std::uint8_t>(number.to_double() != 0));
        case dtype::int8:
            return put(static_cast<std::int8_t>(number.to_int()));
        case dtype::uint8:
            return put(static_cast<std::uint8_t>(number.to_int()));
        case dtype::int16:
            return put(static_cast<std::int16_t>(number.to_int()));
        case dtype::uint16:
            return put(static_cast<std::uint16_t>(number.to_int()));
        case dtype::int32:
            return put(static_cast<std::int32_t>(number.to_int()));
        case dtype::uint32:
            return put(static_cast<std::uint32_t>(number.to_int()));
        case dtype::int48: {
            const std::int64_t n = number.to_int();
            std::memcpy(at, &n, 6);
            return true;
        }
        case dtype::int64:
            return put(number.to_int());
        case dtype::float32:
            return put(static_cast<float>(number.to_double()));
        case dtype::float64:
            return put(number.to_double());
        case dtype::bfloat16: {
            // Rounds to nearest even in the upper half; NaN stays NaN.
            const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number.to_double()));
            const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
            return put(static_cast<std::uint16_t>(
                nan ? (bits >> 16) | 0x40U : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16));
        }
        case dtype::float16:
            return put(
                static_cast<std::uint16_t>(encode_float(number.to_double(), format_of(dtype::float16))));
        default:
            return false;
    }
}

}  // namespace detail

HEADRACE_INLINE bool emitter::operands_sound(const op_info& op, const void* arguments) {
    if (!may_unroll(++at_->made_)) return false;
    return detail::all_operands(op, arguments, [&](value v) {
        if (!v) {
            at_->failed_ = true;
            return false;
        }
        if (meta_of(v) == nullptr) {
            fail(invalid({"operand ", v.producer->name(), " of ", op.name, " has no `val`"}));
            return false;
        }
        return true;
    });
}

HEADRACE_INLINE value emitter::splat(
    scalar number, headrace::dtype type, std::span<const std::int64_t> shape) {
    if (!may_store(element_count(shape), type)) return {};
    std::byte element[8]{};
    detail::store_element(number, type, element);
    const tensor_meta meta{type, int_list(shape), {}};
    const std::size_t size = traits_of(type).bits / 8U;
    std::uint64_t hash = hash_of_val(meta);
    for (const std::byte part : element) hash = 31 * hash + static_cast<std::uint64_t>(part);
    const auto is_same = [&](const node& n) {
        const auto* const made = args_if<builtin::constant>(n);
        return made != nullptr && same_val(*n.results[0].meta, meta) && element_count(shape) != 0 &&
            std::memcmp(made->data.bytes, element, size) == 0;
    };
    const auto fill = [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i + size <= data.size(); i += size) std::memcpy(&data[i], element, size);
    };
    return shared(hash, is_same, [&] { return constant(meta, fill); });
}

HEADRACE_INLINE value emitter::shared(
    std::uint64_t hash, function_ref<bool(const node&)> is_same, function_ref<value()> make) {
    if (failed()) return {};
    const node* const before = at_->before_;
    node* const made = at_->shared_.find(hash, [&](const node& n) {
        const bool in_reach = n.owner == at_->graph_ && (before == nullptr || graph::is_before(n, *before));
        return in_reach && is_same(n);
    });
    if (made != nullptr) return made->result();
    const value v = make();
    if (v) at_->shared_.keep(hash, v.producer);
    return v;
}

}  // namespace headrace

#endif
