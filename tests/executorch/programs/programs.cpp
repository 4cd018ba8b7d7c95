// SPDX-License-Identifier: MIT
// Writes programs that random_programs.py executes in ExecuTorch's runtime:
//
//     headrace_runtime_programs FOLDER programs COUNT SEED   random programs of many ops
//     headrace_runtime_programs FOLDER ops CASES [OP]        each op alone, with arguments that programs
//     rarely have
//
// The results that are expected, K.wantI.npy, are PyTorch's for the program's ops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/rewrite/emit.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/show/sample_arguments.hpp>

#include "../../support/extreme_arguments.hpp"
#include "program_folder.hpp"

using namespace headrace;
using namespace headrace::samples;

namespace {

constexpr std::int64_t most_elements = 1024;  // of a tensor
constexpr std::size_t most_results = 64;

bool is_npy_type(dtype t) {
    return t == dtype::float32 || t == dtype::float64 || t == dtype::float16 || t == dtype::int64 ||
        t == dtype::int32 || t == dtype::int16 || t == dtype::int8 || t == dtype::uint8 ||
        t == dtype::boolean;
}
bool is_small(const tensor_meta& m) {
    const auto count = m.checked_elements();
    return count && static_cast<std::int64_t>(*count) <= most_elements;
}

/// The ops whose results depend only on their operands.
template <class Dialect>
std::vector<const op_info*> pure_ops() {
    std::vector<const op_info*> ops;
    for (const op_info* op : op_table<Dialect>) {
        const std::string_view name = op->name.substr(0, op->name.rfind('.'));
        // Its second result is for its gradient only, and differs between devices.
        if (name == "aten.log_sigmoid_forward") continue;
        if (!op->has(trait::impure | trait::host_number) && !name.ends_with('_')) ops.push_back(op);
    }
    return ops;
}

/// Draws the elements of tensors.
class element_source {
public:
    explicit element_source(std::mt19937& random) : random_(random) {}

    tensor draw(const operand& spec) {
        tensor t(spec.type, spec.shape);
        std::vector<double> numbers(static_cast<std::size_t>(t.size()));
        const unsigned style = random_() % 4;
        for (double& x : numbers) {
            x = is_floating(spec.type) ? real(style) : whole(spec.type, style);
        }
        t.assign(numbers);
        return t;
    }

private:
    double real(unsigned style) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0, -0.0, 0.5,
            -0.5, 1.5, 2.5, -1.5, 64, -64, 1e-6, 127.6, -3, 1};
        if (style == 0) return static_cast<double>(random_() % 7) - 3;
        if (style == 1 && random_() % 3 == 0) return odd[random_() % std::size(odd)];
        return normal_(random_);
    }
    double whole(dtype type, unsigned style) {
        if (is_boolean(type)) return static_cast<double>(random_() % 2);
        if (style == 1) return static_cast<double>(random_() % 200) - (type == dtype::uint8 ? 0 : 100);
        if (type == dtype::uint8 || style == 2) return static_cast<double>(random_() % 4);
        return static_cast<double>(random_() % 11) - 5;
    }

    std::mt19937& random_;
    std::normal_distribution<double> normal_;
};

/// A program whose nodes are executed as they are added, with the result of each.
class sample_program {
public:
    explicit sample_program(std::mt19937& random) : random_(random), elements_(random) {}

