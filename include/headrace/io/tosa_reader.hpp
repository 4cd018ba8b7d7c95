// SPDX-License-Identifier: MIT
// Defines headrace::read_tosa, which reads a TOSA 1.0 flatbuffer into a graph of the tosa dialect.
#ifndef HEADRACE_IO_TOSA_READER_HPP
#define HEADRACE_IO_TOSA_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa_format.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace {

namespace detail {

class tosa_reader {
public:
    [[nodiscard]] static result<void> read(std::span<const std::byte> file, graph& into) {
        if (file.size() < 8 || file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
            return malformed("not a TOSA file: its size is " + std::to_string(file.size()) + " bytes");
        }
        std::vector<std::uint64_t> aligned;  // scalars of up to 8 bytes are read in place
        if (reinterpret_cast<std::uintptr_t>(file.data()) % alignof(std::uint64_t) != 0) {
            aligned.resize(file.size() / 8 + 1);
            std::memcpy(aligned.data(), file.data(), file.size());
            file = {reinterpret_cast<const std::byte*>(aligned.data()), file.size()};
        }
        BOOST_OUTCOME_TRY(opened, tosa_format::open_file(file));
        return tosa_reader(*opened, file.size()).read_all(into);
    }

private:
    using file_operator = tosa_fb::TosaOperator;
    using file_tensor = tosa_fb::TosaTensor;
    using file_names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

    tosa_reader(const tosa_fb::TosaGraph& file, std::size_t size) : file_(file), budget_(size) {}

    result<void> read_all(graph& into) { return read_region(*file_.regions()->Get(0), into, 0); }

    // What the names of a block stand for.
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
    // Longer names are taken for missing: a name is hashed at each use, which a hostile file has many of.
    static constexpr std::size_t longest_name = 4096;
    static std::string_view name_at(const file_names* names, std::size_t i) {
        const std::string_view name = view(names->Get(static_cast<flatbuffers::uoffset_t>(i)));
        return name.size() > longest_name ? std::string_view() : name;
    }

    // Shared parts let a small file stand for a huge graph; what is built is held to the file's own size.
    result<void> spend(std::uint64_t amount) {
        if (amount > budget_) return malformed("the file's parts refer to each other too often");
        budget_ -= amount;
        return boost::outcome_v2::success();
    }

    result<void> read_region(const tosa_fb::TosaRegion& region, graph& g, std::size_t depth) {
        if (depth > static_cast<std::size_t>(tosa::level_8k::max_nesting)) {
            return malformed("region " + quoted(view(region.name())) + " is nested too deeply");
        }
        if (region.blocks() == nullptr || region.blocks()->size() != 1) {
            return malformed("region " + quoted(view(region.name())) + " does not have one block");
        }
        const tosa_fb::TosaBasicBlock& block = *region.blocks()->Get(0);
        scope s{.region = &g, .depth = depth, .tensors = {}, .shapes = {}, .values = {}};
        BOOST_OUTCOME_TRY(index(block, s));
        BOOST_OUTCOME_TRY(read_inputs(block, s));
        BOOST_OUTCOME_TRY(read_variables(block, s));
        if (block.operators() != nullptr) {
            for (const file_operator* o : *block.operators()) {
                BOOST_OUTCOME_TRY(read_operator(*o, s));
            }
        }
        std::vector<value> outputs;
        for (std::size_t i = 0; i != size_of(block.outputs()); ++i) {
            BOOST_OUTCOME_TRY(v, find(name_at(block.outputs(), i), "the block's outputs", s));
            outputs.push_back(v);
        }
        g.create<builtin::output>({.values = outputs});
        return boost::outcome_v2::success();
    }

    result<void> index(const tosa_fb::TosaBasicBlock& block, scope& s) {
        if (block.tensors() != nullptr) {
            BOOST_OUTCOME_TRY(spend(block.tensors()->size()));
            for (const file_tensor* t : *block.tensors()) {
                if (!s.tensors.emplace(view(t->name()), t).second) {
                    return malformed("two tensors are named " + quoted(view(t->name())));
                }
            }
        }
        if (block.shapes() != nullptr) {
            BOOST_OUTCOME_TRY(spend(block.shapes()->size()));
            for (const tosa_fb::TosaShape* t : *block.shapes()) {
                if (!s.shapes.emplace(view(t->name()), t).second || s.tensors.count(view(t->name())) != 0) {
                    return malformed("two shapes or tensors are named " + quoted(view(t->name())));
                }
            }
        }
        return boost::outcome_v2::success();
    }

