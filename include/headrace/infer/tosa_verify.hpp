// SPDX-License-Identifier: MIT
// Defines headrace::verify_tosa, which tells whether a target takes a node of the tosa dialect, and if not,
// why.
#ifndef HEADRACE_INFER_TOSA_VERIFY_HPP
#define HEADRACE_INFER_TOSA_VERIFY_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/infer/tosa.hpp>
#include <headrace/infer/u55_verify.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/op/target.hpp>
#include <headrace/op/text.hpp>
#include <headrace/op/tosa_legality.hpp>

namespace headrace {

namespace detail {

/// The types of a node as legality_row orders them.
class tosa_signature {
public:
    explicit tosa_signature(const node& n) {
        std::size_t operand = 0;
        for (const field_info& f : *n.op) {
            if (f.kind == field_kind::tensor) {
                add_operand(n, operand++);
            } else if (f.kind == field_kind::tensors) {
                if (operand < n.operand_count) add_operand(n, operand);
                operand = n.operand_count;
            }
        }
        if (const field_info* accumulator = n.op->find("acc_type")) {
            add(*reinterpret_cast<const dtype*>(static_cast<const std::byte*>(n.arguments) +
                                                accumulator->offset));
        }
        if (is<tosa::variable>(n)) add(args_of<tosa::variable>(n).type);
        for (const result_slot& r : std::span(n.results, n.result_count)) {
            if (r.meta->dtype != dtype::shape) add(r.meta->dtype);
        }
    }

    [[nodiscard]] std::span<const dtype> types() const { return {types_.data(), size_}; }
    [[nodiscard]] std::pmr::string text() const {
        std::pmr::string all = "(";
        for (const dtype t : types()) {
            if (all.size() != 1) all += ", ";
            all += name_of(t);
        }
        return all += ')';
    }

private:
    void add_operand(const node& n, std::size_t i) {
        const dtype type = meta_of(n.operand(i))->dtype;
        if (type != dtype::shape) add(type);
    }
    void add(dtype type) {
        if (size_ != types_.size()) types_[size_++] = type;
    }

    std::array<dtype, tosa::legality_row::max_types> types_{};
    std::size_t size_ = 0;
};

/// "INT or FP", "FP and bf16": what a row demands.
[[nodiscard]] inline std::pmr::string features_text(std::uint16_t profiles, std::uint16_t extensions) {
    std::pmr::string text;
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((profiles & bit) != 0) text += (text.empty() ? "" : " or ") + std::pmr::string(f.spelling);
    }
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((extensions & bit) != 0) text += (text.empty() ? "" : " and ") + std::pmr::string(f.spelling);
    }
    return text;
}

[[nodiscard]] inline result<void> verify_tosa_types(const node& n, const target_spec& target) {
    if (is<tosa::cond_if>(n) || is<tosa::while_loop>(n)) {
        if (target.has(target_feature::control_flow)) return boost::outcome_v2::success();
        return unsupported(message_prefix(n) + "control flow needs the target to have cf");
    }
    if (tosa::rows_of(*n.op).empty()) return boost::outcome_v2::success();
    const tosa_signature signature(n);
    const tosa::legality_row* row = tosa::find_row(*n.op, signature.types());
    if (row == nullptr) {
        return unsupported(message_prefix(n) + "TOSA 1.0 has no " + std::pmr::string(n.op->name.substr(5)) +
                           " of " + signature.text());
    }
    if (row->allowed_on(target)) return boost::outcome_v2::success();
    return unsupported(message_prefix(n) + signature.text() + " needs the target to have " +
                       features_text(row->profiles, row->extensions));
}

/// Refuses what is above level 8K's limits (TOSA 1.0, section 1.5).
class level_checker {
public:
    explicit level_checker(const node& n) : n_(n) {}

