// SPDX-License-Identifier: MIT
// Defines headrace::tosa_file::tosa_emitter, which writes a graph as a TOSA flatbuffer.
#ifndef HEADRACE_IO_TOSA_GRAPH_EMITTER_HPP
#define HEADRACE_IO_TOSA_GRAPH_EMITTER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/element_copier.hpp>
#include <headrace/io/tosa/attribute_writer.hpp>
#include <headrace/io/tosa/buffer.hpp>
#include <headrace/io/tosa/deferred_constant.hpp>
#include <headrace/io/tosa/format.hpp>
#include <headrace/io/tosa/size.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::tosa_file {

/// Writes a graph and the regions that it refers to.
class tosa_emitter : tosa_attribute_writer {
public:
    [[nodiscard]] static result<emitted_tosa> emit(const graph& g) {
        HEADRACE_TRY(bytes, file_size_bound(g));
        tosa_emitter e(bytes, nullptr);
        HEADRACE_TRY(e.write(g));
        return emitted_tosa(e.builder_.Release());
    }
    [[nodiscard]] static result<std::span<const std::byte>> emit(
        const graph& g, std::span<std::byte> buffer) {
        HEADRACE_TRY(bytes, file_size_bound(g));
        given_memory memory(buffer);
        if (memory.size() < bytes) {
            return invalid({"a TOSA file of up to ", bytes, " bytes in a buffer of ", buffer.size()});
        }
        tosa_emitter e(memory.size(), &memory);
        HEADRACE_TRY(e.write(g));
        if (memory.overflowed()) return invalid("the buffer is too small for the TOSA file");
        return std::as_bytes(e.builder_.GetBufferSpan());
    }
    /// Leaves room for large constants, in memory that is not touched there, and lists these constants.
    [[nodiscard]] static result<flatbuffers::DetachedBuffer> emit_without_constants(
        const graph& g, flatbuffers::Allocator& memory, std::vector<deferred_constant>& constants) {
        HEADRACE_TRY(bytes, file_size_bound(g));
        tosa_emitter e(bytes, &memory);
        e.deferred_ = &constants;
        HEADRACE_TRY(e.write(g));
        return e.builder_.Release();
    }

private:
    /// Smaller constants are copied: a hole, and a piece that is written at once, should be at least a few
    /// pages.
    static constexpr std::size_t min_deferred_bytes = std::size_t{16} * 1024;

    tosa_emitter(std::size_t bytes, flatbuffers::Allocator* memory) : tosa_attribute_writer(bytes, memory) {}

    result<void> write(const graph& g) {
        empty_text_ = builder_.CreateString("");
        no_data_ = builder_.CreateVector(static_cast<const std::uint8_t*>(nullptr), 0);
        no_location_ = tosa_fb::CreateOpLocation(builder_, empty_text_);
        pending_.push_back(&g);
        region_names_.emplace(&g, names_.make("main"));
        offsets<tosa_fb::TosaRegion> regions;
        for (std::size_t i = 0; i != pending_.size(); ++i) {
            HEADRACE_TRY(written, write_region(*pending_[i], region_names_.at(pending_[i])));
            regions.push_back(written);
        }
        const auto version = tosa_fb::CreateVersion(builder_, 1, 0, 0, false);
        const auto all = builder_.CreateVector(regions.data(), regions.size());
        tosa_fb::FinishTosaGraphBuffer(builder_, tosa_fb::CreateTosaGraph(builder_, version, all));

        flatbuffers::Verifier verifier(builder_.GetBufferPointer(), builder_.GetSize(), 64,
            std::numeric_limits<flatbuffers::uoffset_t>::max());
        if (!tosa_fb::VerifyTosaGraphBuffer(verifier))
            return invalid("the flatbuffer that was written is malformed");
        return {};
    }

    struct block {
        block(const graph& g, unique_names& taken)
            : region(&g),
              has_others(g.parent() != nullptr || !g.regions().empty()),
              values(g, taken),
              defined(values.all().size()) {}

        const graph* region;
        bool has_others;  // other graphs' values exist
        tosa_names values;
        pmr_vector<bool> defined;  // by the value's index, like `names`
        pmr_vector<text> names;
        offsets<tosa_fb::TosaTensor> tensors;
        offsets<tosa_fb::TosaShape> shapes;
        offsets<tosa_fb::TosaOperator> operators;

        [[nodiscard]] text name_of(value v) const { return names[values.index(v)]; }
        [[nodiscard]] text name_of(const node& n, std::uint32_t i) const { return names[values.index(n, i)]; }
    };