    /// Adds a node; false if its op does not accept the arguments, or its result is undefined.
    bool add(const op_info& op, const arguments& all) {
        for (const argument& a : all) {
            for (const auto& t : a.tensors) {
                if (t && !(is_npy_type(t->type) && is_small({t->type, int_list(t->shape), {}}))) return false;
            }
        }
        const argument_struct given(op, all, [this](const operand& spec) { return operand_for(spec); });
        const auto count = op.results == variadic_results ? 1U : static_cast<unsigned>(op.results);
        node* n = &g.create(op, given.data(), count);
        inference inferred(g.arena());
        const auto fits = [](const tensor_meta& m) { return is_npy_type(m.dtype) && is_small(m); };
        if (!infer_node(*n, inferred) || inferred.results().size() > most_results ||
            !std::ranges::all_of(inferred.results(), fits))
            return withdraw(*n);
        if (op.results == variadic_results) {
            g.erase(*n);
            n = &g.create(op, given.data(), inferred.results().size());
        }
        for (std::uint32_t i = 0; i != n->result_count; ++i) g.set_meta(n->result(i), inferred.results()[i]);
        if (!is_defined(*n) || !are_ordinary(*n, all)) return withdraw(*n);
        auto results = evaluate_node(*n, operands_of(*n));
        if (!results || !has_kernels(*n)) return withdraw(*n);
        commit();
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            if (!is_undetermined(*n, i)) pool_.push_back({n->result(i), results.value()[i]});
        }
        return true;
    }
    /// Ends the program: its outputs are all results, or those that no node uses.
    bool finish(bool all) {
        std::vector<value> results;
        for (const known& k : pool_) {
            const bool computed = !is_of_dialect<builtin::dialect>(*k.v.producer);
            if (computed && (all || k.v.producer->first_use == nullptr)) results.push_back(k.v);
        }
        if (results.empty()) return false;
        g.create<builtin::output>({.values = list<value>(results)});
        return true;
    }
    /// Returns the outputs if each float that an op rounds is changed by the share `change`, up or down.
    [[nodiscard]] std::optional<std::vector<tensor>> outputs(double change) const {
        std::map<std::pair<std::uint32_t, std::uint32_t>, tensor> values;  // results, by node
        std::size_t next = 0;
        for (const node& n : g.nodes()) {
            std::vector<tensor> operands;
            for (const edge& e : n.operand_edges())
                operands.push_back(values.at({e.source->id, e.slot->result}));
            if (is<builtin::output>(n)) return operands;
            std::vector<tensor> results;
            if (is<builtin::placeholder>(n)) {
                results.push_back(inputs[next++]);
            } else {
                auto made = evaluate_node(n, operands);
                if (!made) return std::nullopt;
                results = std::move(made).value();
                if (!is<builtin::constant>(n)) round(results, operands, change);
            }
            for (std::uint32_t i = 0; i != n.result_count; ++i)
                values.emplace(std::pair(n.id, i), results[i]);
        }
        return std::nullopt;
    }
    [[nodiscard]] std::size_t known_values() const { return pool_.size(); }
    [[nodiscard]] const tensor& known_value(std::size_t i) const { return pool_[i].t; }

    graph g;
    std::vector<tensor> inputs;

