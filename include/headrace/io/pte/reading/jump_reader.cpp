// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/jump_reader.hpp.

#include <headrace/io/pte/reading/jump_reader.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/io/pte/reading/graph_reader.hpp>
#include <headrace/io/pte/reading/outline.hpp>

namespace headrace::pte {

result<void> jump_reader::read() {
    const bool is_branch = jumps_.kind == outline_jumps::kind_type::branch;
    return is_branch ? read_branch() : read_loop();
}

result<value> jump_reader::condition_in(graph_reader& reader) const {
    HEADRACE_TRY(condition, reader.tensors().tensor_or_number(jumps_.condition));
    const tensor_meta& meta = *meta_of(condition);
    if (meta.dtype != dtype::boolean || meta.elements() != 1)
        return malformed(
            {"the jump of the branch or loop at instruction ", number_, " depends on what is not one bool"});
    return condition;
}

result<void> jump_reader::take(const std::map<slot, std::int64_t>& places) {
    for (const auto& [at, index] : places) {
        if (seen_.contains(at)) continue;
        HEADRACE_TRY(now, outer_.tensors().content(index));
        if (!now) continue;
        taken_.push_back({at, *now});
        seen_.insert(at);
    }
    return {};
}

value jump_reader::add_input(graph_reader& reader, const slot& at, const tensor_meta& meta) {
    const value input = reader.target().create<builtin::placeholder>({}).result();
    reader.target().set_meta(input, meta);
    if (at != slot{}) reader.tensors().hold(at, input);
    return input;
}

void jump_reader::add_inputs(graph_reader& first, graph_reader& second) {
    for (taken& t : taken_) {
        t.inputs[0] = add_input(first, t.at, *meta_of(t.from));
        t.inputs[1] = add_input(second, t.at, *meta_of(t.from));
    }
}

std::optional<value> jump_reader::like(graph_reader& reader, value v, value other) {
    const tensor_meta& meta = *meta_of(other);
    if (meta_of(v)->dtype != meta.dtype || meta_of(v)->elements() != meta.elements()) return std::nullopt;
    return reader.tensors().as_shape(v, meta);
}

void jump_reader::hold_results(node& n, const std::vector<slot>& places, const std::vector<value>& metas) {
    outer_.target().set_name(n.result(0),
        std::string(is<higher_order::cond>(n) ? "branch_at_" : "loop_at_") + std::to_string(number_));
    for (const auto& [at, index] : jumps_.all.writes) outer_.tensors().forget(at);
    for (std::uint32_t i = 0; i != places.size(); ++i) {
        outer_.target().set_meta(n.result(i), *meta_of(metas[i]));
        if (places[i] != slot{}) outer_.tensors().hold(places[i], n.result(i));
    }
}

result<void> jump_reader::read_branch() {
    HEADRACE_TRY(condition, condition_in(outer_));
    HEADRACE_TRY(take(jumps_.of_first.reads));
    HEADRACE_TRY(take(jumps_.of_second.reads));
    HEADRACE_TRY(take(jumps_.live_after));
    graph_reader yes(outer_.method(), outer_.target().create_region());
    graph_reader no(outer_.method(), outer_.target().create_region());
    add_inputs(yes, no);
    HEADRACE_TRY(read_items(yes, jumps_.first));
    HEADRACE_TRY(read_items(no, jumps_.second));
    std::vector<slot> places;
    std::vector<value> made[2];
    for (const auto& [at, index] : jumps_.live_after) {
        const auto one = yes.tensors().held(at);
        const auto other = no.tensors().held(at);
        if (!one || !other) continue;
        const auto same = like(no, *other, *one);
        if (!same) continue;
        places.push_back(at);
        made[0].push_back(*one);
        made[1].push_back(*same);
    }
    if (made[0].empty()) return {};  // no visible effect
    add_output(yes, made[0]);
    add_output(no, made[1]);
    std::vector<value> operands;
    for (const taken& t : taken_) {
        if (is_used(t.inputs[0]) || is_used(t.inputs[1])) {
            operands.push_back(t.from);
        } else {
            erase_inputs(t);
        }
    }
    const args<higher_order::cond> arguments{condition, &yes.target(), &no.target(), list<value>(operands)};
    hold_results(outer_.target().create<higher_order::cond>(arguments, places.size()), places, made[0]);
    return {};
}

result<void> jump_reader::read_loop() {
    const bool tests_first = jumps_.kind == outline_jumps::kind_type::test_first;
    HEADRACE_TRY(make_slices_of_nothing());
    HEADRACE_TRY(take_loop());
    graph_reader test(outer_.method(), outer_.target().create_region());
    graph_reader body(outer_.method(), outer_.target().create_region());
    value goes_on{};
    value tested{};
    if (!tests_first) {  // the first iteration runs without a test
        const tensor_meta flag{dtype::boolean, {}, {}};
        tested = add_input(test, {}, flag);
        static_cast<void>(add_input(body, {}, flag));
    }
    add_inputs(test, body);
    if (tests_first) {
        HEADRACE_TRY(read_items(test, jumps_.first));
        HEADRACE_TRY(condition, condition_in(test));
        tested = condition;
        HEADRACE_TRY(refuse_writing_tests());
    }
    HEADRACE_TRY(read_items(body, tests_first ? jumps_.second : jumps_.first));
    if (!tests_first) {
        HEADRACE_TRY(ends, condition_in(body));
        const tensor_meta flag{dtype::boolean, {}, {}};
        const args<aten::logical_not> negated{body.tensors().as_shape(ends, flag)};
        goes_on = body.tensors().make(info_of<aten::logical_not>, &negated, flag);
    }
    return finish_loop(test, body, tested, goes_on);
}

result<void> jump_reader::take_loop() {
    std::map<slot, std::int64_t> carried = jumps_.live_after;
    std::map<slot, std::int64_t> fixed;
    for (const auto& [at, index] : jumps_.all.reads)
        (jumps_.all.writes.contains(at) ? carried : fixed).emplace(at, index);
    HEADRACE_TRY(take(carried));
    return take(fixed);
}

result<void> jump_reader::make_slices_of_nothing() {
    HEADRACE_TRY(outer_.method().values().spend(outer_.method().sliced().size()));
    for (const std::int64_t index : outer_.method().sliced()) {
        HEADRACE_TRY(at, outer_.method().slot_of(index));
        if (!jumps_.all.reads.contains(at)) continue;
        HEADRACE_TRY(t, outer_.method().table_of(index));
        std::vector<std::int64_t> sizes;
        HEADRACE_TRY(meta, meta_of_table(*t, sizes));
        HEADRACE_TRY(now, outer_.tensors().content(index));
        if (now && meta_of(*now)->dtype == meta.dtype && meta_of(*now)->elements() == meta.elements())
            continue;
        outer_.tensors().hold(at, outer_.tensors().filled(meta, scalar(std::int64_t{0})));
    }
    return {};
}

result<void> jump_reader::refuse_writing_tests() const {
    for (const auto& [at, index] : jumps_.of_first.writes) {
        if (!jumps_.of_second.reads.contains(at) && !jumps_.live_after.contains(at)) continue;
        return unsupported(
            {"the loop at instruction ", number_, " reads value ", index, ", which its condition computes"});
    }
    return {};
}

result<void> jump_reader::finish_loop(graph_reader& test, graph_reader& body, value tested, value goes_on) {
    std::vector<slot> places;
    std::vector<value> carried;
    std::vector<value> fixed;
    std::vector<value> next;
    if (goes_on) {
        places.emplace_back();
        carried.push_back(outer_.tensors().filled({dtype::boolean, {}, {}}, scalar(true)));
        next.push_back(goes_on);
    }
    std::vector<taken> added;
    HEADRACE_TRY(add_first_written(test, body, added));
    for (const taken& t : taken_) {
        const bool is_live = jumps_.live_after.contains(t.at);
        const bool is_carried = jumps_.all.writes.contains(t.at);
        const bool is_read = is_used(t.inputs[0]) || is_used(t.inputs[1]) || t.inputs[0] == tested;
        if (!is_read && !(is_carried && is_live)) {
            erase_inputs(t);
            continue;
        }
        if (!is_carried && added.empty()) {
            fixed.push_back(t.from);
            continue;
        }
        const auto now = body.tensors().held(t.at);
        const auto same = now ? like(body, *now, t.inputs[1]) : std::nullopt;
        if (!same && is_read)
            return unsupported({"the loop at instruction ", number_,
                " reads another type than it has written the time before"});
        if (!same) {
            erase_inputs(t);
            continue;
        }
        places.push_back(is_carried ? t.at : slot{});
        carried.push_back(t.from);
        next.push_back(*same);
    }
    for (const taken& t : added) {
        places.push_back(t.at);
        carried.push_back(t.from);
        next.push_back(*body.tensors().held(t.at));
    }
    if (next.empty()) return {};  // no visible effect
    add_output(test, {tested});
    add_output(body, next);
    const args<higher_order::while_loop> arguments{
        &test.target(), &body.target(), list<value>(carried), list<value>(fixed)};
    hold_results(
        outer_.target().create<higher_order::while_loop>(arguments, carried.size()), places, carried);
    return {};
}

result<void> jump_reader::add_first_written(
    graph_reader& test, graph_reader& body, std::vector<taken>& added) {
    for (const auto& [at, index] : jumps_.live_after) {
        const auto now = body.tensors().held(at);
        if (!now || seen_.contains(at)) continue;
        const tensor_meta meta = *meta_of(*now);
        const value from = outer_.tensors().filled(meta, scalar(std::int64_t{0}));
        added.push_back({at, from, {add_input(test, {}, meta), add_input(body, {}, meta)}});
    }
    return {};
}

result<void> read_items(graph_reader& into, const outline& items) {
    for (const outline_item& i : items) {
        if (i.jumps == nullptr) {
            HEADRACE_TRY(into.add_instruction(i.number, *i.instruction));
        } else {
            HEADRACE_TRY(jump_reader(into, i).read());
        }
    }
    return {};
}

}  // namespace headrace::pte
