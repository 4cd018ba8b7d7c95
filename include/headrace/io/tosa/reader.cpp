// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/tosa/reader.hpp.

#include <headrace/io/tosa/reader.hpp>

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

#include <headrace/base/result.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/attribute_reader.hpp>
#include <headrace/io/tosa/block_reader.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace {

namespace tosa_file {

namespace {

/// Reads a whole file.
class tosa_reader : tosa_attribute_reader {
public:
    [[nodiscard]] static result<void> read(std::span<const std::byte> file, graph& into) {
        if (file.size() < 8 || file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
            return malformed({"not a TOSA file: its size is ", file.size(), " bytes"});
        }
        std::vector<std::uint64_t> aligned;  // scalars of up to 8 bytes are read in place
        if (reinterpret_cast<std::uintptr_t>(file.data()) % alignof(std::uint64_t) != 0) {
            aligned.resize(file.size() / 8 + 1);
            std::memcpy(aligned.data(), file.data(), file.size());
            file = {reinterpret_cast<const std::byte*>(aligned.data()), file.size()};
        }
        HEADRACE_TRY(opened, tosa_file::open_file(file));
        return tosa_reader(*opened, file.size()).read_all(into);
    }

private:
    tosa_reader(const tosa_fb::TosaGraph& file, std::size_t size) : tosa_attribute_reader(size), file_(file) {
        for (const tosa_fb::TosaRegion* region : *file.regions())
            regions_.try_emplace(view(region->name()), region);
    }

    result<void> read_all(graph& into) { return read_region(*file_.regions()->Get(0), into, 0); }

    result<void> read_region(const tosa_fb::TosaRegion& region, graph& g, std::size_t depth) {
        if (depth > static_cast<std::size_t>(tosa::level_8k::max_nesting)) {
            return malformed({"region ", quoted(view(region.name())), " is nested too deeply"});
        }
        if (region.blocks() == nullptr || region.blocks()->size() != 1) {
            return malformed({"region ", quoted(view(region.name())), " does not have one block"});
        }
        const tosa_fb::TosaBasicBlock& block = *region.blocks()->Get(0);
        scope s{.region = &g, .depth = depth, .tensors = {}, .shapes = {}, .values = {}};
        HEADRACE_TRY(index(block, s));
        HEADRACE_TRY(read_inputs(block, s));
        HEADRACE_TRY(read_variables(block, s));
        if (block.operators() != nullptr) {
            for (const file_operator* o : *block.operators()) {
                HEADRACE_TRY(read_operator(*o, s));
            }
        }
        std::vector<value> outputs;
        for (std::size_t i = 0; i != size_of(block.outputs()); ++i) {
            HEADRACE_TRY(v, find(name_at(block.outputs(), i), "the block's outputs", s));
            outputs.push_back(v);
        }
        g.create<builtin::output>({.values = outputs});
        return {};
    }

    result<void> read_inputs(const tosa_fb::TosaBasicBlock& block, scope& s) {
        for (std::size_t i = 0; i != size_of(block.inputs()); ++i) {
            const std::string_view name = name_at(block.inputs(), i);
            HEADRACE_TRY(spend(1));
            HEADRACE_TRY(meta, meta_of_tensor(name, s));
            HEADRACE_TRY(define(name, s.region->create<builtin::placeholder>({}).result(), meta, s));
        }
        return {};
    }

    result<void> read_variables(const tosa_fb::TosaBasicBlock& block, scope& s) {
        if (block.tensors() == nullptr) return {};
        for (const file_tensor* t : *block.tensors()) {
            if (!t->variable()) continue;
            HEADRACE_TRY(meta, meta_of_tensor(view(t->name()), s));
            tosa::variable::args a{variable_name(*t), meta.shape, meta.dtype};
            if (t->data() != nullptr && t->data()->size() != 0) {
                HEADRACE_TRY(data, read_data(*t, meta, s));
                a.initial_value = data;
            }
            s.region->create<tosa::variable>(a);
        }
        return {};
    }
    result<void> read_operator(const file_operator& o, scope& s) {
        HEADRACE_TRY(spend(1 + size_of(o.inputs()) + size_of(o.outputs())));
        const std::uint32_t number = tosa_file::number_of(o);
        if (number == 0 || number > tosa::dialect::size) {
            return unsupported({"operator number ", number, " is not in TOSA 1.0"});
        }
        const op_info& op = *op_table<tosa::dialect>[number - 1];
        if (&op == &info_of<tosa::variable>) return {};  // its tensor has declared it
        alignas(std::max_align_t) std::byte arguments[max_args_size];
        std::memcpy(arguments, op.default_args, op.args_size);
        opened_operator into{.where = std::string(op.name), .arguments = arguments};
        if (size_of(o.outputs()) != 0) into.where += ' ' + quoted(name_at(o.outputs(), 0));
        if (&op == &info_of<tosa::variable_read> || &op == &info_of<tosa::variable_write>) {
            return read_variable_access(o, op, into.where, s);
        }
        HEADRACE_TRY(read_operands(o, op, into, s));
        HEADRACE_TRY(read_attributes(o, op, into, s));
        return create(o, op, into, s);
    }

