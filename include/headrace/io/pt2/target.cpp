// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/target.hpp.

#include <headrace/io/pt2/target.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pt2 {

namespace {

struct synonym {
    std::string_view name, op;
};

/// Other names of ops in the dialect, from NumPy, torch.special and older versions of PyTorch. They take the
/// same arguments.
constexpr std::array synonyms{
    synonym{"absolute.default", "abs.default"},
    synonym{"adjoint.default", "mT.default"},
    synonym{"arccos.default", "acos.default"},
    synonym{"arccosh.default", "acosh.default"},
    synonym{"arcsin.default", "asin.default"},
    synonym{"arcsinh.default", "asinh.default"},
    synonym{"arctan.default", "atan.default"},
    synonym{"arctan2.default", "atan2.default"},
    synonym{"arctanh.default", "atanh.default"},
    synonym{"clip.Tensor", "clamp.Tensor"},
    synonym{"concatenate.default", "cat.default"},
    synonym{"divide.Scalar", "div.Scalar"},
    synonym{"divide.Scalar_mode", "div.Scalar_mode"},
    synonym{"divide.Tensor_mode", "div.Tensor_mode"},
    synonym{"fix.default", "trunc.default"},
    synonym{"ger.default", "outer.default"},
    synonym{"greater.Scalar", "gt.Scalar"},
    synonym{"greater.Tensor", "gt.Tensor"},
    synonym{"greater_equal.Scalar", "ge.Scalar"},
    synonym{"greater_equal.Tensor", "ge.Tensor"},
    synonym{"less.Scalar", "lt.Scalar"},
    synonym{"less.Tensor", "lt.Tensor"},
    synonym{"less_equal.Scalar", "le.Scalar"},
    synonym{"less_equal.Tensor", "le.Tensor"},
    synonym{"linalg_matmul.default", "matmul.default"},
    synonym{"mH.default", "mT.default"},
    synonym{"matrix_H.default", "mT.default"},
    synonym{"moveaxis.int", "movedim.int"},
    synonym{"moveaxis.intlist", "movedim.intlist"},
    synonym{"multiply.Scalar", "mul.Scalar"},
    synonym{"negative.default", "neg.default"},
    synonym{"not_equal.Scalar", "ne.Scalar"},
    synonym{"not_equal.Tensor", "ne.Tensor"},
    synonym{"positive.default", "alias.default"},
    synonym{"resolve_conj.default", "alias.default"},
    synonym{"resolve_neg.default", "alias.default"},
    synonym{"row_stack.default", "vstack.default"},
    synonym{"special_erf.default", "erf.default"},
    synonym{"special_erfc.default", "erfc.default"},
    synonym{"special_erfinv.default", "erfinv.default"},
    synonym{"special_exp2.default", "exp2.default"},
    synonym{"special_expit.default", "sigmoid.default"},
    synonym{"special_expm1.default", "expm1.default"},
    synonym{"special_log1p.default", "log1p.default"},
    synonym{"special_logit.default", "logit.default"},
    synonym{"special_logsumexp.default", "logsumexp.default"},
    synonym{"special_sinc.default", "sinc.default"},
    synonym{"special_softmax.default", "softmax.int"},
    synonym{"special_log_softmax.default", "log_softmax.int"},
    synonym{"special_xlogy.default", "xlogy.Tensor"},
    synonym{"subtract.Scalar", "sub.Scalar"},
    synonym{"swapaxes.default", "transpose.int"},
    synonym{"swapdims.default", "transpose.int"},
    synonym{"true_divide.Scalar", "div.Scalar"},
};

[[nodiscard]] const op_info* find_known(std::string_view name) {
    constexpr std::string_view aten = "aten.";
    if (const op_info* op = find_op<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
            cortex_m::dialect, higher_order::dialect>(name)) {
        return op;
    }
    if (!name.starts_with(aten)) return nullptr;
    const auto found = std::find_if(synonyms.begin(), synonyms.end(),
        [&](const synonym& s) { return s.name == name.substr(aten.size()); });
    return found == synonyms.end() ? nullptr : find_op<aten::dialect>(std::string(aten).append(found->op));
}

/// Returns the name of the op that computes without writing: "aten.sin.default" for "aten.sin_.default", and
/// "aten.__and__.Tensor" for "aten.__iand__.Tensor". Empty for other names.
[[nodiscard]] std::string out_of_place(std::string_view name) {
    constexpr std::string_view augmented = "aten.__i";
    const std::size_t end = name.rfind('.');
    if (end == std::string_view::npos || end == 0) return {};
    std::string pure(name);
    if (name.starts_with(augmented)) return pure.erase(augmented.size() - 1, 1);
    if (name[end - 1] != '_' || name.find("__") != std::string_view::npos) return {};
    return pure.erase(end - 1, 1);
}

/// True for ops whose in-place form changes the shape of the tensor itself, which copying into it does not.
[[nodiscard]] bool reshapes(const op_info& op) {
    constexpr std::array names{
        "squeeze", "t", "transpose", "unsqueeze", "detach", "alias", "swapaxes", "as_strided"};
    const std::string_view name = op.name.substr(op.name.find('.') + 1);
    return std::find(names.begin(), names.end(), name.substr(0, name.find('.'))) != names.end();
}

}  // namespace

target find_target(std::string_view name) {
    if (const op_info* op = find_known(name)) return {op, false};
    std::string pure = out_of_place(name);
    const op_info* op = pure.empty() ? nullptr : find_known(pure);
    if (op == nullptr && !pure.empty()) {  // floor_divide_.Tensor is floor_divide.default in place
        pure.erase(pure.rfind('.'));
        op = find_known(pure.append(".default"));
    }
    const bool writes = op != nullptr && op->results == 1 && op->field_count != 0 &&
        op->fields[0].name == "self" && !reshapes(*op);
    return writes ? target{op, true} : target{};
}

std::string_view argument_name(const op_info& op, std::string_view name) {
    if (op.find(name) != nullptr) return name;
    return name == "axis0" ? "dim0" : name == "axis1" ? "dim1" : name;
}

}  // namespace headrace::pt2
