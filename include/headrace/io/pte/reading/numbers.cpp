// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/numbers.hpp.

#include <headrace/io/pte/reading/numbers.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/reading/tensors.hpp>

namespace headrace::pte {

result<void> number_reader::read(const called_operator& o, const indices& given) {
    if (given.size() < 2) return wrong_argument_count(o);
    const std::int64_t made = given.Get(given.size() - 1);
    if (o.name.starts_with("aten::sym_")) return read_size(o, given);
    if (o.name == "aten::item" || o.name == "aten::_local_scalar_dense") {
        HEADRACE_TRY(one, tensors_.tensor(given.Get(0)));
        if (meta_of(one)->elements() != 1) return malformed("it takes more than one element as a number");
        return tensors_.define_number(made, one);
    }
    std::vector<value> operands;
    for (flatbuffers::uoffset_t i = 0; i + 1 != given.size(); ++i) {
        HEADRACE_TRY(operand, tensors_.number(given.Get(i)));
        operands.push_back(operand);
    }
    const std::string_view name(o.name);
    const std::string_view base = name.substr(std::string_view("executorch_prim::").size());
    const std::string_view op = base.substr(0, base.find('.'));
    if (operands.size() == 1) return read_unary(o, op, operands[0], made);
    if (operands.size() != 2) return wrong_argument_count(o);
    const std::optional<value> computed = binary(op, operands[0], operands[1]);
    return computed ? tensors_.define_number(made, *computed) : not_known(o);
}

result<void> number_reader::read_size(const called_operator& o, const indices& given) {
    HEADRACE_TRY(t, method_.table_of(given.Get(0)));
    std::vector<std::int64_t> shape;
    HEADRACE_TRY(meta, meta_of_table(*t, shape));
    std::int64_t size = meta.elements();
    if (o.name == "aten::sym_size.int") {
        if (given.size() != 3) return wrong_argument_count(o);
        HEADRACE_TRY(axis, method_.values().at(given.Get(1)));
        if (axis->kind_as_Int() == nullptr || method_.is_computed(given.Get(1)))
            return wrong_argument_count(o);
        const auto at = normalized_axis(axis->kind_as_Int()->value(), shape.size());
        if (!at) return malformed({o.name, " of no axis"});
        size = shape[*at];
    }
    const value number = tensors_.filled({dtype::int64, {}, {}}, scalar(size));
    return tensors_.define_number(given.Get(given.size() - 1), number);
}

result<void> number_reader::read_unary(
    const called_operator& o, std::string_view op, value x, std::int64_t made) {
    const auto apply = [&]<op_tag Op>(std::type_identity<Op>) {
        const args<Op> arguments{x};
        return tensors_.make(info_of<Op>, &arguments, *meta_of(x));
    };
    if (op == "sym_float" || op == "sym_int") return tensors_.define_number(made, x);
    if (op == "sym_not") {
        const args<aten::logical_not> arguments{x};
        return tensors_.define_number(
            made, tensors_.make(info_of<aten::logical_not>, &arguments, {dtype::boolean, {}, {}}));
    }
    if (op == "neg" && meta_of(x)->dtype != dtype::boolean)
        return tensors_.define_number(made, apply(std::type_identity<aten::neg>{}));
    if (meta_of(x)->dtype != dtype::float64) return not_known(o);
    if (op == "ceil") return tensors_.define_number(made, apply(std::type_identity<aten::ceil>{}));
    if (op == "trunc") return tensors_.define_number(made, apply(std::type_identity<aten::trunc>{}));
    return not_known(o);
}

std::optional<value> number_reader::binary(std::string_view op, value a, value b) {
    const bool divides = op == "truediv";
    const bool is_real =
        divides || meta_of(a)->dtype == dtype::float64 || meta_of(b)->dtype == dtype::float64;
    const dtype type = is_real ? dtype::float64 : dtype::int64;
    a = tensors_.as_type(a, type);
    b = tensors_.as_type(b, type);
    const tensor_meta same{type, {}, {}};
    const tensor_meta flag{dtype::boolean, {}, {}};
    const auto apply = [&]<op_tag Op>(std::type_identity<Op>, const tensor_meta& meta) {
        args<Op> arguments{};
        arguments.self = a;
        arguments.other = b;
        return std::optional(tensors_.make(info_of<Op>, &arguments, meta));
    };
    if (op == "add") return apply(std::type_identity<aten::add_tensor>{}, same);
    if (op == "sub") return apply(std::type_identity<aten::sub_tensor>{}, same);
    if (op == "mul") return apply(std::type_identity<aten::mul_tensor>{}, same);
    if (op == "truediv") return apply(std::type_identity<aten::div_tensor>{}, same);
    if (op == "floordiv") return apply(std::type_identity<aten::floor_divide>{}, same);
    if (op == "mod") return apply(std::type_identity<aten::remainder_tensor>{}, same);
    if (op == "sym_max") return apply(std::type_identity<aten::maximum>{}, same);
    if (op == "sym_min") return apply(std::type_identity<aten::minimum>{}, same);
    if (op == "eq") return apply(std::type_identity<aten::eq_tensor>{}, flag);
    if (op == "ne") return apply(std::type_identity<aten::ne_tensor>{}, flag);
    if (op == "lt") return apply(std::type_identity<aten::lt_tensor>{}, flag);
    if (op == "le") return apply(std::type_identity<aten::le_tensor>{}, flag);
    if (op == "gt") return apply(std::type_identity<aten::gt_tensor>{}, flag);
    if (op == "ge") return apply(std::type_identity<aten::ge_tensor>{}, flag);
    return std::nullopt;
}

}  // namespace headrace::pte