    result<void> check() const {
        for (std::size_t i = 0; i != n_.operand_count; ++i) {
            BOOST_OUTCOME_TRY(tensor(*meta_of(n_.operand(i))));
        }
        for (const result_slot& r : std::span(n_.results, n_.result_count)) {
            BOOST_OUTCOME_TRY(tensor(*r.meta));
        }
        for (const field_info& f : *n_.op) {
            BOOST_OUTCOME_TRY(attribute(f));
        }
        BOOST_OUTCOME_TRY(kernel<tosa::conv2d>(1, 2));
        BOOST_OUTCOME_TRY(kernel<tosa::conv3d>(1, 3));
        BOOST_OUTCOME_TRY(kernel<tosa::depthwise_conv2d>(0, 2));
        BOOST_OUTCOME_TRY(kernel<tosa::transpose_conv2d>(1, 2));
        if (is<tosa::fft2d>(n_) || is<tosa::rfft2d>(n_)) {
            const int_list& shape = meta_of(n_.operand(0))->shape;
            BOOST_OUTCOME_TRY(most("size", std::max(shape[1], shape[2]), tosa::level_8k::max_kernel));
        }
        return scale();
    }

private:
    result<void> most(std::string_view what, std::int64_t size, std::int64_t limit) const {
        if (size <= limit) return boost::outcome_v2::success();
        return unsupported(message_prefix(n_) + std::pmr::string(what) + ' ' + number_text(size) +
                           " is above level 8K's limit of " + number_text(limit));
    }
    result<void> tensor(const tensor_meta& meta) const {
        if (meta.dtype == dtype::shape)
            return most("shape length", meta.elements(), tosa::level_8k::max_shape_length);
        BOOST_OUTCOME_TRY(most("rank", static_cast<std::int64_t>(meta.rank()), tosa::level_8k::max_rank));
        for (const std::int64_t size : meta.shape) {
            if (size < 1)
                return unsupported(message_prefix(n_) + "TOSA has no empty tensors, as of " +
                                   shape_text(meta.shape));
        }
        const auto elements = static_cast<std::uint64_t>(element_count(meta.shape));
        const std::uint64_t limit = (std::uint64_t{1} << tosa::level_8k::max_log2_size) - 1;
        const std::uint64_t bytes = elements > limit ? elements : storage_bytes(meta.dtype, elements);
        return most("tensor size", static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(limit));
    }
    result<void> attribute(const field_info& f) const {
        const std::byte* at = static_cast<const std::byte*>(n_.arguments) + f.offset;
        if (f.kind == field_kind::tensors) {
            const auto count = static_cast<std::int64_t>(reinterpret_cast<const list<value>*>(at)->size());
            return most("number of operands", count, tosa::level_8k::max_tensor_list);
        }
        const bool limited =
            f.name == "kernel" || f.name == "stride" || f.name == "pad" || f.name == "out_pad";
        if (f.kind != field_kind::integers || !limited) return boost::outcome_v2::success();
        for (const std::int64_t item : *reinterpret_cast<const int_list*>(at)) {
            BOOST_OUTCOME_TRY(most(
                f.name, item, f.name == "stride" ? tosa::level_8k::max_stride : tosa::level_8k::max_kernel));
        }
        return boost::outcome_v2::success();
    }
    template <class Op>
    result<void> kernel(std::size_t first, std::size_t axes) const {
        if (!is<Op>(n_)) return boost::outcome_v2::success();
        const auto& a = args_of<Op>(n_);
        for (std::size_t i = 0; i != axes; ++i) {
            std::int64_t size = meta_of(a.weight)->shape[first + i];
            if constexpr (requires { a.dilation; }) size = saturating_mul(size, a.dilation[i]);
            BOOST_OUTCOME_TRY(most("dilated kernel", size, tosa::level_8k::max_kernel));
        }
        return boost::outcome_v2::success();
    }
    result<void> scale() const {
        if (!is<tosa::resize>(n_)) return boost::outcome_v2::success();
        const auto* values = match<tosa::const_shape>(args_of<tosa::resize>(n_).scale);
        if (values == nullptr) return boost::outcome_v2::success();
        for (std::size_t i = 0; i + 1 < values->values.size(); i += 2) {
            const std::int64_t below = std::max<std::int64_t>(values->values[i + 1], 1);
            BOOST_OUTCOME_TRY(most("scale", values->values[i] / below, tosa::level_8k::max_scale));
        }
        return boost::outcome_v2::success();
    }

    const node& n_;
};

/// Zero points, shifts, tables and the like must be constants where a target lacks EXT-DYNAMIC, as all of 1.0
/// do here.
[[nodiscard]] inline result<void> verify_tosa_constants(const node& n) {
    std::size_t operand = 0;
    for (const field_info& f : *n.op) {
        if (f.kind != field_kind::tensor) continue;
        const node& source = *n.operand(operand++).producer;
        const bool constant = is<builtin::constant>(source) || is<tosa::const_>(source);
        const bool demanded = f.name.ends_with("_zp") || f.name == "shift" || f.name == "table" ||
                              f.name == "pad_const" || f.name == "multiplier";
        if (demanded && !constant)
            return unsupported(message_prefix(n) + std::pmr::string(f.name) + " must be a constant");
    }
    return boost::outcome_v2::success();
}