    result<void> read_inputs(const tosa_fb::TosaBasicBlock& block, scope& s) {
        for (std::size_t i = 0; i != size_of(block.inputs()); ++i) {
            const std::string_view name = name_at(block.inputs(), i);
            BOOST_OUTCOME_TRY(spend(1));
            BOOST_OUTCOME_TRY(meta, meta_of_tensor(name, s));
            BOOST_OUTCOME_TRY(define(name, s.region->create<builtin::placeholder>({}).result(), meta, s));
        }
        return boost::outcome_v2::success();
    }

    result<void> read_variables(const tosa_fb::TosaBasicBlock& block, scope& s) {
        if (block.tensors() == nullptr) return boost::outcome_v2::success();
        for (const file_tensor* t : *block.tensors()) {
            if (!t->variable()) continue;
            BOOST_OUTCOME_TRY(meta, meta_of_tensor(view(t->name()), s));
            tosa::variable::args a{variable_name(*t), meta.shape, meta.dtype};
            if (t->data() != nullptr && t->data()->size() != 0) {
                BOOST_OUTCOME_TRY(data, read_data(*t, meta, s));
                a.initial_value = data;
            }
            s.region->create<tosa::variable>(a);
        }
        return boost::outcome_v2::success();
    }
    static std::string_view variable_name(const file_tensor& t) {
        return size_of_text(t.variable_name()) != 0 ? view(t.variable_name()) : view(t.name());
    }
    static std::size_t size_of_text(const flatbuffers::String* text) {
        return text == nullptr ? 0 : text->size();
    }

    result<tensor_meta> meta_of_tensor(std::string_view name, const scope& s) const {
        const auto found = s.tensors.find(name);
        if (found == s.tensors.end()) return malformed("there is no tensor " + quoted(name));
        const file_tensor& t = *found->second;
        const dtype type = tosa_format::element_type(static_cast<std::uint32_t>(t.type()));
        if (type == dtype::unknown || type == dtype::shape) {
            return unsupported("tensor " + quoted(name) + " has element type " +
                               std::to_string(static_cast<std::uint32_t>(t.type())) +
                               ", which TOSA 1.0 lacks");
        }
        if (t.is_unranked()) return unsupported("the rank of tensor " + quoted(name) + " is not known");
        std::vector<std::int64_t> shape;
        if (t.shape() != nullptr) shape.assign(t.shape()->begin(), t.shape()->end());
        if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
            return unsupported("the shape of tensor " + quoted(name) + " is not known");
        }
        if (shape.size() > int_list::inline_capacity) {
            return unsupported("tensor " + quoted(name) + " has more than " +
                               std::to_string(int_list::inline_capacity) + " dimensions");
        }
        const tensor_meta meta{type, shape, {}};
        const auto elements = meta.checked_elements();
        if (!elements || *elements > std::numeric_limits<std::int64_t>::max() / 64) {
            return malformed("the shape of tensor " + quoted(name) + " is too large");
        }
        return meta;
    }

    result<void> define(std::string_view name, value v, const tensor_meta& meta, scope& s) {
        if (!s.values.emplace(name, v).second) return malformed(quoted(name) + " is computed twice");
        s.region->set_meta(v, meta);
        s.region->set_name(v, name);
        return boost::outcome_v2::success();
    }
    static result<value> find(std::string_view name, std::string_view where, const scope& s) {
        const auto found = s.values.find(name);
        if (found == s.values.end()) {
            return malformed(quoted(name) + ", among " + std::string(where) + ", is not computed before");
        }
        return found->second;
    }

