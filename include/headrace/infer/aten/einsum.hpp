// SPDX-License-Identifier: MIT
// Defines headrace::parse_einsum, which parses the equation of an einsum, and the shape of its result.
#ifndef HEADRACE_INFER_ATEN_EINSUM_HPP
#define HEADRACE_INFER_ATEN_EINSUM_HPP

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/matrix.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// Returns the labels of one side of an equation, without spaces; an ellipsis becomes one '.'.
[[nodiscard]] inline result<std::pmr::string> einsum_labels(std::string_view text) {
    std::pmr::string labels;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ') continue;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool ellipsis = text.substr(i, 3) == "..." && labels.find('.') == std::pmr::string::npos;
        if (!letter && !ellipsis) return invalid({"cannot read einsum operand '", text, "'"});
        labels += c;
        if (ellipsis) i += 2;
    }
    return labels;
}

/// Returns a label for each axis of a tensor of that rank. The axes of an ellipsis are numbered from the
/// last: 1, 2, …, so that the ellipses of several operands broadcast.
[[nodiscard]] inline std::pmr::string einsum_axes(std::string_view labels, std::size_t rank) {
    std::pmr::string axes;
    for (const char c : labels) {
        if (c != '.') {
            axes += c;
            continue;
        }
        for (std::size_t left = rank + 1 - labels.size(); left-- > 0;) axes += static_cast<char>(1 + left);
    }
    return axes;
}

/// An equation: the labels of each operand and of the result.
struct einsum_equation {
    pmr_vector<std::pmr::string> operands;
    std::pmr::string result;
};

namespace detail {
/// Returns the result's labels if there is no "->": the ellipsis, then the labels that occur once, sorted.
inline std::pmr::string implicit_einsum_result(const pmr_vector<std::pmr::string>& operands) {
    std::array<int, 128> counts{};
    for (const std::pmr::string& labels : operands) {
        for (const char c : labels) ++counts[static_cast<unsigned char>(c)];
    }
    std::pmr::string labels;
    if (counts['.'] != 0) labels += '.';
    for (int c = 'A'; c <= 'z'; ++c) {
        if (counts[static_cast<std::size_t>(c)] == 1) labels += static_cast<char>(c);
    }
    return labels;
}
}  // namespace detail

[[nodiscard]] inline result<einsum_equation> parse_einsum(std::string_view text) {
    const std::size_t arrow = text.find("->");
    std::string_view left = text.substr(0, arrow);
    einsum_equation equation;
    for (;;) {
        const std::size_t comma = left.find(',');
        HEADRACE_TRY(labels, einsum_labels(left.substr(0, comma)));
        equation.operands.push_back(labels);
        if (comma == std::string_view::npos) break;
        left.remove_prefix(comma + 1);
    }
    if (arrow == std::string_view::npos) {
        equation.result = detail::implicit_einsum_result(equation.operands);
    } else {
        HEADRACE_TRY(labels, einsum_labels(text.substr(arrow + 2)));
        for (std::size_t i = 0; i != labels.size(); ++i) {
            if (labels.find(labels[i], i + 1) == std::pmr::string::npos) continue;
            return invalid({"einsum label '", labels[i], "' appears twice in the result"});
        }
        equation.result = labels;
    }
    return equation;
}

/// The size of each label, and the shape that all ellipses together broadcast to.
class einsum_sizes {
public:
    [[nodiscard]] result<void> add(std::string_view labels, sizes shape) {
        const bool ellipsis = labels.find('.') != std::string_view::npos;
        const std::size_t named = labels.size() - (ellipsis ? 1 : 0);
        if (shape.size() > shape_builder::capacity) return rank_too_large();
        if (ellipsis ? shape.size() < named : shape.size() != named) {
            return invalid({"einsum labels '", labels, "' do not match ", shape_text(shape)});
        }
        std::size_t axis = 0;
        std::array<std::int64_t, 256> sizes_here{};  // by label; stored as the size plus one
        for (const char c : labels) {
            if (c == '.') {
                HEADRACE_TRY(both, broadcast(hidden_, shape.subspan(axis, shape.size() - named)));
                hidden_ = both;
                axis += shape.size() - named;
            } else {
                // The axes of a diagonal do not broadcast.
                std::int64_t& own = sizes_here[static_cast<unsigned char>(c) % sizes_here.size()];
                if (own != 0 && own != shape[axis] + 1)
                    return invalid({"einsum label '", c, "' has sizes ", own - 1, " and ", shape[axis],
                        " in one operand"});
                own = shape[axis] + 1;
                HEADRACE_TRY(add_label(c, shape[axis++]));
            }
        }
        return {};
    }

    [[nodiscard]] result<shape_builder> shape_of(std::string_view labels) const {
        shape_builder shape;
        for (const char c : labels) {
            if (c == '.') {
                shape.append(hidden_);
            } else if (const std::int64_t size = size_[static_cast<unsigned char>(c)]; size >= 0) {
                shape.push_back(size);
            } else {
                return invalid({"einsum label '", c, "' has no size"});
            }
        }
        return shape;
    }

private:
    result<void> add_label(char c, std::int64_t size) {
        std::int64_t& known = size_[static_cast<unsigned char>(c)];
        if (known == -1 || known == 1) {
            known = size;
        } else if (size != 1 && size != known) {
            return invalid({"einsum label '", c, "' has sizes ", known, " and ", size});
        }
        return {};
    }

    std::array<std::int64_t, 128> size_ = [] {
        std::array<std::int64_t, 128> none{};
        none.fill(-1);
        return none;
    }();
    shape_builder hidden_;
};

template <one_of<ops<aten::einsum>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(equation, parse_einsum(a.equation));
    if (a.tensors.empty() || a.tensors.size() != equation.operands.size()) {
        return invalid(
            {"einsum equation '", a.equation, "' does not have ", counted_text(a.tensors.size(), "operand")});
    }
    einsum_sizes known;
    const tensor_meta& first = inference::of(a.tensors[0]);
    for (std::size_t i = 0; i != a.tensors.size(); ++i) {
        const tensor_meta& t = inference::of(a.tensors[i]);
        if (i != 0) {
            HEADRACE_TRY(detail::require_factors(first, t));
        }
        HEADRACE_TRY(known.add(equation.operands[i], t.shape));
    }
    HEADRACE_TRY(shape, known.shape_of(equation.result));
    return add_result(out, first.dtype, shape);
}

}  // namespace headrace

#endif
