// SPDX-License-Identifier: MIT
// Defines headrace::add_graph_items.

#include <headrace/banks/graph_items.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

namespace {

bool is_constant(const node& n) { return is<builtin::constant>(n) || is<tosa::const_>(n); }

class item_collector {
public:
    item_collector(banked_models& models, const graph& g, const memory_plan& plan)
        : models_(models), plan_(plan), names_(g), model_(static_cast<std::uint32_t>(models.names.size())) {}

    std::vector<value> collect(const graph& g) {
        for (const planned_tensor& t : plan_.tensors) add_tensor(t);
        count_accesses(g);
        return std::move(values_);
    }

private:
    using key = std::pair<const node*, std::uint32_t>;
    static key key_of(value v) { return {v.producer, v.result}; }

    bank_item& add(value v, std::string_view name, memory_use use, std::uint64_t bytes) {
        models_.items.push_back({.name = std::string(name), .use = use, .bytes = bytes, .model = model_});
        values_.push_back(v);
        return models_.items.back();
    }
    void add_tensor(const planned_tensor& t) {
        if (t.memory != 0) return;
        const bool is_state = t.tensor.producer->find_annotation<input_state>() != nullptr;
        items_[key_of(t.tensor)] = models_.items.size();
        bank_item& item =
            add(t.tensor, names_[t.tensor], is_state ? memory_use::state : memory_use::arena, t.bytes);
        item.first = t.first;
        item.last = t.last;
    }

    void count_accesses(const graph& g) {
        for (const node& n : g.nodes()) {
            if (const auto* a = args_if<tosa::variable>(n)) add_variable(*a);
            if (is<builtin::placeholder>(n) || is<memory::alloc>(n) || liveness::is_known_before(n)) continue;
            count_node(n);
            if (is<delegate::call_delegate>(n)) continue;
            for_each_region(n, [&](const field_info&, const graph* region) {
                if (region != nullptr) count_accesses(*region);
            });
        }
    }
    void add_variable(const args<tosa::variable>& a) {
        const tensor_meta meta{a.type, a.shape, {}};
        variables_[std::string(a.variable_name)] = models_.items.size();
        add({}, a.variable_name, memory_use::state, meta.checked_elements() ? packed_bytes(meta) : max_bytes);
    }
    void count_node(const node& n) {
        const std::uint64_t macs = multiply_accumulates(n);
        for (const edge& e : n.operand_edges()) {
            const value v = *e.slot;
            const tensor_meta* const meta = meta_of(v);
            if (meta == nullptr || meta->dtype == dtype::unknown || meta->dtype == dtype::shape ||
                !meta->checked_elements())
                continue;
            const bool is_factor = macs != 0 && meta->rank() >= 2;
            std::uint64_t accessed = is_factor ? storage_bytes(meta->dtype, macs) : packed_bytes(*meta);
            if (is_view(n) || is<builtin::output>(n)) accessed = 0;
            if (is_constant(*v.producer)) add_constant(v, packed_bytes(*meta));
            count(v, accessed);
        }
        if (!is_view(n)) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const value v{const_cast<node*>(&n), i};
                if (const auto at = plan_.lifetimes.tensor_of(v)) count(v, plan_.tensors[*at].bytes);
            }
        }
        if (const auto* read = args_if<tosa::variable_read>(n)) count_variable(read->variable_name);
        if (const auto* written = args_if<tosa::variable_write>(n)) count_variable(written->variable_name);
    }
    void add_constant(value v, std::uint64_t bytes) {
        const auto [known, is_new] = items_.try_emplace(key_of(v), models_.items.size());
        if (is_new) add(v, names_[v], memory_use::constants, bytes);
    }
    // A view's accesses are those of the tensor, or of the constant, that it shows.
    void count(value v, std::uint64_t accessed) {
        if (const auto at = plan_.lifetimes.tensor_of(v)) v = plan_.tensors[*at].tensor;
        if (const auto known = items_.find(key_of(v)); known != items_.end())
            increase(models_.items[known->second].accessed, accessed);
    }
    void count_variable(std::string_view name) {
        const auto known = variables_.find(std::string(name));
        if (known == variables_.end()) return;
        bank_item& item = models_.items[known->second];
        increase(item.accessed, item.bytes);
    }
    static void increase(std::uint64_t& sum, std::uint64_t by) {
        if (__builtin_add_overflow(sum, by, &sum)) sum = max_bytes;
    }

    static constexpr std::uint64_t max_bytes = ~std::uint64_t{0};
    banked_models& models_;
    const memory_plan& plan_;
    printed_names names_;
    std::uint32_t model_;
    std::vector<value> values_{};
    std::map<key, std::size_t> items_{};
    std::map<std::string, std::size_t> variables_{};
};

}  // namespace

result<std::vector<value>> add_graph_items(banked_models& models, std::string_view name, const graph& g) {
    HEADRACE_TRY(plan, make_memory_plan(g));
    std::vector<value> values = item_collector(models, g, plan).collect(g);
    models.names.emplace_back(name);
    return values;
}

}  // namespace headrace
