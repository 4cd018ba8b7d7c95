// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/outline.hpp.

#include <headrace/io/pte/reading/outline.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/io/pte/reading/method_source.hpp>

namespace headrace::pte {

result<outline> outliner::read(const pte_fb::Chain& chain) {
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

result<void> outliner::set_live(outline& items, std::map<slot, std::int64_t>& live) {
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

result<std::optional<bool>> outliner::known_condition(const pte_fb::JumpFalseCall& jump) {
    HEADRACE_TRY(v, method_.values().at(jump.condition()));
    const pte_fb::Bool* const b = v->kind_as_Bool();
    if (b == nullptr || method_.is_computed(jump.condition())) return std::optional<bool>();
    return std::optional(b->value());
}

std::optional<std::uint32_t> outliner::jump_back_to(std::uint32_t number, std::uint32_t end) const {
    const auto found = back_.find(number);
    if (found == back_.end()) return std::nullopt;
    std::optional<std::uint32_t> last;
    for (const std::uint32_t from : found->second) {
        if (from < end) last = from;
    }
    return last;
}

result<outline> outliner::block(std::uint32_t begin, std::uint32_t end, int level) {
    if (level > most_levels)
        return unsupported({where(begin), "more than ", most_levels, " branches and loops in each other"});
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

result<std::pair<std::shared_ptr<outline_jumps>, std::uint32_t>> outliner::branch(
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

result<std::shared_ptr<outline_jumps>> outliner::loop(std::uint32_t i, std::uint32_t back, int level) {
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

result<void> outliner::add_all(const outline& items, accesses& all) {
    for (const outline_item& i : items) {
        if (i.jumps != nullptr) {
            all.append(i.jumps->all);
        } else {
            HEADRACE_TRY(method_.add_accesses(*i.instruction, all));
        }
    }
    return {};
}

result<void> outliner::summarize(outline_jumps& j) {
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

result<void> outliner::set_live_inside(outline_jumps& j) {
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

}  // namespace headrace::pte
