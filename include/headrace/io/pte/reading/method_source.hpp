// SPDX-License-Identifier: MIT
// Defines what the reader of .pte files knows of a method before it reads it: its operators, and the values
// that each instruction reads and writes.
#ifndef HEADRACE_IO_PTE_READING_METHOD_SOURCE_HPP
#define HEADRACE_IO_PTE_READING_METHOD_SOURCE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/io/pte/operators.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/reading/arguments.hpp>
#include <headrace/io/pte/reading/delegate_inputs.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pte {

/// A memory, and an offset in it; for a value outside memory, `no_memory` and the number of the value.
using slot = std::pair<std::uint32_t, std::uint64_t>;
inline constexpr std::uint32_t no_memory = ~std::uint32_t{0};

/// The slots that instructions read before they write them, those that they may write, and those that they
/// always write. Each number is that of one of the values in the slot.
struct accesses {
    std::map<slot, std::int64_t> reads{};
    std::map<slot, std::int64_t> writes{};
    std::set<slot> sure{};

    /// Appends the accesses of instructions that run after these.
    void append(const accesses& then);
};

/// One method of a file.
class method_source {
public:
    method_source(const pte_file& file, const pte_fb::Method& method);

    /// Visits all instructions once, and notes which values are moved and which numbers are computed.
    result<void> prepare();

    [[nodiscard]] const pte_file& file() const { return file_; }
    [[nodiscard]] const pte_fb::Method& method() const { return method_; }
    [[nodiscard]] value_source& values() { return values_; }
    [[nodiscard]] bool has_jumps() const { return has_jumps_; }
    /// Returns the elements of a tensor that are in another file.
    result<std::span<const std::byte>> external(const pte_fb::Tensor& t, const tensor_meta& meta) const;
    /// The bytes of flatbuffers that delegates may still claim to hold.
    [[nodiscard]] std::uint64_t& restored_left() { return restored_left_; }

    /// Returns the table of a value, which must be a tensor.
    result<const pte_fb::Tensor*> table_of(std::int64_t index);
    /// Returns the slot of a value. Empty tensors occupy no memory: they get slots of their own.
    result<slot> slot_of(std::int64_t index);
    result<const called_operator*> operator_of(const pte_fb::KernelCall& call) const;
    /// Returns the number of arguments before those that a call writes; the last argument repeats one of
    /// these.
    [[nodiscard]] static std::size_t first_written(const called_operator& o, std::size_t arguments);

    void mark_written(std::int64_t index) { written_.insert(index); }
    [[nodiscard]] bool is_written(std::int64_t index) const { return written_.contains(index); }
    [[nodiscard]] bool is_moved(std::int64_t index) const { return moved_.contains(index); }
    [[nodiscard]] bool is_computed(std::int64_t index) const { return computed_.contains(index); }
    /// The tensors that slices are written into.
    [[nodiscard]] const std::set<std::int64_t>& sliced() const { return sliced_; }
    /// The tensors that the value of a slot was moved to.
    [[nodiscard]] std::span<const std::int64_t> moved_from(const slot& s) const;

    result<void> add_accesses(const pte_fb::Instruction& i, accesses& all);
    /// Adds the read of a value, and of the items of a list one by one.
    result<void> add_read(std::int64_t index, accesses& a, bool is_item = false);

private:
    // Each argument takes at least four bytes, and is read a few times.
    static constexpr std::uint64_t most_reads_for_each_byte = 32;

    /// A delegate of "tosa" reads its inputs and writes the rest; any other may read and write all arguments.
    result<void> add_delegate_call(const pte_fb::DelegateCall& call, accesses& a);
    void list_operators();
    result<void> note_move(const pte_fb::MoveCall& move);
    result<void> note_number(const pte_fb::KernelCall& call);

    result<void> add_call(const pte_fb::KernelCall& call, accesses& a);
    template <class Items>
    result<void> add_reads(const Items* items, accesses& a);
    result<void> add_write(std::int64_t index, accesses& a, bool is_sure);

    const pte_file& file_;
    const pte_fb::Method& method_;
    value_source values_;
    std::vector<called_operator> operators_;
    bool has_jumps_ = false;
    std::set<std::int64_t> written_;
    std::set<std::int64_t> moved_;  // tensors
    std::set<std::int64_t> sliced_;
    std::set<std::int64_t> computed_;                        // numbers
    std::set<std::pair<std::int64_t, std::int64_t>> moves_;  // of tensors
    std::map<slot, std::vector<std::int64_t>> moved_from_;
    std::uint64_t restored_left_;
    delegate_inputs delegates_{file_, method_};
};

}  // namespace headrace::pte

#endif
