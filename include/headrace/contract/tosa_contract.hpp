// SPDX-License-Identifier: MIT
// Defines headrace::check_contract, which checks a TOSA flatbuffer against a contract without a graph.
#ifndef HEADRACE_CONTRACT_TOSA_CONTRACT_HPP
#define HEADRACE_CONTRACT_TOSA_CONTRACT_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/contract/contract.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/format.hpp>

namespace headrace {

namespace detail {

/// The parts of a contract that a file is checked against.
struct acceptance {
    std::span<const contract_tensor> inputs;
    std::span<const contract_tensor> outputs;
    std::array<bool, tosa::dialect::size> ops{};  ///< by their index in the dialect
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

template <class... Ops>
constexpr auto accepted_ops(ops<Ops...>) {
    std::array<bool, tosa::dialect::size> accepted{};
    ((accepted[index_of<Ops>] = true), ...);
    // Every file may have constants: they are data, not operations.
    accepted[index_of<tosa::const_>] = accepted[index_of<tosa::const_shape>] = true;
    return accepted;
}

template <class Accepted>
constexpr acceptance acceptance_of() {
    acceptance a{.inputs = Accepted::inputs, .outputs = Accepted::outputs};
    a.ops.fill(true);
    if constexpr (requires { typename Accepted::lowered_ops; })
        a.ops = accepted_ops(typename Accepted::lowered_ops{});
    if constexpr (requires { Accepted::flash; }) a.max_bytes = static_cast<std::uint64_t>(Accepted::flash);
    return a;
}

class contract_checker {
public:
    explicit contract_checker(const acceptance& accepted) : accepted_(accepted) {}

    [[nodiscard]] result<void> check(std::span<const std::byte> file) const {
        if (file.size() > accepted_.max_bytes)
            return unsupported(
                {"the file has ", file.size(), " bytes, but ", accepted_.max_bytes, " are accepted"});
        if (file.size() < 8 || file.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
            return malformed({"not a TOSA file: its size is ", file.size(), " bytes"});
        if (reinterpret_cast<std::uintptr_t>(file.data()) % alignof(std::uint64_t) != 0)
            return invalid({"the file must be aligned to ", alignof(std::uint64_t), " bytes"});
        HEADRACE_TRY(opened, tosa_file::open_file(file));
        const tosa_fb::TosaRegion& main = *opened->regions()->Get(0);
        if (main.blocks() == nullptr || main.blocks()->size() != 1)
            return malformed("its first region does not have one block");
        const tosa_fb::TosaBasicBlock& block = *main.blocks()->Get(0);
        HEADRACE_TRY(compare(block, block.inputs(), accepted_.inputs, "input"));
        HEADRACE_TRY(compare(block, block.outputs(), accepted_.outputs, "output"));
        return check_operators(*opened);
    }

private:
    using file_names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

    static std::string_view view(const flatbuffers::String* text) {
        return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
    }

    static const tosa_fb::TosaTensor* find(const tosa_fb::TosaBasicBlock& block, std::string_view name) {
        if (block.tensors() == nullptr) return nullptr;
        for (const tosa_fb::TosaTensor* t : *block.tensors()) {
            if (view(t->name()) == name) return t;
        }
        return nullptr;
    }

    static result<void> compare(const tosa_fb::TosaBasicBlock& block, const file_names* names,
        const std::span<const contract_tensor>& accepted, std::string_view what) {
        const std::size_t count = names == nullptr ? 0 : names->size();
        if (count != accepted.size())
            return unsupported({"the file has ", counted_text(count, what), ", but ", accepted.size(),
                accepted.size() == 1 ? " is accepted" : " are accepted"});
        for (std::size_t i = 0; i != count; ++i) {
            const tosa_fb::TosaTensor* t =
                find(block, view(names->Get(static_cast<flatbuffers::uoffset_t>(i))));
            const std::pmr::string which = std::pmr::string(what) + ' ' + number_text(i);
            if (t == nullptr) return malformed({which, " is not a tensor of the file"});
            if (is_same(*t, accepted[i])) continue;
            return unsupported({which, " is ", text_of(type_of(*t), shape_of(*t)), ", but ",
                text_of(accepted[i].dtype, accepted[i].shape), " is accepted"});
        }
        return {};
    }

    static dtype type_of(const tosa_fb::TosaTensor& t) {
        return tosa_file::element_type(static_cast<std::uint32_t>(t.type()));
    }
    // Returns at most the maximum rank of sizes; a longer shape is not accepted in any case.
    static int_list shape_of(const tosa_fb::TosaTensor& t) {
        std::array<std::int64_t, int_list::inline_capacity> shape{};
        if (t.shape() == nullptr) return {};
        const std::size_t rank = std::min<std::size_t>(t.shape()->size(), shape.size());
        std::copy_n(t.shape()->begin(), rank, shape.begin());
        return std::span<const std::int64_t>(shape).first(rank);
    }
    static bool is_same(const tosa_fb::TosaTensor& t, const contract_tensor& accepted) {
        const std::size_t rank = t.shape() == nullptr ? 0 : t.shape()->size();
        return !t.is_unranked() && type_of(t) == accepted.dtype && rank == accepted.shape.size() &&
            shape_of(t) == accepted.shape;
    }
    static std::pmr::string text_of(dtype type, const int_list& shape) {
        std::pmr::string text = std::pmr::string(name_of(type)) + " [";
        for (const std::int64_t& size : shape) {
            if (&size != shape.begin()) text += ", ";
            text += number_text(size);
        }
        return text + ']';
    }

    [[nodiscard]] result<void> check_operators(const tosa_fb::TosaGraph& file) const {
        for (const tosa_fb::TosaRegion* region : *file.regions()) {
            if (region->blocks() == nullptr) continue;
            for (const tosa_fb::TosaBasicBlock* block : *region->blocks()) {
                if (block->operators() == nullptr) continue;
                for (const tosa_fb::TosaOperator* o : *block->operators()) {
                    HEADRACE_TRY(check_operator(*o));
                }
            }
        }
        return {};
    }
    [[nodiscard]] result<void> check_operator(const tosa_fb::TosaOperator& o) const {
        const std::uint32_t number = tosa_file::number_of(o);
        if (number == 0 || number > accepted_.ops.size())
            return unsupported({"operator number ", number, " is not in TOSA 1.0"});
        if (accepted_.ops[number - 1]) return {};
        return unsupported({tosa::dialect::op_names[number - 1], " is not accepted"});
    }

    const acceptance& accepted_;
};

}  // namespace detail

/// Checks that a TOSA flatbuffer, for example one that came over the air, has the inputs and outputs of a
/// contract and no more than its operators and bytes. The contract may be written by hand or be that of the
/// model that the file replaces. The bytes must be aligned to eight. Quantization and peak memory are not
/// compared, because a flatbuffer does not state them.
///
/// Fails with `malformed` if the file is not valid TOSA 1.0, and with `unsupported`, naming the difference,
/// if the contract does not accept it.
template <class Accepted>
[[nodiscard]] result<void> check_contract(std::span<const std::byte> flatbuffer) {
    static constexpr detail::acceptance accepted = detail::acceptance_of<Accepted>();
    return detail::contract_checker(accepted).check(flatbuffer);
}

}  // namespace headrace

#endif
