// SPDX-License-Identifier: MIT
// Defines headrace::named_values and headrace::compare_with_board.

#include <headrace/compare/board_comparison.hpp>

#include <algorithm>
#include <map>

#include <headrace/base/edit_distance.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/compare/computed_values.hpp>
#include <headrace/compare/difference_kind.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/pte/reader.hpp>
#include <headrace/io/tosa/names.hpp>
#include <headrace/ir/opaque_text.hpp>

namespace headrace {

const board_layer* board_comparison::first() const {
    const auto found = std::ranges::find_if(layers, [](const board_layer& l) { return l.own != 0; });
    return found == layers.end() ? nullptr : &*found;
}

std::size_t board_comparison::differing() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(layers, [](const board_layer& l) { return l.differing != 0; }));
}

std::string instruction_text(std::uint32_t number, std::uint32_t result) {
    return result == 0 ? join_text("instruction ", number)
                       : join_text("instruction ", number, ", result ", result);
}

std::vector<std::pair<std::string, value>> named_values(const graph& g) {
    tosa_file::unique_names unique;
    static_cast<void>(unique.make("main"));  // the block itself, as the flatbuffer's writer has it
    const tosa_file::tosa_names names(g, unique);
    std::vector<std::pair<std::string, value>> found;
    for (node& n : const_cast<graph&>(g).nodes()) {
        if (is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n)) continue;
        const auto* const instruction = n.find_annotation<pte_instruction>();
        for (std::uint32_t i = 0; i != n.result_count; ++i)
            found.emplace_back(instruction != nullptr ? instruction_text(instruction->number, i)
                                                      : std::string(names.all()[names.index(n, i)]),
                n.result(i));
    }
    return found;
}

namespace {

struct paired_record {
    const board_record* record;
    std::string name;
    tensor of_board{};
};

/// Pairs records with values and executes the graph.
class board_run {
public:
    board_run(const graph& g, std::span<const board_record> records) : graph_(g), records_(records) {
        for (auto& [name, v] : named_values(g)) values_.emplace(std::move(name), v);
    }

    [[nodiscard]] result<void> pair_all() {
        for (std::size_t i = 0; i != records_.size(); ++i) {
            const board_record& r = records_[i];
            const auto found = values_.find(r.name);
            if (found == values_.end()) return unknown(i);
            const value v = found->second;
            HEADRACE_TRY(t, tensor_of(i, v));
            const auto [at, is_new] =
                pairs_.emplace(detail::key_of(v), paired_record{&r, r.name, std::move(t)});
            if (!is_new)
                return malformed(join_text(board_record_text(i + 1, r), "the dump has this tensor at offset ",
                    at->second.record->offset, ", too: a dump is of one inference"));
            wanted_.push_back(v);
        }
        return {};
    }

    // Takes the inputs from the dump.
    [[nodiscard]] result<std::vector<tensor>> dumped_inputs() const {
        std::vector<tensor> inputs;
        for (node& n : const_cast<graph&>(graph_).inputs()) {
            const auto found = pairs_.find(detail::key_of(n.result()));
            if (found == pairs_.end())
                return invalid(join_text("the dump does not have the input ", printable(n.results[0].name),
                    ": give the files of the inputs by --in"));
            inputs.push_back(found->second.of_board);
        }
        return inputs;
    }

