// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/run_time.hpp.

#include <headrace/io/pt2/run_time.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/io/pt2/arguments.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/masks.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

run_time_reader::run_time_reader(scope& names, json_parser& json, symbol_table& symbols, constant_truth truth,
    std::pmr::memory_resource* scratch)
    : names_(names),
      json_(json),
      symbols_(symbols),
      graph_(names.owner()),
      masks_(graph_, truth),
      convert_(names, scratch),
      scratch_(scratch) {}

node* run_time_reader::read(std::string_view target, std::string_view inputs, std::string_view result) {
    constexpr std::array selections{"aten.select.int", "aten.select_copy.int", "aten.narrow.default",
        "aten.narrow_copy.default", "aten.slice.Tensor", "aten.slice_copy.Tensor"};
    const auto is_one = [&](std::string_view name) { return target == name; };
    if (std::any_of(selections.begin(), selections.end(), is_one))
        return inputs.find("as_name") == std::string_view::npos ? nullptr : select(inputs, result);
    if (target == "aten.index.Tensor") return index(inputs, result);
    if (target == "aten.masked_select.default") return select_masked(inputs, result);
    if (target == "aten.nonzero.default") return find_nonzero(inputs, result);
    return nullptr;
}

value run_time_reader::element_of(value tensor) {
    const tensor_meta meta = *meta_of(tensor);
    const value copy = graph_.create<aten::clone>({.self = tensor}).result();
    graph_.set_meta(copy, {meta.dtype, meta.shape, {}});
    if (meta.rank() == 0) return copy;
    const value element = graph_.create<aten::view>({.self = copy, .size = int_list()}).result();
    graph_.set_meta(element, {meta.dtype, {}, {}});
    return element;
}

node* run_time_reader::select(std::string_view inputs, std::string_view result) {
    selection s;
    for_each_input(inputs, [&](std::string_view name, std::string_view text) {
        const argument a(json_.parse(text));
        if (name == "self") convert_.convert(a, s.self);
        if (name == "dim") convert_.convert(a, s.dim);
        if (name == "step") convert_.convert(a, s.step);
        if (name == "index" || name == "start") s.start = convert_.tensor_of_number(a);
        s.is_range = s.is_range && name != "index";
    });
    const auto sizes = names_.sizes_of(result);
    if (!s.self || !s.start || meta_of(s.self) == nullptr || !sizes) return nullptr;
    if (s.dim < 0) s.dim += static_cast<std::int64_t>(meta_of(s.self)->rank());
    const auto axis = static_cast<std::size_t>(s.dim);
    if (axis >= meta_of(s.self)->rank() || (s.is_range && axis >= sizes->count)) return nullptr;
    constexpr std::int64_t longest = std::int64_t{1} << 24;
    const std::int64_t count = s.is_range ? sizes->items[axis] : 1;
    if (count > longest || count > meta_of(s.self)->shape[axis] || s.step < 1 || s.step > longest)
        return nullptr;
    value at = as_int64(s.start);
    if (s.is_range) at = range(at, count, s.step);
    pmr_vector<std::optional<value>> indices(axis, std::nullopt, scratch_);
    indices.emplace_back(at);
    return &graph_.create<aten::index_tensor>({.self = s.self, .indices = indices});
}

value run_time_reader::as_int64(value element) {
    if (meta_of(element)->dtype == dtype::int64) return element;
    const value cast = graph_.create<aten::_to_copy>({.self = element, .dtype = dtype::int64}).result();
    graph_.set_meta(cast, {dtype::int64, {}, {}});
    return cast;
}

value run_time_reader::range(value start, std::int64_t count, std::int64_t step) {
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i != count; ++i) steps.push_back(i * step);
    const value offsets = masks_.constant(steps);
    const value indices = graph_.create<aten::add_tensor>({.self = offsets, .other = start}).result();
    graph_.set_meta(indices, {dtype::int64, {count}, {}});
    return indices;
}

node* run_time_reader::index(std::string_view inputs, std::string_view result) {
    value self;
    list<std::optional<value>> given;
    bool has_mask = false;
    for_each_input(inputs, [&](std::string_view name, std::string_view text) {
        const argument a(json_.parse(text));
        if (name == "self") convert_.convert(a, self);
        if (name == "indices" && convert_.convert(a, given)) {
            for (const std::optional<value>& v : given)
                has_mask = has_mask || (v && mask_reader::is_mask(*v));
        }
    });
    if (!self || !has_mask) return nullptr;
    pmr_vector<std::optional<value>> indices(given.begin(), given.end(), scratch_);
    const auto count = masks_.replace(indices);
    if (!count || !set_size(result, *count)) return nullptr;
    return &graph_.create<aten::index_tensor>({.self = self, .indices = indices});
}

node* run_time_reader::select_masked(std::string_view inputs, std::string_view result) {
    value self;
    value mask;
    read_two(inputs, "self", self, "mask", mask);
    if (!self || !mask || meta_of(self) == nullptr || meta_of(mask) == nullptr ||
        meta_of(self)->shape != meta_of(mask)->shape || meta_of(self)->rank() == 0)
        return nullptr;
    pmr_vector<std::optional<value>> indices(scratch_);
    indices.emplace_back(mask);
    const auto count = masks_.replace(indices);
    if (!count || !set_size(result, *count)) return nullptr;
    return &graph_.create<aten::index_tensor>({.self = self, .indices = indices});
}

node* run_time_reader::find_nonzero(std::string_view inputs, std::string_view result) {
    value self;
    value none;
    read_two(inputs, "self", self, "", none);
    const auto found = self ? masks_.positions(self) : std::nullopt;
    if (!found || !set_size(result, found->count)) return nullptr;
    return masks_.table(*found).producer;
}

void run_time_reader::read_two(
    std::string_view inputs, std::string_view first, value& a, std::string_view second, value& b) {
    for_each_input(inputs, [&](std::string_view name, std::string_view text) {
        const argument given(json_.parse(text));
        if (name == first) convert_.convert(given, a);
        if (name == second) convert_.convert(given, b);
    });
}

bool run_time_reader::set_size(std::string_view result, std::size_t count) {
    const std::string formula = names_.open_size(result);
    return formula.empty() || symbols_.set_computed(formula, static_cast<std::int64_t>(count));
}

}  // namespace headrace::pt2
