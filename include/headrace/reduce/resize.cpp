// SPDX-License-Identifier: MIT
// Defines headrace::reducing::resize.

#include <headrace/reduce/rebuild.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>

namespace headrace::reducing {

namespace {

// Arguments that are sizes, not axes, strides or windows.
constexpr std::array<std::string_view, 9> names_of_sizes{"size", "shape", "output_size", "split_sizes",
    "normalized_shape", "new_shape", "values", "sizes", "repeats"};

bool holds_sizes(const field_info& f) {
    return f.kind == field_kind::integers &&
        std::ranges::find(names_of_sizes, f.name) != names_of_sizes.end();
}

std::int64_t product(sizes shape) {
    std::int64_t all = 1;
    for (const std::int64_t size : shape) all *= size;
    return all;
}

std::vector<std::int64_t> row_major_strides(const int_list& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
    return strides;
}

class resizer {
public:
    resizer(const program& from, const size_change& change)
        : from_(from), change_(change), graph_(std::make_unique<graph>()), copier_(*graph_) {}

    [[nodiscard]] std::optional<program> run() {
        graph_->set_target(from_.graph->target());
        for (node& n : from_.graph->inputs()) {
            if (!copy_source(n)) return std::nullopt;
        }
        for (node& n : from_.graph->nodes()) {
            if (is<builtin::placeholder>(n)) continue;
            if (!(is<builtin::constant>(n) ? copy_source(n) : copy_computed(n))) return std::nullopt;
        }
        if (!changed_) return std::nullopt;
        program made;
        made.graph = std::move(graph_);
        made.user_outputs = from_.user_outputs;
        made.mutations = from_.mutations;
        made.torch_version = from_.torch_version;
        return made;
    }

private:
    [[nodiscard]] std::vector<std::int64_t> changed(sizes shape) {
        std::vector<std::int64_t> made(shape.begin(), shape.end());
        std::ranges::replace(made, change_.from, change_.to);
        return made;
    }

    // Copies an input or a constant.
    [[nodiscard]] bool copy_source(node& n) {
        node& made = copier_.copy(n);
        const tensor_meta* meta = n.results[0].meta;
        if (meta == nullptr) return false;
        if (change_.only != nullptr && change_.only != &n) return true;
        const std::vector<std::int64_t> shape = changed(meta->shape);
        if (std::ranges::equal(shape, meta->shape)) return true;
        if (is<builtin::constant>(n)) {
            if (traits_of(meta->dtype).bits % 8 != 0) return false;
            tensor_data& data = static_cast<args<builtin::constant>*>(made.arguments)->data;
            if (data.strides.empty()) data.strides = graph_->own(int_list(row_major_strides(meta->shape)));
        }
        changed_ = true;
        graph_->set_meta(made.result(), {meta->dtype, int_list(shape), meta->dim_order});
        return true;
    }

    [[nodiscard]] bool copy_computed(node& n) {
        for (const field_info& f : *n.op) {
            if (f.kind == field_kind::region) return false;
        }
        node& made = copier_.copy(n);
        if (is<builtin::output>(n)) return true;
        const bool has_new_operands = std::ranges::any_of(made.operand_edges(),
            [&](const edge& e) { return !same_meta(meta_of(*e.slot), meta_of(n.operand(e.operand))); });
        if (change_.only == nullptr) {
            for (const field_info& f : *n.op) {
                if (holds_sizes(f)) set_sizes(made, f, changed(sizes_of(made, f)));
            }
        }
        if (!has_new_operands && same_arguments(n, made)) return true;
        return infer(made) || infer_with_other_sizes(made);
    }

    [[nodiscard]] static bool same_arguments(const node& n, const node& made) {
        return std::ranges::all_of(*n.op,
            [&](const field_info& f) { return !holds_sizes(f) || sizes_of(n, f) == sizes_of(made, f); });
    }
    [[nodiscard]] static int_list sizes_of(const node& n, const field_info& f) {
        const void* item = f.item_in(n.arguments);
        return item == nullptr ? int_list() : *static_cast<const int_list*>(item);
    }
    void set_sizes(node& n, const field_info& f, const std::vector<std::int64_t>& to) {
        if (const void* item = f.item_in(n.arguments))
            *static_cast<int_list*>(const_cast<void*>(item)) = graph_->own(int_list(to));
    }

    [[nodiscard]] bool infer(node& made) {
        std::pmr::monotonic_buffer_resource arena;
        inference inferred(&arena);
        if (!infer_node(made, inferred) || inferred.results().size() != made.result_count) return false;
        for (std::uint32_t i = 0; i != made.result_count; ++i) {
            const tensor_meta& meta = inferred.results()[i];
            const bool is_open = meta.dtype == dtype::unknown;
            if (is_open || !meta.checked_elements()) return false;
            graph_->set_meta(made.result(i), meta);
        }
        return true;
    }

    // A reshape may have a size that is a product of the one that changed.
    [[nodiscard]] bool infer_with_other_sizes(node& made) {
        if (made.operand_count == 0) return false;
        const std::int64_t elements = meta_of(made.operand(0))->elements();
        for (const field_info& f : *made.op) {
            if (!holds_sizes(f)) continue;
            const int_list now = sizes_of(made, f);
            for (std::size_t i = now.size(); i-- != 0;) {
                std::vector<std::int64_t> other(now.begin(), now.end());
                other[i] = 1;
                const std::int64_t rest = product(other);
                if (rest <= 0 || elements % rest != 0) continue;
                other[i] = elements / rest;
                set_sizes(made, f, other);
                if (infer(made)) return true;
            }
            set_sizes(made, f, {now.begin(), now.end()});
        }
        return false;
    }

    const program& from_;
    const size_change& change_;
    std::unique_ptr<graph> graph_;
    headrace::detail::node_copier copier_;
    bool changed_ = false;
};

}  // namespace

std::optional<program> resize(const program& from, const size_change& change) {
    return resizer(from, change).run();
}

}  // namespace headrace::reducing