private:
    struct known {
        value v;
        tensor t;
    };

    value operand_for(const operand& spec) {
        std::vector<value> fitting;
        for (const known& k : pool_) {
            if (k.t.type() == spec.type && k.t.shape() == spec.shape) fitting.push_back(k.v);
        }
        if (!fitting.empty() && random_() % 8 != 0) return fitting[random_() % fitting.size()];
        const tensor t = elements_.draw(spec);
        const tensor_meta meta{spec.type, int_list(spec.shape), {}};
        value v{};
        if (random_() % 3 == 0) {
            v = create_constant(g, meta, nullptr, [&](std::span<std::byte> data) {
                std::ranges::copy(t.bytes().first(std::min(data.size(), t.bytes().size())), data.begin());
            });
        } else {
            v = g.create<builtin::placeholder>({}).result();
            g.set_meta(v, meta);
        }
        pending_.push_back({v, t});
        return v;
    }
    [[nodiscard]] std::vector<tensor> operands_of(const node& n) const {
        std::vector<tensor> all;
        for (const edge& e : n.operand_edges()) {
            for (const auto* from : {&pool_, &pending_}) {
                const auto found = std::ranges::find(*from, *e.slot, &known::v);
                if (found == from->end()) continue;
                all.push_back(found->t);
                break;
            }
        }
        return all;
    }
    /// True if C++ defines the behaviour of PyTorch's kernels: converting a float out of range of the integer
    /// type is undefined ([conv.fpint]), as is a shift by at least the width.
    [[nodiscard]] bool is_defined(const node& n) const {
        const std::vector<tensor> operands = operands_of(n);
        const op_info& op = n.op->functional();
        const dtype made = n.result_count == 0 ? dtype::unknown : n.results[0].meta->dtype;
        if (is_integral(made)) {
            const double high =
                made == dtype::uint8 ? 256 : std::ldexp(1.0, static_cast<int>(traits_of(made).bits) - 1);
            const double low = made == dtype::uint8 ? -1 : -high - 1;
            for (const tensor& t : operands) {
                if (!is_floating(t.type())) continue;
                for (std::int64_t i = 0; i != t.size(); ++i) {
                    if (!(t.real(i) > low && t.real(i) < high)) return false;
                }
            }
        }
        if (!op.has(trait::on_bits) || !op.has(trait::on_numbers)) return true;
        for (std::int64_t i = 0; operands.size() == 2 && i != operands[1].size(); ++i) {
            if (operands[1].real(i) < 0 ||
                operands[1].real(i) >= static_cast<double>(traits_of(made).bits - 1))
                return false;
        }
        return true;
    }
    /// False for cases in which PyTorch's own kernels differ: sums of products in which infinity or NaN meets
    /// a weight of 0, numbers out of range of the type in which an op computes, and norms of an order near 0,
    /// whose root magnifies the rounding of the sum.
    [[nodiscard]] bool are_ordinary(const node& n, const arguments& all) const {
        for (std::size_t i = 0; i != all.size(); ++i) {
            const argument& a = all[i];
            if (a.absent) continue;
            const field_info& field = n.op->fields[i];
            if (field.name == "p" && field.kind == field_kind::floating && std::abs(a.reals[0]) < 0.1)
                return false;
            const auto is_odd = [](double x) {
                return !(std::abs(x) < 1e30 && (x == 0 || std::abs(x) > 1e-30));
            };
            if (is_odd(a.number.to_double()) || std::ranges::any_of(a.reals, is_odd)) return false;
            if (!a.ints.empty() && std::ranges::max(a.ints) > most_elements) return false;
        }
        const std::string_view name = n.op->name;
        const auto weights = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
        if (!weights("upsample") && !weights("conv") && !weights("grid_sampler") && !weights("col2im"))
            return true;
        for (const tensor& t : operands_of(n)) {
            for (std::int64_t i = 0; i != t.size(); ++i) {
                if (!std::isfinite(t.real(i))) return false;
            }
        }
        return true;
    }
    /// True if PyTorch leaves the result open: the contents of `empty`, and the index among equal elements,
    /// NaN included.
    static bool is_undetermined(const node& n, std::uint32_t result) {
        const std::string_view name = n.op->name;
        const auto is = [&](std::string_view begin) { return name.starts_with(begin); };
        return is("aten.empty") || is("aten.new_empty") ||
            (result == 1 &&
                (is("aten.topk") || is("aten.sort") || is("aten.max_pool") || is("aten.adaptive_max")));
    }
    /// True if the node alone is lowered.
    [[nodiscard]] bool has_kernels(const node& n) const {
        std::map<std::string, program, std::less<>> methods;
        program p{};
        p.graph = std::make_unique<graph>();
        std::map<std::pair<std::uint32_t, std::uint32_t>, value> inputs_of;
        node& copy = p.graph->create(*n.op, n.arguments, n.result_count);
        for (edge& e : std::span(copy.operands, copy.operand_count)) {
            const value from = *e.slot;
            const std::pair key(from.producer->id, from.result);
            if (!inputs_of.contains(key)) {
                const auto add = [&](const node& source) {
                    if (is<builtin::constant>(source)) {
                        return p.graph->create<builtin::constant>(args_of<builtin::constant>(source), &copy)
                            .result();
                    }
                    return p.graph->create<builtin::placeholder>({}, p.graph->first()).result();
                };
                const value input = add(*from.producer);
                p.graph->set_meta(input, *meta_of(from));
                inputs_of.emplace(key, input);
            }
            p.graph->set_operand(e, inputs_of.at(key));
        }
        std::vector<value> results;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            p.graph->set_meta(copy.result(i), *n.results[i].meta);
            results.push_back(copy.result(i));
        }
        p.graph->create<builtin::output>({.values = list<value>(results)});
        p.user_outputs = results.size();
        methods.emplace("forward", std::move(p));
        const auto lowered = lower_to_pte(std::move(methods));
        return lowered && lowered.value().refusals.empty();
    }
    /// Perturbs results that have been computed, but not those that have only been moved.
    static void round(std::vector<tensor>& results, const std::vector<tensor>& operands, double change) {
        std::vector<double> given;
        for (const tensor& t : operands) {
            const std::vector<double> numbers = t.to<double>();
            given.insert(given.end(), numbers.begin(), numbers.end());
        }
        std::ranges::sort(given);
        for (tensor& t : results) {
            if (!is_floating(t.type())) continue;
            std::vector<double> numbers = t.to<double>();
            for (double& x : numbers) {
                if (std::ranges::binary_search(given, x) || x == 0) continue;
                x *= 1 + change;
                change = -change * 0.97;
            }
            t = tensor::of(t.type(), t.shape(), numbers);
        }
    }
    bool withdraw(node& n) {
        g.erase(n);
        for (const known& k : pending_) g.erase(*k.v.producer);
        pending_.clear();
        return false;
    }
    void commit() {
        for (const known& k : pending_) {
            if (is<builtin::placeholder>(*k.v.producer)) inputs.push_back(k.t);
            pool_.push_back(k);
        }
        pending_.clear();
    }

    std::mt19937& random_;
    element_source elements_;
    std::vector<known> pool_;
    std::vector<known> pending_;
};

