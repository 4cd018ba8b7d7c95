// SPDX-License-Identifier: MIT
// Defines how the jumps of a method of a .pte file are read as branches and loops.
#ifndef HEADRACE_IO_PTE_READING_OUTLINE_HPP
#define HEADRACE_IO_PTE_READING_OUTLINE_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/reading/method_source.hpp>

namespace headrace::pte {

struct outline_jumps;

/// An instruction, or a branch or loop of several instructions.
struct outline_item {
    std::uint32_t number = 0;  ///< position of the first instruction in its chain
    const pte_fb::Instruction* instruction = nullptr;
    std::shared_ptr<outline_jumps> jumps{};
};

using outline = std::vector<outline_item>;

/// A branch or a loop that jumps form.
struct outline_jumps {
    enum class kind_type : std::uint8_t {
        branch,      ///< `first` if the condition is true, else `second`
        test_first,  ///< a loop: `first` computes the condition; `second` while it is true
        test_last    ///< a loop: `first` until the condition that it computes is true
    };
    kind_type kind = kind_type::branch;
    std::int32_t condition = 0;  ///< a value
    outline first{};
    outline second{};
    accesses of_first{};
    accesses of_second{};
    accesses all{};
    std::map<slot, std::int64_t> live_after{};  ///< slots that it may write, and that are read after it
};

/// Recovers branches and loops from the jumps in a chain of instructions: a jump forward skips one side of a
/// branch, a jump back repeats a loop. For example, `0: jump to 3 unless c; 1: …; 2: jump to 4; 3: …` is a
/// branch on c, between instruction 1 and instruction 3. Reads the code that compilers write for
/// torch.export's cond, map, scan and while_loop, that of Headrace, and that of other compilers if each
/// branch or loop has one entry and one exit.
class outliner {
public:
    explicit outliner(method_source& method) : method_(method) {}

    result<outline> read(const pte_fb::Chain& chain);

    /// Notes for each item the slots that are read after it. `live` has the slots that are read after the
    /// last item; on return, those that are read before the first.
    result<void> set_live(outline& items, std::map<slot, std::int64_t>& live);

private:
    static constexpr int most_levels = 32;

    static std::pmr::string where(std::uint32_t number) {
        return "instruction " + number_text(number) + ": ";
    }
    /// Returns the condition of a jump if nothing computes it.
    result<std::optional<bool>> known_condition(const pte_fb::JumpFalseCall& jump);
    /// Returns the last jump before `end` that leads back to an instruction.
    [[nodiscard]] std::optional<std::uint32_t> jump_back_to(std::uint32_t number, std::uint32_t end) const;

    result<outline> block(std::uint32_t begin, std::uint32_t end, int level);

    /// The jump at `i` skips the instructions to run if its condition is true. If those end with a jump
    /// forward, that one skips the instructions to run otherwise.
    result<std::pair<std::shared_ptr<outline_jumps>, std::uint32_t>> branch(
        std::uint32_t i, std::uint32_t to, std::uint32_t end, int level);

    /// Reads the loop from `i` to the jump at `back`, which leads to `i`.
    result<std::shared_ptr<outline_jumps>> loop(std::uint32_t i, std::uint32_t back, int level);

    result<void> add_all(const outline& items, accesses& all);
    result<void> summarize(outline_jumps& j);
    result<void> set_live_inside(outline_jumps& j);

    method_source& method_;
    const flatbuffers::Vector<flatbuffers::Offset<pte_fb::Instruction>>* all_ = nullptr;
    std::map<std::uint32_t, std::vector<std::uint32_t>> back_;  // jumps by their destinations
};

}  // namespace headrace::pte

#endif
