// SPDX-License-Identifier: MIT
// Defines the state of the reader of TOSA files within one block.
#ifndef HEADRACE_IO_TOSA_BLOCK_READER_HPP
#define HEADRACE_IO_TOSA_BLOCK_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace::detail {

/// The values, tensors and shapes of a block, by name. The size of the file limits what is built: shared
/// parts let a small file stand for a huge graph.
class tosa_block_reader {
protected:
    using file_operator = tosa_fb::TosaOperator;
    using file_tensor = tosa_fb::TosaTensor;
    using file_names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

    explicit tosa_block_reader(std::size_t budget) : budget_(budget) {}

    // The names of a block, and what they refer to.
    struct scope {
        graph* region;
        std::size_t depth;
        std::unordered_map<std::string_view, const file_tensor*> tensors;
        std::unordered_map<std::string_view, const tosa_fb::TosaShape*> shapes;
        std::unordered_map<std::string_view, value> values;
    };

    static std::string_view view(const flatbuffers::String* text) {
        return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
    }
    static std::string quoted(std::string_view name) { return '\'' + std::string(name) + '\''; }
    static std::size_t size_of(const file_names* names) { return names == nullptr ? 0 : names->size(); }
    // Longer names count as missing: each use hashes the name, and a hostile file has many uses.
    static constexpr std::size_t longest_name = 4096;
    static std::string_view name_at(const file_names* names, std::size_t i) {
        const std::string_view name = view(names->Get(static_cast<flatbuffers::uoffset_t>(i)));
        return name.size() > longest_name ? std::string_view() : name;
    }

    result<void> spend(std::uint64_t amount) {
        if (amount > budget_) return malformed("the file's parts refer to each other too often");
        budget_ -= amount;
        return {};
    }

    result<void> index(const tosa_fb::TosaBasicBlock& block, scope& s) {
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

    static std::string_view variable_name(const file_tensor& t) {
        return size_of_text(t.variable_name()) != 0 ? view(t.variable_name()) : view(t.name());
    }
    static std::size_t size_of_text(const flatbuffers::String* text) {
        return text == nullptr ? 0 : text->size();
    }

    result<tensor_meta> meta_of_tensor(std::string_view name, const scope& s) const {
        const auto found = s.tensors.find(name);
        if (found == s.tensors.end()) return malformed({"there is no tensor ", quoted(name)});
        const file_tensor& t = *found->second;
        const dtype type = tosa_format::element_type(static_cast<std::uint32_t>(t.type()));
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

    result<void> define(std::string_view name, value v, const tensor_meta& meta, scope& s) {
        if (!s.values.emplace(name, v).second) return malformed({quoted(name), " is computed twice"});
        s.region->set_meta(v, meta);
        s.region->set_name(v, name);
        return {};
    }
    static result<value> find(std::string_view name, std::string_view where, const scope& s) {
        const auto found = s.values.find(name);
        if (found == s.values.end()) {
            return malformed({quoted(name), ", among ", where, ", is not computed before"});
        }
        return found->second;
    }

    // Files may hold more data than the shape requires, as for per-channel zero points; never less.
    result<tensor_data> read_data(const file_tensor& t, const tensor_meta& meta, scope& s) {
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

    result<std::vector<std::int64_t>> read_shape(std::string_view name, const scope& s) {
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

private:
    std::uint64_t budget_;
};

}  // namespace headrace::detail

#endif
