// SPDX-License-Identifier: MIT
// Defines how the jumps of a method of a .pte file are read as branches and loops.
#ifndef HEADRACE_IO_PTE_OUTLINE_HPP
#define HEADRACE_IO_PTE_OUTLINE_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/method_source.hpp>
#include <headrace/io/pte/pte_generated.hpp>

namespace headrace::detail::pte {

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

    result<outline> read(const pte_fb::Chain& chain) {
        all_ = chain.instructions();
        back_.clear();
        for (std::uint32_t i = 0; i != all_->size(); ++i) {
            const pte_fb::JumpFalseCall* const jump = all_->Get(i)->call_as_JumpFalseCall();
            if (jump == nullptr) continue;
            HEADRACE_TRY(known, known_condition(*jump));
            if (jump->destination() < 0 || static_cast<std::uint32_t>(jump->destination()) > all_->size())
                return malformed(
                    {where(i), "it jumps to instruction ", jump->destination(), " of ", all_->size()});
            const auto to = static_cast<std::uint32_t>(jump->destination());
            if (to <= i && known != std::optional(true)) back_[to].push_back(i);
        }
        return block(0, all_->size(), 0);
    }

    /// Notes for each item the slots that are read after it. `live` has the slots that are read after the
    /// last item; on return, those that are read before the first.
    result<void> set_live(outline& items, std::map<slot, std::int64_t>& live) {
        for (auto i = items.rbegin(); i != items.rend(); ++i) {
            accesses own;
            if (i->jumps == nullptr) {
                HEADRACE_TRY(method_.add_accesses(*i->instruction, own));
            } else {
                for (const auto& [s, index] : i->jumps->all.writes) {
                    if (live.contains(s)) i->jumps->live_after.emplace(s, index);
                }
                HEADRACE_TRY(set_live_inside(*i->jumps));
            }
            const accesses& through = i->jumps == nullptr ? own : i->jumps->all;
            for (const slot& s : through.sure) live.erase(s);
            live.insert(through.reads.begin(), through.reads.end());
        }
        return {};
    }

private:
    static constexpr int most_levels = 32;

    static std::pmr::string where(std::uint32_t number) {
        return "instruction " + number_text(number) + ": ";
    }
    /// Returns the condition of a jump if nothing computes it.
    result<std::optional<bool>> known_condition(const pte_fb::JumpFalseCall& jump) {
        HEADRACE_TRY(v, method_.values().at(jump.condition()));
        const pte_fb::Bool* const b = v->kind_as_Bool();
        if (b == nullptr || method_.is_computed(jump.condition())) return std::optional<bool>();
        return std::optional(b->value());
    }
    /// Returns the last jump before `end` that leads back to an instruction.
    [[nodiscard]] std::optional<std::uint32_t> jump_back_to(std::uint32_t number, std::uint32_t end) const {
        const auto found = back_.find(number);
        if (found == back_.end()) return std::nullopt;
        std::optional<std::uint32_t> last;
        for (const std::uint32_t from : found->second) {
            if (from < end) last = from;
        }
        return last;
    }

    result<outline> block(std::uint32_t begin, std::uint32_t end, int level) {
        if (level > most_levels)
            return unsupported(
                {where(begin), "more than ", most_levels, " branches and loops in each other"});
        outline items;
        for (std::uint32_t i = begin; i < end;) {
            if (const auto back = jump_back_to(i, end)) {
                HEADRACE_TRY(jumps, loop(i, *back, level));
                items.push_back({i, nullptr, std::move(jumps)});
                i = *back + 1;
                continue;
            }
            const pte_fb::JumpFalseCall* const jump = all_->Get(i)->call_as_JumpFalseCall();
            if (jump == nullptr) {
                items.push_back({i, all_->Get(i), nullptr});
                ++i;
                continue;
            }
            HEADRACE_TRY(known, known_condition(*jump));
            const auto to = static_cast<std::uint32_t>(jump->destination());
            if (known == std::optional(true)) {  // it never jumps
                ++i;
            } else if (to <= i || to > end) {
                return unsupported({where(i), "it jumps to instruction ", to,
                    ", into or out of a branch or a loop; only cond, map, scan and while_loop "
                    "as compilers write them are read"});
            } else if (known) {  // it always jumps
                i = to;
            } else {
                HEADRACE_TRY(jumps, branch(i, to, end, level));
                items.push_back({i, nullptr, std::move(jumps.first)});
                i = jumps.second;
            }
        }
        return items;
    }