    result<void> read_variable_access(
        const file_operator& o, const op_info& op, const std::string& where, scope& s) {
        const bool reads = &op == &info_of<tosa::variable_read>;
        if (size_of(o.inputs()) != 1 || size_of(o.outputs()) != 1) {
            return malformed({where, ": has more or less than one input and output"});
        }
        const std::string_view name = name_at(reads ? o.inputs() : o.outputs(), 0);
        const auto found = s.tensors.find(name);
        if (found == s.tensors.end() || !found->second->variable()) {
            return malformed({where, ": ", quoted(name), " is not a variable"});
        }
        const std::string_view variable = variable_name(*found->second);
        if (!reads) {
            HEADRACE_TRY(v, find(name_at(o.inputs(), 0), where, s));
            s.region->create<tosa::variable_write>({v, variable});
            return {};
        }
        HEADRACE_TRY(meta, meta_of_tensor(name_at(o.outputs(), 0), s));
        node& n = s.region->create<tosa::variable_read>({variable, meta.shape, meta.dtype});
        return define(name_at(o.outputs(), 0), n.result(), meta, s);
    }

    static constexpr std::size_t max_args_size = [] {
        std::size_t largest = 0;
        for (const op_info* op : op_table<tosa::dialect>)
            largest = std::max<std::size_t>(largest, op->args_size);
        return largest;
    }();

    static result<void> read_operands(
        const file_operator& o, const op_info& op, opened_operator& into, const scope& s) {
        std::vector<value>& operands = into.operands;
        for (std::size_t i = 0; i != size_of(o.inputs()); ++i) {
            HEADRACE_TRY(v, find(name_at(o.inputs(), i), "the operands of " + into.where, s));
            operands.push_back(v);
        }
        std::size_t next = 0;
        for (const field_info& f : op) {
            if (f.kind == field_kind::tensor) {
                if (next == operands.size())
                    return malformed({into.where, ": the operand ", f.name, " is missing"});
                detail::member_at<value>(into.arguments, f) = operands[next++];
            } else if (f.kind == field_kind::tensors) {  // always the last operand
                detail::member_at<list<value>>(into.arguments, f) = {
                    operands.data() + next, operands.size() - next};
                next = operands.size();
            }
        }
        if (next != operands.size()) return malformed({into.where, ": has too many operands"});
        return {};
    }

    result<void> read_attributes(const file_operator& o, const op_info& op, opened_operator& into, scope& s) {
        const auto* table = static_cast<const flatbuffers::Table*>(o.attribute());
        const bool any =
            std::any_of(op.begin(), op.end(), [&](const auto& f) { return tosa::is_attribute(op, f); });
        if (!any) return {};
        if (table == nullptr || static_cast<std::uint32_t>(o.attribute_type()) != tosa::number_of(op)) {
            return malformed({into.where, ": its attribute table is of another operator, or missing"});
        }
        flatbuffers::voffset_t slot = 4;
        for (const field_info& f : op) {
            if (!tosa::is_attribute(op, f)) continue;
            if (f.kind == field_kind::region) {
                const auto name = view(table->GetPointer<const flatbuffers::String*>(slot));
                HEADRACE_TRY(region, read_named_region(name, into.where, s));
                detail::member_at<graph*>(into.arguments, f) = region;
            } else {
                HEADRACE_TRY(read_attribute(*table, slot, f, into));
            }
            slot = static_cast<flatbuffers::voffset_t>(slot + 2);
        }
        return {};
    }

    result<graph*> read_named_region(std::string_view name, const std::string& where, scope& s) {
        const auto found = regions_.find(name);
        if (found == regions_.end() || name.empty())
            return malformed({where, ": there is no region ", quoted(name)});
        HEADRACE_TRY(spend(1));
        graph& nested = s.region->create_region();
        HEADRACE_TRY(read_region(*found->second, nested, s.depth + 1));
        return &nested;
    }

    result<void> create(const file_operator& o, const op_info& op, opened_operator& into, scope& s) {
        const std::size_t count = size_of(o.outputs());
        if (op.results >= 0 && count != static_cast<std::size_t>(op.results)) {
            return malformed({into.where, ": has ", count, " results, not ", op.results});
        }
        std::vector<tensor_meta> metas;
        for (std::size_t i = 0; i != count; ++i) {
            const std::string_view name = name_at(o.outputs(), i);
            if (&op == &info_of<tosa::const_shape>) {
                HEADRACE_TRY(values, read_shape(name, s));
                into.lists.push_back(std::move(values));
                detail::member_at<int_list>(into.arguments, op.fields[0]) = int_list(into.lists.back());
                metas.push_back({dtype::shape, {static_cast<std::int64_t>(into.lists.back().size())}, {}});
            } else {
                HEADRACE_TRY(meta, meta_of_tensor(name, s));
                metas.push_back(meta);
            }
        }
        if (const field_info* type = op.find("output_type")) {
            detail::member_at<dtype>(into.arguments, *type) = metas[0].dtype;
        }
        if (&op == &info_of<tosa::const_>) {
            HEADRACE_TRY(data, read_data(*s.tensors.find(name_at(o.outputs(), 0))->second, metas[0], s));
            detail::member_at<tensor_data>(into.arguments, op.fields[0]) = data;
        }
        node& n = s.region->create(op, into.arguments, count);
        for (std::size_t i = 0; i != count; ++i) {
            HEADRACE_TRY(
                define(name_at(o.outputs(), i), n.result(static_cast<std::uint32_t>(i)), metas[i], s));
        }
        return {};
    }

    const tosa_fb::TosaGraph& file_;
    std::unordered_map<std::string_view, const tosa_fb::TosaRegion*> regions_;  // the first of each name
};

}  // namespace

}  // namespace tosa_file

result<std::unique_ptr<graph>> read_tosa(std::span<const std::byte> file) {
    auto g = std::make_unique<graph>();
    HEADRACE_TRY(tosa_file::tosa_reader::read(file, *g));
    return g;
}

result<void> read_tosa(std::span<const std::byte> file, graph& into) {
    return tosa_file::tosa_reader::read(file, into);
}

}  // namespace headrace
