// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/block_reader.hpp.

#include <headrace/io/tosa/block_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

std::string_view tosa_block_reader::name_at(const file_names* names, std::size_t i) {
    const std::string_view name = view(names->Get(static_cast<flatbuffers::uoffset_t>(i)));
    return name.size() > longest_name ? std::string_view() : name;
}

result<void> tosa_block_reader::spend(std::uint64_t amount) {
    if (amount > budget_) return malformed("the file's parts refer to each other too often");
    budget_ -= amount;
    return {};
}

result<void> tosa_block_reader::index(const tosa_fb::TosaBasicBlock& block, scope& s) {
    if (block.tensors() != nullptr) {
        HEADRACE_TRY(spend(block.tensors()->size()));
        for (const file_tensor* t : *block.tensors()) {
            if (!s.tensors.emplace(view(t->name()), t).second) {
                return malformed({"two tensors are named ", quoted(view(t->name()))});
            }
        }
    }
    if (block.shapes() != nullptr) {
        HEADRACE_TRY(spend(block.shapes()->size()));
        for (const tosa_fb::TosaShape* t : *block.shapes()) {
            if (!s.shapes.emplace(view(t->name()), t).second || s.tensors.count(view(t->name())) != 0) {
                return malformed({"two shapes or tensors are named ", quoted(view(t->name()))});
            }
        }
    }
    return {};
}

result<tensor_meta> tosa_block_reader::meta_of_tensor(std::string_view name, const scope& s) const {
    const auto found = s.tensors.find(name);
    if (found == s.tensors.end()) return malformed({"there is no tensor ", quoted(name)});
    const file_tensor& t = *found->second;
    const dtype type = tosa_file::element_type(static_cast<std::uint32_t>(t.type()));
    if (type == dtype::unknown || type == dtype::shape) {
        return unsupported({"tensor ", quoted(name), " has element type ",
            static_cast<std::uint32_t>(t.type()), ", which TOSA 1.0 lacks"});
    }
    if (t.is_unranked()) return unsupported({"the rank of tensor ", quoted(name), " is not known"});
    std::vector<std::int64_t> shape;
    if (t.shape() != nullptr) shape.assign(t.shape()->begin(), t.shape()->end());
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
        return unsupported({"the shape of tensor ", quoted(name), " is not known"});
    }
    if (shape.size() > int_list::inline_capacity) {
        return unsupported(
            {"tensor ", quoted(name), " has more than ", int_list::inline_capacity, " dimensions"});
    }
    const tensor_meta meta{type, shape, {}};
    const auto elements = meta.checked_elements();
    if (!elements || *elements > std::numeric_limits<std::int64_t>::max() / 64) {
        return malformed({"the shape of tensor ", quoted(name), " is too large"});
    }
    return meta;
}

result<void> tosa_block_reader::define(std::string_view name, value v, const tensor_meta& meta, scope& s) {
    if (!s.values.emplace(name, v).second) return malformed({quoted(name), " is computed twice"});
    s.region->set_meta(v, meta);
    s.region->set_name(v, name);
    return {};
}

result<value> tosa_block_reader::find(std::string_view name, std::string_view where, const scope& s) {
    const auto found = s.values.find(name);
    if (found == s.values.end()) {
        return malformed({quoted(name), ", among ", where, ", is not computed before"});
    }
    return found->second;
}

result<tensor_data> tosa_block_reader::read_data(const file_tensor& t, const tensor_meta& meta, scope& s) {
    if (t.offset() > 1)
        return unsupported({"the data of tensor ", quoted(view(t.name())), " is in another file"});
    const auto bytes = storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
    if (bytes > (t.data() == nullptr ? 0 : t.data()->size())) {
        return malformed(
            {"tensor ", quoted(view(t.name())), " needs ", bytes, " bytes of data, but has fewer"});
    }
    HEADRACE_TRY(spend(bytes));
    const std::span<std::byte> copy = s.region->allocate_data(bytes);
    if (bytes != 0) std::memcpy(copy.data(), t.data()->data(), bytes);
    return tensor_data{copy.data(), {}};
}

result<std::vector<std::int64_t>> tosa_block_reader::read_shape(std::string_view name, const scope& s) {
    const auto found = s.shapes.find(name);
    if (found == s.shapes.end()) return malformed({"there is no shape ", quoted(name)});
    const tosa_fb::TosaShape& shape = *found->second;
    const std::size_t bytes = shape.data() == nullptr ? 0 : shape.data()->size();
    if (bytes != std::size_t{8} * shape.rank()) {
        return malformed({"shape ", quoted(name), " does not have ", shape.rank(), " elements"});
    }
    HEADRACE_TRY(spend(bytes));
    std::vector<std::int64_t> values(shape.rank());
    if (bytes != 0) std::memcpy(values.data(), shape.data()->data(), bytes);
    return values;
}

}  // namespace headrace::tosa_file
