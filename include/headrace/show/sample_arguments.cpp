// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/sample_arguments.hpp.

#include <headrace/show/sample_arguments.hpp>

#include <algorithm>
#include <iterator>

namespace headrace::samples {

namespace {

// Shapes for the tensors and lists of tensors of ops that random shapes would hardly ever fit.
const std::vector<std::pair<std::string_view, shape_lists>>& fitting_shapes() {
    static const std::vector<std::pair<std::string_view, shape_lists>> all{
        {"aten.conv1d.default", {{{2, 4, 5}}, {{6, 4, 3}}, {{6}}}},
        {"aten.conv1d.padding", {{{2, 4, 5}}, {{6, 4, 3}}, {{6}}}},
        {"aten.conv2d.default", {{{2, 4, 5, 6}}, {{6, 4, 3, 2}}, {{6}}}},
        {"aten.conv2d.padding", {{{2, 4, 5, 6}}, {{6, 4, 3, 2}}, {{6}}}},
        {"aten.conv3d.default", {{{2, 4, 3, 5, 6}}, {{6, 4, 1, 3, 2}}, {{6}}}},
        {"aten.conv3d.padding", {{{2, 4, 3, 5, 6}}, {{6, 4, 1, 3, 2}}, {{6}}}},
        {"aten.conv_transpose1d.default", {{{2, 4, 5}}, {{4, 3, 3}}, {{3}}}},
        {"aten.conv_transpose2d.input", {{{2, 4, 5, 6}}, {{4, 3, 3, 2}}, {{3}}}},
        {"aten.conv_transpose3d.input", {{{2, 4, 3, 5, 6}}, {{4, 3, 1, 3, 2}}, {{3}}}},
        {"aten.convolution.default", {{{2, 4, 5, 6}}, {{4, 4, 3, 2}}, {{4}}}},
        {"aten.gru_cell.default", {{{2, 3}}, {{2, 4}}, {{12, 3}}, {{12, 4}}, {{12}}, {{12}}}},
        {"aten.gru.input", {{{5, 2, 3}}, {{1, 2, 4}}, {{12, 3}, {12, 4}, {12}, {12}}}},
        {"aten.lstm_cell.default", {{{2, 3}}, {{2, 4}, {2, 4}}, {{16, 3}}, {{16, 4}}, {{16}}, {{16}}}},
        {"aten.lstm.input", {{{5, 2, 3}}, {{1, 2, 4}, {1, 2, 4}}, {{16, 3}, {16, 4}, {16}, {16}}}},
        {"aten.rnn_relu.input", {{{5, 2, 3}}, {{1, 2, 4}}, {{4, 3}, {4, 4}, {4}, {4}}}},
        {"aten.rnn_tanh.input", {{{5, 2, 3}}, {{2, 2, 4}}, {{4, 3}, {4, 4}, {4, 3}, {4, 4}}}},
        {"aten.scaled_dot_product_attention.default",
            {{{2, 4, 3, 2}}, {{2, 2, 5, 2}}, {{2, 2, 5, 3}}, {{3, 5}}}},
        {"aten.col2im.default", {{{2, 8, 6}}}},
        {"aten.grid_sampler.default", {{{2, 3, 4, 5}}, {{2, 6, 7, 2}}}},
        {"aten._native_batch_norm_legit_no_training.default", {{{2, 3, 4, 5}}, {{3}}, {{3}}, {{3}}, {{3}}}},
        {"aten.avg_pool1d.default", {{{2, 3, 8}}}},
        {"aten.im2col.default", {{{2, 3, 6, 7}}}},
        {"aten.max_pool2d.default", {{{2, 3, 6, 7}}}},
        {"aten.max_pool2d_with_indices.default", {{{2, 3, 6, 7}}}},
        {"aten.rnn_relu_cell.default", {{{2, 3}}, {{2, 4}}, {{4, 3}}, {{4, 4}}, {{4}}, {{4}}}},
        {"aten.rnn_tanh_cell.default", {{{2, 3}}, {{2, 4}}, {{4, 3}}, {{4, 4}}, {{4}}, {{4}}}},
        {"aten.embedding_bag.default", {{{4, 3}}, {{5}}, {{2}}, {{5}}}},
        {"aten.embedding_bag.padding_idx", {{{4, 3}}, {{5}}, {{2}}, {{5}}}},
        {"aten._embedding_bag.default", {{{4, 3}}, {{5}}, {{2}}, {{5}}}},
        {"aten._embedding_bag_forward_only.default", {{{4, 3}}, {{5}}, {{2}}, {{5}}}},
        {"aten.max_pool3d.default", {{{2, 3, 4, 5, 6}}}},
        {"aten.max_pool3d_with_indices.default", {{{2, 3, 4, 5, 6}}}},
        {"aten.istft.default", {{{2, 2, 4}}, {{2}}}},
    };
    return all;
}

// Ops that take nothing but complex numbers.
constexpr std::string_view ops_of_complex_numbers[] = {
    "aten.istft.default", "aten.imag.default", "aten.view_as_real.default", "aten.view_as_real_copy.default"};

// Lists of numbers that must fit those shapes.
const std::vector<std::pair<std::string_view, std::vector<integers>>>& fitting_integers() {
    static const std::vector<std::pair<std::string_view, std::vector<integers>>> all{
        {"aten.col2im.default", {{3, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}}}};
    return all;
}

}  // namespace

const shape_lists* shapes_of(const op_info& op) {
    for (const auto& [name, shapes] : fitting_shapes()) {
        if (name == op.name) return &shapes;
    }
    return nullptr;
}

arguments small_arguments::draw(const op_info& op) {
    integers base;
    const std::size_t rank = pick<std::size_t>({0, 1, 2, 2, 3, 3, 4, 4, 5});
    for (std::size_t d = 0; d != rank; ++d) base.push_back(pick<std::int64_t>({1, 2, 3, 4}));
    const dtype type =
        pick({dtype::float32, dtype::float32, dtype::float32, dtype::int64, dtype::boolean, dtype::int8});
    const bool takes_complex =
        std::ranges::find(ops_of_complex_numbers, op.name) != std::end(ops_of_complex_numbers);
    return draw(op, takes_complex ? dtype::complex64 : type, base);
}

arguments small_arguments::draw(const op_info& op, dtype type, const integers& base) {
    type_ = type;
    base_ = base;
    arguments all;
    const shape_lists* const fitting = shapes_of(op);
    const std::vector<integers>* lists = nullptr;
    for (const auto& [name, given] : fitting_integers()) {
        if (name == op.name) lists = &given;
    }
    std::size_t next = 0;
    std::size_t next_list = 0;
    for (const field_info& field : op) {
        all.push_back(draw(field));
        if (lists != nullptr && field.kind == field_kind::integers) all.back().ints = (*lists)[next_list++];
        const bool takes_tensors = field.kind <= field_kind::optional_tensors;
        if (!takes_tensors || fitting == nullptr) continue;
        all.back().tensors.clear();
        for (const integers& shape : (*fitting)[next])
            all.back().tensors.push_back(operand{type_of(field, type), shape});
        ++next;
    }
    return all;
}

integers small_arguments::shape() {
    integers s = base_;
    switch (up_to(9)) {
        case 0:
            s.erase(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(up_to(s.size())));
            break;
        case 1:
            s = {base_.empty() ? 1 : base_[up_to(base_.size() - 1)]};
            break;
        case 2:
            s = {};
            break;
        case 3:
            if (!s.empty()) s[up_to(s.size() - 1)] = pick<std::int64_t>({1, 2, 3});
            break;
        case 4:
            if (!s.empty()) s.erase(s.begin() + static_cast<std::ptrdiff_t>(up_to(s.size() - 1)));
            break;
        case 5:
            s.insert(s.begin() + static_cast<std::ptrdiff_t>(up_to(s.size())), 1);
            break;
        default:
            break;
    }
    return s;
}

argument small_arguments::draw(const field_info& field) {
    argument a;
    a.absent = up_to(2) == 0;
    a.ints = {pick<std::int64_t>({0, 1, 1, 2, 3, -1})};
    a.reals = {pick({1.0, 0.5, 2.0, 1e-5})};
    a.number = pick({scalar(1), scalar(2), scalar(0.5), scalar(0), scalar(true)});
    a.type = pick({dtype::float32, dtype::int64, dtype::int8, dtype::boolean, type_});
    a.text = pick({"none", "tanh", "valid", "same", "constant", "reflect", "circular", "replicate", "floor",
        "trunc", "ij", "xy", "i,i", "ij,jk->ik", "...i->i...", "ij->ji", "linear", "nearest"});
    a.tensors = {tensor()};
    if (field.kind == field_kind::tensors || field.kind == field_kind::optional_tensors) {
        for (std::size_t more = up_to(2); more != 0; --more) a.tensors.push_back(tensor());
        if (field.kind == field_kind::optional_tensors && up_to(2) == 0) a.tensors[0].reset();
    }
    if (field.name == "reduce") a.text = pick({"sum", "prod", "mean", "amax", "amin", "add", "multiply"});
    if (holds_indices(field) && a.tensors[0] && up_to(2) != 0) a.tensors[0]->type = dtype::int64;
    if (field.kind == field_kind::integers) {
        const auto count = pick<std::size_t>({0, 1, 1, 1, 2, 2, 3, 4, 6});
        a.ints = up_to(2) == 0 ? shape() : integers(count, pick<std::int64_t>({0, 1}));
        for (std::int64_t& i : a.ints) i = up_to(3) == 0 ? pick<std::int64_t>({0, 1, 1, 2, -1}) : i;
    }
    if (field.kind == field_kind::floatings) a.reals.assign(up_to(3), 2.0);
    return a;
}

argument_struct::argument_struct(
    const op_info& op, const arguments& all, std::function<value(const operand&)> add)
    : op_(&op),
      add_(std::move(add)),
      bytes_(op.args_size / sizeof(std::max_align_t) + 1),
      values_(op.field_count),
      optional_values_(op.field_count) {
    std::memcpy(bytes_.data(), op.default_args, op.args_size);
    for (std::size_t i = 0; i != op.field_count; ++i)
        put(reinterpret_cast<std::byte*>(bytes_.data()) + op.fields[i].offset, i, all[i]);
}

void argument_struct::put(std::byte* at, std::size_t i, const argument& a) {
    const field_info& field = op_->fields[i];
    const std::int64_t first = a.ints.empty() ? 0 : a.ints[0];
    const double real = a.reals.empty() ? 0 : a.reals[0];
    const bool skipped = field.optional && a.absent;  // its tensors would still be operands
    switch (field.kind) {
        case field_kind::tensor: {
            const operand one = a.tensors.empty() ? operand() : a.tensors[0].value_or(operand());
            return store(at, field, skipped ? value() : add_(one), a.absent);
        }
        case field_kind::tensors:
            for (const auto& t : a.tensors) values_[i].push_back(add_(t.value_or(operand())));
            return store(at, field, list<value>(values_[i]), a.absent);
        case field_kind::optional_tensors:
            for (const auto& t : a.tensors) {
                optional_values_[i].push_back(t ? std::optional(add_(*t)) : std::nullopt);
            }
            return store(at, field, list<std::optional<value>>(optional_values_[i]), a.absent);
        case field_kind::integer:
            return store(at, field, first, a.absent);
        case field_kind::integers:
            return store(at, field, int_list(a.ints), a.absent);
        case field_kind::floating:
            return store(at, field, real, a.absent);
        case field_kind::floatings:
            return store(at, field, list<double>(a.reals), a.absent);
        case field_kind::boolean:
            return store(at, field, first % 2 != 0, a.absent);
        case field_kind::number:
            return store(at, field, a.number, a.absent);
        case field_kind::text:
            return store(at, field, std::string_view(a.text), a.absent);
        case field_kind::element_type:
            return store(at, field, a.type, a.absent);
        default:
            return;  // memory formats, and types of other dialects
    }
}

}  // namespace headrace::samples