[[nodiscard]] inline result<void> verify_tosa_shapes(const node& n) {
    const inference_rule rule = find_rule<tosa::dialect>(*n.op);
    if (rule == nullptr) return boost::outcome_v2::success();
    std::array<std::byte, 1024> room;
    std::pmr::monotonic_buffer_resource arena(room.data(), room.size());
    inference out(&arena);
    if (auto inferred = rule(n.arguments, out); !inferred) {
        return error{inferred.error().kind, message_prefix(n) + inferred.error().message};
    }
    if (out.results().size() != n.result_count) {
        return invalid(message_prefix(n) + "has " + number_text(n.result_count) + " results instead of " +
                       number_text(out.results().size()));
    }
    for (std::size_t i = 0; i != n.result_count; ++i) {
        const tensor_meta& wanted = out.results()[i];
        const tensor_meta& given = *n.results[i].meta;
        if (given == wanted) continue;
        return invalid(message_prefix(n) + "its metadata says " + std::pmr::string(name_of(given.dtype)) +
                       ' ' + shape_text(given.shape) + ", but it gives " +
                       std::pmr::string(name_of(wanted.dtype)) + ' ' + shape_text(wanted.shape));
    }
    return boost::outcome_v2::success();
}

[[nodiscard]] inline result<void> verify_u55(const node& n) {
    const std::pmr::string fault = u55::restriction(n);
    if (fault.empty()) return boost::outcome_v2::success();
    return unsupported(message_prefix(n) + fault + "; drop u55 from the target");
}

}  // namespace detail

/// Tells whether a target takes a node: whether TOSA 1.0 has the op for these types and the target what they
/// need, its sizes are within level 8K, its metadata is what the op gives, and, for a target with u55,
/// whether Ethos-U55 executes it. Nodes of the builtin dialect
/// pass, opaque ones excepted. Regions are not entered.
///
/// Fails with `unsupported` where another target or a smaller model would do, and with `invalid` where the
/// graph is wrong.
[[nodiscard]] inline result<void> verify_tosa(const node& n, const target_spec& target) {
    if (is<builtin::output>(n)) return boost::outcome_v2::success();
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        if (meta_of(n.operand(i)) == nullptr)
            return invalid(message_prefix(n) + "an operand has no metadata");
    }
    for (const result_slot& r : std::span(n.results, n.result_count)) {
        if (!r.meta) return invalid(message_prefix(n) + "a result has no metadata");
    }
    if (is<builtin::placeholder>(n)) return boost::outcome_v2::success();
    if (is<builtin::constant>(n)) {
        const dtype type = n.results[0].meta->dtype;
        const tosa::legality_row* row = tosa::find_row(info_of<tosa::const_>, std::span(&type, 1));
        if (row != nullptr && row->allowed_on(target)) return boost::outcome_v2::success();
        std::pmr::string needed = row == nullptr ? " does not exist in TOSA 1.0"
                                                 : " needs the target to have " +
                                                       detail::features_text(row->profiles, row->extensions);
        return unsupported(message_prefix(n) + "a constant of " + std::pmr::string(name_of(type)) + needed);
    }
    if (n.op->dialect != &info_of_dialect<tosa::dialect>) {
        return unsupported(message_prefix(n) + "is not an operator of TOSA");
    }
    BOOST_OUTCOME_TRY(detail::verify_tosa_shapes(n));
    BOOST_OUTCOME_TRY(detail::verify_tosa_types(n, target));
    BOOST_OUTCOME_TRY(detail::verify_tosa_constants(n));
    BOOST_OUTCOME_TRY(detail::level_checker(n).check());
    return target.has(target_feature::u55) ? detail::verify_u55(n) : boost::outcome_v2::success();
}

/// The first failure among all nodes of a graph and of its control-flow regions.
[[nodiscard]] inline result<void> verify_tosa(const graph& g, const target_spec& target) {
    for (const node& n : g.nodes()) {
        BOOST_OUTCOME_TRY(verify_tosa(n, target));
        for (const field_info& f : *n.op) {
            if (f.kind != field_kind::region) continue;
            const std::byte* at = static_cast<const std::byte*>(n.arguments) + f.offset;
            if (const graph* region = *reinterpret_cast<graph* const*>(at)) {
                BOOST_OUTCOME_TRY(verify_tosa(*region, target));
            }
        }
    }
    return boost::outcome_v2::success();
}

}  // namespace headrace

#endif