    [[nodiscard]] result<board_comparison> run(
        std::span<const tensor> inputs, const source_finder& source_of) {
        board_comparison done{.not_dumped = values_.size() - pairs_.size()};
        std::map<detail::result_key, std::size_t> places;
        std::vector<earlier_tensor> earlier;
        HEADRACE_TRY(visit(inputs, [&](value v, const paired_record& p, tensor& t) {
            places.emplace(detail::key_of(v), done.layers.size());
            done.layers.push_back(compare(v, p, t, earlier, source_of));
            earlier.push_back({p.name, p.of_board.bytes()});
        }));
        if (done.differing() == 0) return done;
        // Each layer reads what the board computed, and so differs only by its own fault.
        HEADRACE_TRY(visit(inputs, [&](value v, const paired_record& p, tensor& t) {
            done.layers[places.at(detail::key_of(v))].own = differences_of(t, p.of_board).where.size();
            t = p.of_board;
        }));
        return done;
    }

private:
    [[nodiscard]] error unknown(std::size_t i) const {
        const board_record& r = records_[i];
        const auto nearest = std::ranges::min_element(values_, {}, [&](const auto& entry) {
            return edit_distance(std::string_view(entry.first).substr(0, max_printed_name),
                std::string_view(r.name).substr(0, max_printed_name));
        });
        return invalid(join_text(board_record_text(i + 1, r), "the model has no tensor of that name",
            nearest == values_.end() ? "" : "; the nearest is ",
            nearest == values_.end() ? std::string() : std::string(printable(nearest->first)),
            ": the board's model must be lowered from this one, by the same version and with the same options"));
    }

    [[nodiscard]] result<tensor> tensor_of(std::size_t i, value v) const {
        const board_record& r = records_[i];
        const tensor_meta* const meta = meta_of(v);
        if (meta == nullptr || eval::element_bytes(meta->dtype) == 0)
            return unsupported(join_text(board_record_text(i + 1, r), "the model does not say its type"));
        const std::size_t bytes =
            static_cast<std::size_t>(meta->elements()) * eval::element_bytes(meta->dtype);
        if (r.bytes.size() != bytes)
            return invalid(join_text(board_record_text(i + 1, r), "it has ", r.bytes.size(), " bytes, and ",
                bytes, " are expected: ", name_of(meta->dtype), " ", shape_text(meta->shape)));
        tensor t(meta->dtype, {meta->shape.begin(), meta->shape.end()});
        std::ranges::copy(r.bytes, t.mutable_bytes().begin());
        return t;
    }

    template <class F>
    [[nodiscard]] result<void> visit(std::span<const tensor> inputs, const F& f) const {
        const layer_visitor each = [&](value v, tensor& t) { f(v, pairs_.at(detail::key_of(v)), t); };
        HEADRACE_TRY(layer_runner(graph_, wanted_).run(inputs, each));
        return {};
    }

    [[nodiscard]] static board_layer compare(value v, const paired_record& p, const tensor& t,
        std::span<const earlier_tensor> earlier, const source_finder& source_of) {
        const node& n = *v.producer;
        board_layer told{.name = p.name, .op = std::string(op_name(n)), .source = source_of(p.name, n)};
        told.type = t.type();
        told.shape = t.shape();
        told.elements = static_cast<std::size_t>(t.size());
        const element_differences differing = differences_of(t, p.of_board);
        told.differing = differing.where.size();
        told.largest = differing.largest;
        if (differing.where.empty()) return told;
        auto first = static_cast<std::int64_t>(differing.where.front());
        told.expected = t.real(first);
        told.got = p.of_board.real(first);
        told.kind = difference_kind(t, p.of_board, differing, earlier);
        for (auto size = told.shape.rbegin(); size != told.shape.rend(); ++size) {
            told.first.insert(told.first.begin(), first % *size);
            first /= *size;
        }
        return told;
    }

    const graph& graph_;
    std::span<const board_record> records_;
    std::map<std::string, value, std::less<>> values_;
    std::map<detail::result_key, paired_record> pairs_;
    std::vector<value> wanted_;
};

}  // namespace

result<board_comparison> compare_with_board(const graph& g, std::span<const board_record> records,
    const std::optional<std::vector<tensor>>& inputs, const source_finder& source_of) {
    board_run run(g, records);
    HEADRACE_TRY(run.pair_all());
    if (inputs) return run.run(*inputs, source_of);
    HEADRACE_TRY(dumped, run.dumped_inputs());
    return run.run(dumped, source_of);
}

}  // namespace headrace