    // Files may hold more than the shape takes, as per-channel zero points do; never less.
    result<tensor_data> read_data(const file_tensor& t, const tensor_meta& meta, scope& s) {
        if (t.offset() > 1)
            return unsupported("the data of tensor " + quoted(view(t.name())) + " is in another file");
        const auto bytes = storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
        if (bytes > (t.data() == nullptr ? 0 : t.data()->size())) {
            return malformed("tensor " + quoted(view(t.name())) + " takes " + std::to_string(bytes) +
                             " bytes of data, which are not there");
        }
        BOOST_OUTCOME_TRY(spend(bytes));
        const std::span<std::byte> copy = s.region->allocate_data(bytes);
        if (bytes != 0) std::memcpy(copy.data(), t.data()->data(), bytes);
        return tensor_data{copy.data(), {}};
    }

    result<void> read_operator(const file_operator& o, scope& s) {
        BOOST_OUTCOME_TRY(spend(1 + size_of(o.inputs()) + size_of(o.outputs())));
        const std::uint32_t number = tosa_format::number_of(o);
        if (number == 0 || number > tosa::dialect::size) {
            return unsupported("operator number " + std::to_string(number) + " is not of TOSA 1.0");
        }
        const op_info& op = *op_table<tosa::dialect>[number - 1];
        if (&op == &info_of<tosa::variable>)
            return boost::outcome_v2::success();  // its tensor has declared it
        std::string where(op.name);
        if (size_of(o.outputs()) != 0) where += ' ' + quoted(name_at(o.outputs(), 0));

        alignas(std::max_align_t) std::byte arguments[max_args_size];
        std::memcpy(arguments, op.default_args, op.args_size);
        std::vector<value> operands;
        std::vector<std::vector<std::int64_t>> lists;
        if (&op == &info_of<tosa::variable_read> || &op == &info_of<tosa::variable_write>) {
            return read_variable_access(o, op, where, s);
        }
        BOOST_OUTCOME_TRY(read_operands(o, op, where, arguments, operands, s));
        BOOST_OUTCOME_TRY(read_attributes(o, op, where, arguments, lists, operands, s));
        return create(o, op, where, arguments, lists, s);
    }

    result<void> read_variable_access(const file_operator& o, const op_info& op, const std::string& where,
                                      scope& s) {
        const bool reads = &op == &info_of<tosa::variable_read>;
        if (size_of(o.inputs()) != 1 || size_of(o.outputs()) != 1) {
            return malformed(where + ": has more or less than one input and output");
        }
        const std::string_view name = name_at(reads ? o.inputs() : o.outputs(), 0);
        const auto found = s.tensors.find(name);
        if (found == s.tensors.end() || !found->second->variable()) {
            return malformed(where + ": " + quoted(name) + " is not a variable");
        }
        const std::string_view variable = variable_name(*found->second);
        if (!reads) {
            BOOST_OUTCOME_TRY(v, find(name_at(o.inputs(), 0), where, s));
            s.region->create<tosa::variable_write>({v, variable});
            return boost::outcome_v2::success();
        }
        BOOST_OUTCOME_TRY(meta, meta_of_tensor(name_at(o.outputs(), 0), s));
        node& n = s.region->create<tosa::variable_read>({variable, meta.shape, meta.dtype});
        return define(name_at(o.outputs(), 0), n.result(), meta, s);
    }

    static constexpr std::size_t max_args_size = [] {
        std::size_t most = 0;
        for (const op_info* op : op_table<tosa::dialect>) most = std::max<std::size_t>(most, op->args_size);
        return most;
    }();

    result<void> read_operands(const file_operator& o, const op_info& op, const std::string& where,
                               std::byte* arguments, std::vector<value>& operands, const scope& s) {
        for (std::size_t i = 0; i != size_of(o.inputs()); ++i) {
            BOOST_OUTCOME_TRY(v, find(name_at(o.inputs(), i), "the operands of " + where, s));
            operands.push_back(v);
        }
        std::size_t next = 0;
        for (const field_info& f : op) {
            if (f.kind == field_kind::tensor) {
                if (next == operands.size())
                    return malformed(where + ": the operand " + std::string(f.name) + " is missing");
                tosa_format::member<value>(arguments, f) = operands[next++];
            } else if (f.kind == field_kind::tensors) {  // always the last operand
                tosa_format::member<list<value>>(arguments, f) = {operands.data() + next,
                                                                  operands.size() - next};
                next = operands.size();
            }
        }
        if (next != operands.size()) return malformed(where + ": has too many operands");
        return boost::outcome_v2::success();
    }