    result<flatbuffers::Offset<tosa_fb::TosaRegion>> write_region(const graph& g, std::string_view name) {
        HEADRACE_TRY(check_outputs(g));
        block b(g, names_);
        for (const std::string_view given : b.values.all()) b.names.push_back(make_text(given));
        pmr_vector<text> inputs;
        variables_.clear();
        for (const node& n : g.nodes()) {
            if (is<builtin::placeholder>(n)) inputs.push_back(b.name_of(n, 0));
            if (is<builtin::output>(n)) continue;
            HEADRACE_TRY(write_node(b, n));
            for (std::uint32_t i = 0; i != n.result_count; ++i) b.defined[b.values.index(n, i)] = true;
        }
        pmr_vector<text> outputs;
        for (const value v : g.outputs()) outputs.push_back(b.name_of(v));

        const auto block_name = make_text(name);
        const auto operators = builder_.CreateVector(b.operators.data(), b.operators.size());
        const auto tensors = builder_.CreateVector(b.tensors.data(), b.tensors.size());
        const auto input_names = builder_.CreateVector(inputs.data(), inputs.size());
        const auto output_names = builder_.CreateVector(outputs.data(), outputs.size());
        const auto shapes = builder_.CreateVector(b.shapes.data(), b.shapes.size());
        const auto written = tosa_fb::CreateTosaBasicBlock(
            builder_, block_name, operators, tensors, input_names, output_names, shapes);
        const auto blocks = builder_.CreateVector(&written, 1);
        return tosa_fb::CreateTosaRegion(builder_, block_name, blocks);
    }

    // Each output must be a tensor of its own that an operator computes: readers rely on both.
    static result<void> check_outputs(const graph& g) {
        const node* out = g.output();
        if (out == nullptr) return invalid("the graph has no output node");
        pmr_vector<value> seen;
        for (const value v : g.outputs()) {
            const node& n = *v.producer;
            if (is<builtin::placeholder>(n) || constant_data(n) != nullptr) {
                return invalid(
                    {message_prefix(n), "an input or constant is an output; put a tosa.IDENTITY between"});
            }
            if (std::find(seen.begin(), seen.end(), v) != seen.end()) {
                return invalid({message_prefix(n), "is an output twice; put a tosa.IDENTITY between"});
            }
            seen.push_back(v);
        }
        return {};
    }

