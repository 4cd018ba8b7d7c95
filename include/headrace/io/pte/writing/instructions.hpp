// SPDX-License-Identifier: MIT
// Defines how the instructions of a method of a .pte file are collected.
#ifndef HEADRACE_IO_PTE_WRITING_INSTRUCTIONS_HPP
#define HEADRACE_IO_PTE_WRITING_INSTRUCTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <headrace/io/pte/pte_generated.hpp>

namespace headrace::pte {

/// The instructions of a method, and the operators that they call. The destination of a jump may be set
/// later.
class instruction_list {
public:
    using index = std::int32_t;

    explicit instruction_list(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

    [[nodiscard]] std::size_t size() const { return all_.size(); }

    void call(std::string_view kernel, const std::vector<index>& arguments);
    void call_delegate(index number, const std::vector<index>& arguments);
    /// Jumps if a value is false. Returns the position of the jump.
    std::size_t jump_unless(index condition, std::size_t destination = 0);
    /// Makes that jump lead to the instruction that is added next.
    void land(std::size_t jump) { all_[jump].destination = all_.size(); }

    [[nodiscard]] auto write() {
        std::vector<flatbuffers::Offset<pte_fb::Instruction>> written;
        for (const instruction& i : all_) {
            const auto made = i.type == pte_fb::Call::JumpFalseCall
                ? pte_fb::CreateJumpFalseCall(builder_, i.condition, static_cast<index>(i.destination))
                      .Union()
                : i.made;
            written.push_back(pte_fb::CreateInstruction(builder_, i.type, made));
        }
        return builder_.CreateVector(written);
    }
    [[nodiscard]] auto write_operators() { return builder_.CreateVector(operators_); }

private:
    struct instruction {
        pte_fb::Call type;
        flatbuffers::Offset<void> made;
        index condition = 0;  // of jumps, whose tables are made last
        std::size_t destination = 0;
    };

    template <class Table>
    void add(pte_fb::Call type, flatbuffers::Offset<Table> made) {
        all_.push_back({type, made.Union()});
    }
    index operator_of(std::string_view kernel);

    flatbuffers::FlatBufferBuilder& builder_;
    std::vector<instruction> all_;
    std::unordered_map<std::string, index> numbers_;
    std::vector<flatbuffers::Offset<pte_fb::Operator>> operators_;
};

}  // namespace headrace::pte

#endif