    /// The jump at `i` skips the instructions to run if its condition is true. If those end with a jump
    /// forward, that one skips the instructions to run otherwise.
    result<std::pair<std::shared_ptr<outline_jumps>, std::uint32_t>> branch(
        std::uint32_t i, std::uint32_t to, std::uint32_t end, int level) {
        auto made = std::make_shared<outline_jumps>();
        made->condition = all_->Get(i)->call_as_JumpFalseCall()->condition();
        std::uint32_t next = to;
        std::uint32_t end_of_first = to;
        if (to > i + 1) {
            const pte_fb::JumpFalseCall* const over = all_->Get(to - 1)->call_as_JumpFalseCall();
            if (over != nullptr && static_cast<std::uint32_t>(over->destination()) >= to) {
                HEADRACE_TRY(known, known_condition(*over));
                if (known == std::optional(false) && static_cast<std::uint32_t>(over->destination()) <= end) {
                    next = static_cast<std::uint32_t>(over->destination());
                    end_of_first = to - 1;
                }
            }
        }
        HEADRACE_TRY(first, block(i + 1, end_of_first, level + 1));
        HEADRACE_TRY(second, block(to, next, level + 1));
        made->first = std::move(first);
        made->second = std::move(second);
        HEADRACE_TRY(summarize(*made));
        return std::pair(std::move(made), next);
    }

    /// Reads the loop from `i` to the jump at `back`, which leads to `i`.
    result<std::shared_ptr<outline_jumps>> loop(std::uint32_t i, std::uint32_t back, int level) {
        const pte_fb::JumpFalseCall& jump = *all_->Get(back)->call_as_JumpFalseCall();
        HEADRACE_TRY(known, known_condition(jump));
        auto made = std::make_shared<outline_jumps>();
        if (!known) {
            made->kind = outline_jumps::kind_type::test_last;
            made->condition = jump.condition();
            HEADRACE_TRY(body, block(i, back, level + 1));
            made->first = std::move(body);
        } else {
            made->kind = outline_jumps::kind_type::test_first;
            std::uint32_t test = i;
            for (; test != back; ++test) {
                const pte_fb::JumpFalseCall* const out = all_->Get(test)->call_as_JumpFalseCall();
                if (out == nullptr || static_cast<std::uint32_t>(out->destination()) != back + 1) continue;
                HEADRACE_TRY(leaves, known_condition(*out));
                if (!leaves) break;
            }
            if (test == back)
                return malformed({where(back), "it jumps back to instruction ", i,
                    ", and nothing leaves that loop: it never ends"});
            made->condition = all_->Get(test)->call_as_JumpFalseCall()->condition();
            HEADRACE_TRY(condition, block(i, test, level + 1));
            HEADRACE_TRY(body, block(test + 1, back, level + 1));
            made->first = std::move(condition);
            made->second = std::move(body);
        }
        HEADRACE_TRY(summarize(*made));
        return made;
    }

    result<void> add_all(const outline& items, accesses& all) {
        for (const outline_item& i : items) {
            if (i.jumps != nullptr) {
                all.append(i.jumps->all);
            } else {
                HEADRACE_TRY(method_.add_accesses(*i.instruction, all));
            }
        }
        return {};
    }
    result<void> summarize(outline_jumps& j) {
        HEADRACE_TRY(add_all(j.first, j.of_first));
        HEADRACE_TRY(add_all(j.second, j.of_second));
        if (j.kind == outline_jumps::kind_type::branch) {
            HEADRACE_TRY(method_.add_read(j.condition, j.all));
            for (const accesses* const side : {&j.of_first, &j.of_second}) {
                j.all.reads.insert(side->reads.begin(), side->reads.end());
                j.all.writes.insert(side->writes.begin(), side->writes.end());
            }
            for (const slot& s : j.of_first.sure) {
                if (j.of_second.sure.contains(s)) j.all.sure.insert(s);
            }
            return {};
        }
        accesses test;
        HEADRACE_TRY(method_.add_read(j.condition, test));
        j.of_first.append(test);
        j.all = j.of_first;
        accesses body = j.of_second;
        body.sure.clear();  // it may never run
        j.all.append(body);
        return {};
    }
    result<void> set_live_inside(outline_jumps& j) {
        std::map<slot, std::int64_t> live = j.live_after;
        if (j.kind == outline_jumps::kind_type::branch) {
            std::map<slot, std::int64_t> same = live;
            HEADRACE_TRY(set_live(j.first, live));
            return set_live(j.second, same);
        }
        // The next iteration reads these slots first.
        live.insert(j.all.reads.begin(), j.all.reads.end());
        std::map<slot, std::int64_t> behind_test = live;
        behind_test.insert(j.of_second.reads.begin(), j.of_second.reads.end());
        accesses test;
        HEADRACE_TRY(method_.add_read(j.condition, test));
        behind_test.insert(test.reads.begin(), test.reads.end());
        HEADRACE_TRY(set_live(j.first, behind_test));
        return set_live(j.second, live);
    }

    method_source& method_;
    const flatbuffers::Vector<flatbuffers::Offset<pte_fb::Instruction>>* all_ = nullptr;
    std::map<std::uint32_t, std::vector<std::uint32_t>> back_;  // jumps by their destinations
};

}  // namespace headrace::detail::pte

#endif