    result<void> write_node(block& b, const node& n) {
        if (is<tosa::variable>(n)) return write_variable(b, n);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            HEADRACE_TRY(write_result(b, n, i));
        }
        if (is<builtin::placeholder>(n)) return {};
        const op_info* op = n.op == &info_of<builtin::constant> ? &info_of<tosa::const_> : n.op;
        if (op->dialect != &info_of_dialect<tosa::dialect>) {
            return unsupported({message_prefix(n), "no pass lowers this to TOSA"});
        }
        inputs_.clear();
        outputs_.clear();
        for (const edge& e : n.operand_edges()) {
            const value v = *e.slot;
            if ((b.has_others && v.producer->owner != b.region) || !b.defined[b.values.index(v)]) {
                return invalid(
                    {message_prefix(n), "an operand is not computed before it in the same region"});
            }
            inputs_.push_back(b.name_of(v));
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) outputs_.push_back(b.name_of(n, i));
        if (is<tosa::variable_read>(n)) {
            HEADRACE_TRY(of, variable_tensor(n, args_of<tosa::variable_read>(n).variable_name));
            inputs_.push_back(of);
        }
        if (is<tosa::variable_write>(n)) {
            HEADRACE_TRY(of, variable_tensor(n, args_of<tosa::variable_write>(n).variable_name));
            outputs_.push_back(of);
        }
        HEADRACE_TRY(attribute, write_attributes(*op, n));
        const auto input_names = builder_.CreateVector(inputs_.data(), inputs_.size());
        const auto output_names = builder_.CreateVector(outputs_.data(), outputs_.size());
        const std::uint32_t number = tosa::number_of(*op);
        // MLIR's serializer and the reference model represent the variable operators as IDENTITY with their
        // attributes.
        const bool variable = is<tosa::variable_read>(n) || is<tosa::variable_write>(n);
        const auto code = variable ? tosa_fb::Op::IDENTITY : static_cast<tosa_fb::Op>(number);
        b.operators.push_back(tosa_fb::CreateTosaOperator(builder_, code,
            static_cast<tosa_fb::Attribute>(number), attribute, input_names, output_names, no_location_));
        return {};
    }

    result<void> write_result(block& b, const node& n, std::uint32_t i) {
        const text name = b.name_of(n, i);
        if (is<tosa::const_shape>(n)) {
            const int_list& values = args_of<tosa::const_shape>(n).values;
            std::uint8_t* to = nullptr;
            builder_.ForceVectorAlignment(8 * values.size(), 1, 8);
            const auto data = builder_.CreateUninitializedVector(8 * values.size(), 1, &to);
            if (!values.empty()) std::memcpy(to, values.data(), 8 * values.size());
            b.shapes.push_back(tosa_fb::CreateTosaShape(
                builder_, name, static_cast<std::uint32_t>(values.size()), as_bytes(data)));
            return {};
        }
        if (!n.results[i].meta)
            return invalid({message_prefix(n), "the type and shape of a result are not known"});
        return write_tensor(b, n, name, *n.results[i].meta, constant_data(n), {});
    }

    result<void> write_tensor(block& b, const node& n, text name, const tensor_meta& meta,
        const tensor_data* data, std::string_view variable) {
        const auto type = tosa_file::number_of(meta.dtype);
        if (!type || meta.dtype == dtype::shape) {
            return unsupported({message_prefix(n), "TOSA 1.0 has no tensors of ", name_of(meta.dtype)});
        }
        dimensions_.clear();
        for (const std::int64_t size : meta.shape) {
            if (size < 0 || size > std::numeric_limits<std::int32_t>::max()) {
                return unsupported({message_prefix(n), "TOSA 1.0 has no dimensions of size ", size});
            }
            dimensions_.push_back(static_cast<std::int32_t>(size));
        }
        flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> bytes = no_data_;
        if (data != nullptr) {
            if (!data->strides.empty() && data->strides.size() != meta.rank()) {
                return invalid({message_prefix(n), "the constant's strides do not have its rank"});
            }
            const auto elements = static_cast<std::uint64_t>(meta.elements());
            if (data->bytes == nullptr && elements != 0)
                return invalid({message_prefix(n), "the constant has no data"});
            const std::size_t size = bytes_in_memory(meta);
            std::uint8_t* to = nullptr;
            builder_.ForceVectorAlignment(size, 1, 8);
            const auto vector = builder_.CreateUninitializedVector(size, 1, &to);
            if (deferred_ != nullptr && size >= min_deferred_bytes) {
                const std::size_t from_end = builder_.GetSize() - sizeof(flatbuffers::uoffset_t);
                deferred_->push_back({from_end, *data, meta});
            } else {
                detail::element_copier(*data, meta, to).copy();
            }
            bytes = as_bytes(vector);
        }
        const auto dimensions = builder_.CreateVector(dimensions_.data(), dimensions_.size());
        const text variable_name = variable.empty() ? empty_text_ : make_text(variable);
        b.tensors.push_back(tosa_fb::CreateTosaTensor(builder_, name, dimensions,
            static_cast<tosa_fb::DType>(*type), bytes, !variable.empty(), false, variable_name));
        return {};
    }

    // A variable is a tensor that operators read and write by its name. Its declaration is not an operator of
    // the file, as in MLIR's serializer.
    result<void> write_variable(block& b, const node& n) {
        const auto& v = args_of<tosa::variable>(n);
        const text name = make_text(names_.make(v.variable_name));
        variables_.emplace_back(v.variable_name, name);
        return write_tensor(b, n, name, {v.type, v.shape, {}},
            v.initial_value.bytes != nullptr ? &v.initial_value : nullptr, v.variable_name);
    }
    result<text> variable_tensor(const node& n, std::string_view variable) const {
        for (const auto& [known, name] : variables_) {
            if (known == variable) return name;
        }
        return invalid({message_prefix(n), "the variable ", variable, " is not declared before"});
    }

    static flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> as_bytes(flatbuffers::uoffset_t at) {
        return flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>>(at);
    }
    std::vector<deferred_constant>* deferred_ = nullptr;  // null: all constants are copied
    pmr_vector<std::pair<std::string_view, text>> variables_;
    // Parts of the operator or tensor that is being written; the next one reuses their memory.
    pmr_vector<text> inputs_, outputs_;
    pmr_vector<std::int32_t> dimensions_;
    text empty_text_;
    flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> no_data_;
    flatbuffers::Offset<tosa_fb::OpLocation> no_location_;
};

}  // namespace headrace::tosa_file

#endif
