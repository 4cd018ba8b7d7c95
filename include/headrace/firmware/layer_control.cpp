// SPDX-License-Identifier: MIT
// Writes control flow and variables.
#include <algorithm>
#include <vector>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/ir/meta_text.hpp>

namespace headrace::firmware {

result<std::vector<call>> layer_writer::write_region(const graph& region, std::span<const place> inputs) {
    std::vector<call> made;
    std::vector<call>* const outer = std::exchange(into_, &made);
    std::size_t i = 0;
    result<void> done;
    for (node& n : region.inputs()) put(n.result(), inputs[i++]);
    for (const node& n : region.nodes()) {
        if (done) done = write_node(n);
    }
    into_ = outer;
    if (!done) return done.error();
    return made;
}

// Two outputs may change places: those that are inputs as well are copied aside first.
result<void> layer_writer::copy_outputs(
    const graph& region, std::span<const place> to, std::vector<call>& behind) {
    std::vector<call>* const outer = std::exchange(into_, &behind);
    std::vector<operand> from;
    result<void> done;
    for (const value v : region.outputs()) {
        result<operand> o = operand_of(v);
        if (!o) {
            done = o.error();
            break;
        }
        const auto is_target = [&](const place& p) { return o.value().buffer == p.buffer; };
        const auto target = std::ranges::find_if(to, is_target);
        if (target != to.end() && static_cast<std::size_t>(target - to.begin()) != from.size()) {
            const place aside{add_buffer(o.value().type.type, target->type.span), target->type};
            done = copy(*v.producer, o.value(), at(aside));
            from.push_back(at(aside));
        } else {
            from.push_back(o.value());
        }
    }
    for (std::size_t i = 0; done && i != to.size(); ++i)
        if (from[i].buffer != to[i].buffer) done = copy(*region.outputs()[i].producer, from[i], at(to[i]));
    into_ = outer;
    return done;
}

result<std::vector<place>> layer_writer::add_results(const node& n) {
    std::vector<place> results;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        HEADRACE_TRY(p, add_result(n, i));
        results.push_back(p);
    }
    return results;
}

result<void> layer_writer::write(tosa::cond_if, const args<tosa::cond_if>& a, const node& n) {
    HEADRACE_TRY(condition, place_of(a.condition));
    std::vector<place> inputs;
    for (const value v : a.inputs) {
        HEADRACE_TRY(p, place_of(v));
        inputs.push_back(p);
    }
    HEADRACE_TRY(results, add_results(n));
    const std::size_t known = done_.buffers.size();
    const std::int64_t begin = done_.steps;
    call made{.name = name_of_node(n),
        .op = {},
        .operands = {},
        .kind = call::kind_type::branch,
        .condition = condition.buffer};
    const auto write_branch = [&](const graph& region, std::vector<call>& calls) -> result<void> {
        HEADRACE_TRY(written, write_region(region, inputs));
        calls = std::move(written);
        return copy_outputs(region, results, calls);
    };
    HEADRACE_TRY(write_branch(*a.then_graph, made.first));
    HEADRACE_TRY(write_branch(*a.else_graph, made.second));
    hold(known, begin);
    into_->push_back(std::move(made));
    return {};
}

/// Carried values share the memory of the loop's results.
result<void> layer_writer::write(tosa::while_loop, const args<tosa::while_loop>& a, const node& n) {
    HEADRACE_TRY(carried, add_results(n));
    std::size_t i = 0;
    for (const value v : a.inputs) {
        HEADRACE_TRY(from, operand_of(v));
        HEADRACE_TRY(copy(n, from, at(carried[i++])));
    }
    const place decision{add_buffer(on_device::element::boolean, 1), *dense_tensor({dtype::boolean, {}, {}})};
    const std::size_t known = done_.buffers.size();
    const std::int64_t begin = done_.steps;
    call made{.name = name_of_node(n),
        .op = {},
        .operands = {},
        .kind = call::kind_type::loop,
        .condition = decision.buffer};
    HEADRACE_TRY(test, write_region(*a.cond_graph, carried));
    made.first = std::move(test);
    place whole = decision;
    whole.type = *dense_tensor(*meta_of(a.cond_graph->outputs()[0]));
    HEADRACE_TRY(copy_outputs(*a.cond_graph, std::span(&whole, 1), made.first));
    HEADRACE_TRY(body, write_region(*a.body_graph, carried));
    made.second = std::move(body);
    HEADRACE_TRY(copy_outputs(*a.body_graph, carried, made.second));
    hold(known, begin);
    into_->push_back(std::move(made));
    return {};
}

// Keeps the buffers that a region uses, and that were there before it, until the region's end.
void layer_writer::hold(std::size_t known, std::int64_t begin) {
    for (std::size_t i = 0; i != known; ++i)
        if (done_.buffers[i].last >= begin)
            done_.buffers[i].last = std::max(done_.buffers[i].last, done_.steps - 1);
}

result<place> layer_writer::place_of(value v) {
    const auto found = places_.find({v.producer, v.result});
    if (found != places_.end()) return found->second;
    HEADRACE_TRY(from, operand_of(v));
    const place made{add_buffer(from.type.type, from.type.span), from.type};
    HEADRACE_TRY(copy(*v.producer, from, at(made)));
    return made;
}

// --- variables ---------------------------------------------------------------------------

result<void> layer_writer::write(tosa::variable, const args<tosa::variable>& a, const node& n) {
    const auto type = dense_tensor({a.type, a.shape, {}});
    if (!type) return refuse(n, "kernels of microcontrollers do not compute with this type");
    const place made{add_buffer(type->type, type->span), *type};
    done_.buffers[made.buffer].is_state = true;
    done_.buffers[made.buffer].names.emplace_back(a.variable_name);
    variables_[std::string(a.variable_name)] = made;
    std::vector<call>* const outer = std::exchange(into_, &done_.first_states);
    const std::int64_t steps = done_.steps;
    result<void> done;
    if (a.initial_value.bytes == nullptr) {  // it begins undefined
        static constexpr std::byte zeros[8]{};
        const auto zero = add_constant("zero", {a.type, {}, {}}, {.bytes = zeros});
        call_kernel(n, "hr::fill<" + format_tensor(*type) + ">", {*zero, at(made)});
    } else if (const auto first = add_constant(a.variable_name, {a.type, a.shape, {}}, a.initial_value)) {
        done = copy(n, *first, at(made));
    } else {
        done = refuse(n, "no kernel of microcontrollers reads a constant of this type");
    }
    done_.steps = steps;  // they run before all others
    into_ = outer;
    return done;
}

result<void> layer_writer::write(tosa::variable_read, const args<tosa::variable_read>& a, const node& n) {
    const auto found = variables_.find(a.variable_name);
    if (found == variables_.end()) return refuse(n, "there is no variable of this name");
    HEADRACE_TRY(to, add_result(n));
    return copy(n, at(found->second), at(to));
}

result<void> layer_writer::write(tosa::variable_write, const args<tosa::variable_write>& a, const node& n) {
    const auto found = variables_.find(a.variable_name);
    if (found == variables_.end()) return refuse(n, "there is no variable of this name");
    HEADRACE_TRY(from, operand_of(a.input1));
    return copy(n, from, at(found->second));
}

}  // namespace headrace::firmware