    result<void> read_attributes(const file_operator& o, const op_info& op, const std::string& where,
                                 std::byte* arguments, std::vector<std::vector<std::int64_t>>& lists,
                                 const std::vector<value>& operands, scope& s) {
        const auto* table = static_cast<const flatbuffers::Table*>(o.attribute());
        const bool any =
            std::any_of(op.begin(), op.end(), [&](const auto& f) { return tosa::is_attribute(op, f); });
        if (!any) return boost::outcome_v2::success();
        if (table == nullptr || static_cast<std::uint32_t>(o.attribute_type()) != tosa::number_of(op)) {
            return malformed(where + ": its attribute table is of another operator, or missing");
        }
        flatbuffers::voffset_t slot = 4;
        for (const field_info& f : op) {
            if (!tosa::is_attribute(op, f)) continue;
            BOOST_OUTCOME_TRY(read_attribute(*table, slot, f, where, arguments, lists, operands, s));
            slot = static_cast<flatbuffers::voffset_t>(slot + 2);
        }
        return boost::outcome_v2::success();
    }

    // The verifier has checked each table against the schema, hence the type of each slot.
    result<void> read_attribute(const flatbuffers::Table& table, flatbuffers::voffset_t slot,
                                const field_info& f, const std::string& where, std::byte* arguments,
                                std::vector<std::vector<std::int64_t>>& lists,
                                const std::vector<value>& operands, scope& s) {
        switch (f.kind) {
            case field_kind::integer:
                tosa_format::member<std::int64_t>(arguments, f) = table.GetField<std::int32_t>(slot, 0);
                break;
            case field_kind::boolean:
                tosa_format::member<bool>(arguments, f) = table.GetField<std::uint8_t>(slot, 0) != 0;
                break;
            case field_kind::element_type: {
                const auto number = table.GetField<std::uint32_t>(slot, 0);
                const dtype type = tosa_format::element_type(number);
                if (number != 0 && type == dtype::unknown) return no_such(where, f, number);
                tosa_format::member<dtype>(arguments, f) = type;
                break;
            }
            case field_kind::resize:
            case field_kind::nan:
            case field_kind::rounding: {
                const auto number = table.GetField<std::uint32_t>(slot, 0);
                const std::uint32_t last = f.kind == field_kind::rounding ? 3 : 2;
                if (number > last) return no_such(where, f, number);
                tosa_format::member<std::uint8_t>(arguments, f) = static_cast<std::uint8_t>(number);
                break;
            }
            case field_kind::integers: {
                const auto* items = table.GetPointer<const flatbuffers::Vector<std::int32_t>*>(slot);
                if (items == nullptr) return malformed(where + ": " + std::string(f.name) + " is missing");
                BOOST_OUTCOME_TRY(spend(items->size()));
                lists.emplace_back(items->begin(), items->end());
                tosa_format::member<int_list>(arguments, f) = int_list(lists.back());
                break;
            }
            case field_kind::number: {
                const auto* bytes = table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(slot);
                const dtype type = meta_of(operands[0])->dtype;
                if (bytes == nullptr || bytes->size() != storage_bytes(type, 1)) {
                    return malformed(where + ": " + std::string(f.name) +
                                     " is not one number of its operand's type");
                }
                tosa_format::member<scalar>(arguments, f) = tosa_format::decode_element(bytes->data(), type);
                break;
            }
            case field_kind::text: {
                // A [ubyte], as implementation_attrs is, differs from a string only in the zero behind it.
                const auto* text = table.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(slot);
                if (text == nullptr) break;
                BOOST_OUTCOME_TRY(spend(text->size()));
                tosa_format::member<std::string_view>(arguments, f) = {
                    reinterpret_cast<const char*>(text->data()), text->size()};
                break;
            }
            case field_kind::region: {
                BOOST_OUTCOME_TRY(
                    region,
                    read_named_region(view(table.GetPointer<const flatbuffers::String*>(slot)), where, s));
                tosa_format::member<graph*>(arguments, f) = region;
                break;
            }
            default:
                break;
        }
        return boost::outcome_v2::success();
    }
    static error no_such(const std::string& where, const field_info& f, std::uint32_t number) {
        return malformed(where + ": " + std::string(f.name) + " has no value " + std::to_string(number));
    }