bool is_same(double a, double b, double granted) {
    return std::isnan(a) ? std::isnan(b) : a == b || std::abs(a - b) <= granted * (1 + std::abs(a));
}

/// True if small changes of each rounding change the outputs little. Otherwise, two correct programs differ.
bool is_stable(const sample_program& p, const std::vector<tensor>& expected) {
    for (const double change : {1e-6, -1e-6}) {
        const auto got = p.outputs(change);
        if (!got) return false;
        for (std::size_t k = 0; k != expected.size(); ++k) {
            for (std::int64_t i = 0; i != expected[k].size(); ++i) {
                const double granted = is_floating(expected[k].type()) ? 3e-5 : 0;
                if (!is_same(expected[k].real(i), (*got)[k].real(i), granted)) return false;
            }
        }
    }
    return true;
}

/// Lowers a program and writes it into a folder; true if there is a file now.
bool write(program_folder& folder, const sample_program& p, const std::vector<tensor>& expected) {
    std::map<std::string, program, std::less<>> methods;
    program copy{};
    copy.graph = std::make_unique<graph>();
    copy_graph(p.g, *copy.graph);
    copy.user_outputs = expected.size();
    methods.emplace("forward", std::move(copy));
    auto lowered = lower_to_pte(std::move(methods));
    if (!lowered || !lowered.value().refusals.empty()) return false;
    return folder.write(lowered.value().file, listing(p.g), p.inputs, expected);
}

/// Draws a program of 1 to 24 ops; false if it has none.
bool generate(sample_program& p, std::mt19937& random, const std::vector<const op_info*>& ops) {
    small_arguments small(random);
    const std::size_t wanted = 1 + random() % 24;
    std::size_t added = 0;
    for (std::size_t tries = 0; added != wanted && tries != 60 * wanted; ++tries) {
        const op_info& op = *ops[random() % ops.size()];
        arguments all = small.draw(op);
        if (p.known_values() != 0 && random() % 4 != 0) {
            const tensor& base = p.known_value(random() % p.known_values());
            if (base.shape().size() < 6) all = small.draw(op, base.type(), base.shape());
        }
        for (argument& a : all) {  // programs do have sizes of 0, rarely
            for (auto& t : a.tensors) {
                if (t && !t->shape.empty() && random() % 40 == 0) t->shape[random() % t->shape.size()] = 0;
            }
        }
        if (p.add(op, all)) ++added;
    }
    return added != 0;
}

void write_programs(program_folder& folder, std::size_t count, unsigned seed) {
    const std::vector<const op_info*> ops = pure_ops<aten::dialect>();
    for (; folder.count() != count; ++seed) {
        std::mt19937 random(seed);
        sample_program p(random);
        if (!generate(p, random, ops) || !p.finish(random() % 2 != 0)) continue;
        const auto expected = p.outputs(0);
        if (expected && is_stable(p, *expected)) write(folder, p, *expected);
    }
}

template <class Dialect>
void write_ops(program_folder& folder, std::size_t cases, std::string_view wanted) {
    for (const op_info* op : pure_ops<Dialect>()) {
        if (!wanted.empty() && op->name != wanted) continue;
        std::mt19937 random(1);
        const std::size_t begin = folder.count();
        const auto take = [&](const arguments& all) {
            if (folder.count() - begin >= cases) return true;
            sample_program p(random);
            if (!p.add(*op, all) || !p.finish(true)) return false;
            const auto expected = p.outputs(0);
            return expected && is_stable(p, *expected) && write(folder, p, *expected);
        };
        constexpr std::size_t each = 6;  // cases from the same small arguments
        extreme_arguments drawn(*op, random, take, 1500);
        drawn.find((cases + each - 1) / each, [&](const arguments& all) {
            for (std::size_t k = 0; k != each; ++k) drawn.replace_some(all, 1 + k % 2);
        });
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 3) {
        std::cerr << "usage: FOLDER programs COUNT SEED | FOLDER ops CASES [OP]\n";
        return 2;
    }
    program_folder folder(words[0]);
    const std::size_t count = std::strtoul(words[2].c_str(), nullptr, 10);
    const std::string last = words.size() > 3 ? words[3] : std::string();
    if (words[1] == "programs") {
        write_programs(folder, count, static_cast<unsigned>(std::strtoul(last.c_str(), nullptr, 10)));
    } else {
        write_ops<aten::dialect>(folder, count, last);
        write_ops<dim_order_ops::dialect>(folder, count, last);
        write_ops<quantized_decomposed::dialect>(folder, count, last);
    }
    std::cout << folder.count() << " programs\n";
}