    result<graph*> read_named_region(std::string_view name, const std::string& where, scope& s) {
        for (const tosa_fb::TosaRegion* region : *file_.regions()) {
            if (view(region->name()) != name || name.empty()) continue;
            BOOST_OUTCOME_TRY(spend(1));
            graph& nested = s.region->create_region();
            BOOST_OUTCOME_TRY(read_region(*region, nested, s.depth + 1));
            return &nested;
        }
        return malformed(where + ": there is no region " + quoted(name));
    }

    result<void> create(const file_operator& o, const op_info& op, const std::string& where,
                        std::byte* arguments, std::vector<std::vector<std::int64_t>>& lists, scope& s) {
        const std::size_t count = size_of(o.outputs());
        if (op.results >= 0 && count != static_cast<std::size_t>(op.results)) {
            return malformed(where + ": has " + std::to_string(count) + " results, not " +
                             std::to_string(op.results));
        }
        std::vector<tensor_meta> metas;
        for (std::size_t i = 0; i != count; ++i) {
            const std::string_view name = name_at(o.outputs(), i);
            if (&op == &info_of<tosa::const_shape>) {
                BOOST_OUTCOME_TRY(values, read_shape(name, s));
                lists.push_back(std::move(values));
                tosa_format::member<int_list>(arguments, op.fields[0]) = int_list(lists.back());
                metas.push_back({dtype::shape, {static_cast<std::int64_t>(lists.back().size())}, {}});
            } else {
                BOOST_OUTCOME_TRY(meta, meta_of_tensor(name, s));
                metas.push_back(meta);
            }
        }
        if (const field_info* type = op.find("output_type")) {
            tosa_format::member<dtype>(arguments, *type) = metas[0].dtype;
        }
        if (&op == &info_of<tosa::const_>) {
            BOOST_OUTCOME_TRY(data, read_data(*s.tensors.find(name_at(o.outputs(), 0))->second, metas[0], s));
            tosa_format::member<tensor_data>(arguments, op.fields[0]) = data;
        }
        node& n = s.region->create(op, arguments, count);
        for (std::size_t i = 0; i != count; ++i) {
            BOOST_OUTCOME_TRY(
                define(name_at(o.outputs(), i), n.result(static_cast<std::uint32_t>(i)), metas[i], s));
        }
        return boost::outcome_v2::success();
    }

    result<std::vector<std::int64_t>> read_shape(std::string_view name, const scope& s) {
        const auto found = s.shapes.find(name);
        if (found == s.shapes.end()) return malformed("there is no shape " + quoted(name));
        const tosa_fb::TosaShape& shape = *found->second;
        const std::size_t bytes = shape.data() == nullptr ? 0 : shape.data()->size();
        if (bytes != std::size_t{8} * shape.rank()) {
            return malformed("shape " + quoted(name) + " has other than " + std::to_string(shape.rank()) +
                             " elements");
        }
        BOOST_OUTCOME_TRY(spend(bytes));
        std::vector<std::int64_t> values(shape.rank());
        if (bytes != 0) std::memcpy(values.data(), shape.data()->data(), bytes);
        return values;
    }

    const tosa_fb::TosaGraph& file_;
    std::uint64_t budget_;
};

}  // namespace detail

/// Reads a TOSA 1.0 file, or one of a later 1.x that uses only what 1.0 has. Inputs become
/// builtin.placeholder, CONST operators tosa.CONST with a copy of their data, and values keep their names.
/// The file may be hostile: whatever it holds gives a graph or an error, in time and memory that its size
/// bounds.
///
/// Fails with `malformed` if the file breaks the format, names what is not there or uses a value before it is
/// computed, and with `unsupported` on operators and types that TOSA 1.0 lacks and on shapes that are not
/// static.
[[nodiscard]] inline result<std::unique_ptr<graph>> read_tosa(std::span<const std::byte> file) {
    auto g = std::make_unique<graph>();
    BOOST_OUTCOME_TRYV(detail::tosa_reader::read(file, *g));
    return g;
}

/// The same, into an empty graph, such as a region that is to call it.
[[nodiscard]] inline result<void> read_tosa(std::span<const std::byte> file, graph& into) {
    return detail::tosa_reader::read(file, into);
}

}  // namespace headrace

#endif
