// SPDX-License-Identifier: MIT
// Plans the buffers and constants of a C++ type over the banks of a board, and writes them.
#include <headrace/firmware/bank_layout.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <headrace/banks/check_bank_plan.hpp>

namespace headrace::firmware {

namespace {

std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

/// The memory of a model's layers as items: buffers first, then constants, the states as one, the stack.
class layer_items {
public:
    explicit layer_items(const written_layers& layers) : layers_(layers) {
        models_.names = {"model"};
        for (const planned_buffer& b : layers.buffers) add_buffer(b);
        first_constant_ = models_.items.size();
        for (const auto& a : layers.constants.arrays()) {
            constants_[fmt::format("hr::flash<constants::{}>", a.name)] = models_.items.size();
            models_.items.push_back(
                {.name = a.name, .use = memory_use::constants, .bytes = a.bytes, .accessed = a.bytes});
        }
        for_each_call(layers, [&](const call& c) { count(c); });
    }
    // Returns the item of the states, which is the last but for the stack.
    std::size_t add_states_and_stack(std::uint64_t stack_bytes) {
        std::uint64_t bytes = 0;
        for (const planned_buffer& b : layers_.buffers) {
            if (b.is_state) bytes += (unsigned_of(b.bytes()) + 15) / 16 * 16;
        }
        models_.items.push_back(
            {.name = "states", .use = memory_use::state, .bytes = bytes, .accessed = bytes});
        if (stack_bytes != 0)
            models_.items.push_back(
                {.name = "stack", .use = memory_use::stack, .bytes = stack_bytes, .accessed = stack_bytes});
        return first_constant_ + layers_.constants.arrays().size();
    }
    [[nodiscard]] const banked_models& models() const { return models_; }
    [[nodiscard]] std::size_t first_constant() const { return first_constant_; }

private:
    // A state's buffer stays an item without bytes, so that items and buffers have the same numbers.
    void add_buffer(const planned_buffer& b) {
        models_.items.push_back({.name = b.names.empty() ? "memory" : b.names.front(),
            .bytes = b.is_state ? 0 : unsigned_of(b.bytes()),
            .first = static_cast<std::uint32_t>(std::max<std::int64_t>(b.first, 0)),
            .last = static_cast<std::uint32_t>(std::max(b.last, std::max<std::int64_t>(b.first, 0)))});
    }
    // A layer that multiplies reads an element of its input and of its weights for each multiplication; all
    // other operands are read or written once.
    void count(const call& c) {
        for (std::size_t i = 0; i != c.operands.size(); ++i) {
            const bool is_factor = c.macs != 0 && i < 2;
            if (c.buffers[i]) {
                const planned_buffer& b = layers_.buffers[*c.buffers[i]];
                models_.items[*c.buffers[i]].accessed += is_factor
                    ? std::max(unsigned_of(b.bytes()), unsigned_of(c.macs * bytes_of(b.type)))
                    : unsigned_of(b.bytes());
            } else if (const auto known = constants_.find(c.operands[i]); known != constants_.end()) {
                bank_item& item = models_.items[known->second];
                if (is_factor) item.accessed = std::max(item.accessed, item.bytes) + unsigned_of(c.macs);
            }
        }
        if (c.scratch) models_.items[*c.scratch].accessed += 2 * models_.items[*c.scratch].bytes;
    }

    const written_layers& layers_;
    banked_models models_{};
    std::size_t first_constant_ = 0;
    std::map<std::string, std::size_t, std::less<>> constants_{};
};

}  // namespace

std::string bank_macro(const std::string& bank, bool of_constants) {
    std::string name = "HEADRACE_BANK_";
    for (const char c : bank) name += 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return of_constants ? name + "_CONSTANTS" : name;
}

result<bank_layout> plan_banks(written_layers& layers, const memory_map& map) {
    layer_items items(layers);
    const std::size_t states = items.add_states_and_stack(map.stack_bytes);
    memory_map aligned = map;  // kernels want 16 bytes
    for (memory_bank& b : aligned.banks) b.alignment = std::max<std::uint64_t>(b.alignment, 16);
    HEADRACE_TRY(plan, make_bank_plan(items.models(), aligned));
    HEADRACE_TRY(check_bank_plan(items.models(), aligned, plan.places));
    bank_layout made;
    for (const memory_bank& b : aligned.banks) made.parts.push_back({b.name, b.alignment});
    std::vector<std::int64_t> numbers(map.banks.size(), -1);  // of the arenas, by bank
    for (std::size_t i = 0; i != layers.buffers.size(); ++i) {
        planned_buffer& b = layers.buffers[i];
        if (b.is_state) continue;
        const bank_place& at = plan.places[i];
        std::int64_t& number = numbers[at.bank];
        if (number < 0) {
            number = static_cast<std::int64_t>(made.arenas.size());
            made.arenas.push_back(at.bank);
        }
        b.arena = number;
        b.offset = static_cast<std::int64_t>(at.offset - plan.banks[at.bank].fixed_bytes);
    }
    for (const std::size_t b : made.arenas) {
        const planned_bank& p = plan.banks[b];
        made.parts[b].arena_bytes = static_cast<std::int64_t>(p.bytes - p.fixed_bytes);
        made.parts[b].lower_bound = static_cast<std::int64_t>(p.lower_bound - p.fixed_bytes);
        made.arena_bytes += made.parts[b].arena_bytes;
        made.lower_bound += made.parts[b].lower_bound;
    }
    std::vector<std::string> attributes;
    for (std::size_t i = items.first_constant(); i != states; ++i) {
        bank_part& part = made.parts[plan.places[i].bank];
        part.constant_bytes += static_cast<std::int64_t>(items.models().items[i].bytes);
        attributes.push_back(bank_macro(part.name, true));
    }
    layers.constants.add_attributes(attributes);
    if (items.models().items[states].bytes != 0) made.parts[plan.places[states].bank].holds_states = true;
    if (map.stack_bytes != 0) made.parts[plan.places.back().bank].holds_stack = true;
    return made;
}

std::string format_banks(const bank_layout& layout) {
    std::string text;
    for (const bank_part& p : layout.parts) {
        text += fmt::format("// bank {}:", p.name);
        if (p.arena_bytes != 0)
            text += fmt::format(
                " an arena of {} bytes (no plan needs less than {}),", p.arena_bytes, p.lower_bound);
        text += fmt::format(" {} bytes of constants", p.constant_bytes);
        if (p.holds_states) text += ", the states: the model object belongs here";
        if (p.holds_stack) text += ", the stack";
        text += '\n';
    }
    return text;
}

std::string format_bank_macros(const bank_layout& layout) {
    std::set<std::string> macros;
    for (const bank_part& p : layout.parts) {
        if (p.arena_bytes != 0) macros.insert(bank_macro(p.name, false));
        if (p.constant_bytes != 0) macros.insert(bank_macro(p.name, true));
    }
    if (macros.empty()) return {};
    std::string text =
        "\n// Sections of the linker script, which a build defines, as __attribute__((section(\".dtcm\"))) or so.\n"
        "// What is constant needs another section than what is written.\n";
    for (const std::string& m : macros) text += fmt::format("#ifndef {0}\n#define {0}\n#endif\n", m);
    return text;
}

std::string format_arenas(const bank_layout& layout) {
    if (layout.arenas.empty()) return {};
    std::string text = "// The arenas, for `model(arenas)`; memory of other models serves as well.\n";
    std::string list;
    for (std::size_t i = 0; i != layout.arenas.size(); ++i) {
        const bank_part& p = layout.parts[layout.arenas[i]];
        text += fmt::format("alignas({}) {} inline std::byte arena_in_{}[model::bytes_of_bank[{}]];\n",
            p.alignment, bank_macro(p.name, false), p.name, i);
        list += fmt::format("{}arena_in_{}", i == 0 ? "" : ", ", p.name);
    }
    if (layout.arenas.size() == 1) return text + fmt::format("inline auto& arenas = {};\n\n", list);
    return text +
        fmt::format("inline const std::array<std::byte*, {}> arenas{{{}}};\n\n", layout.arenas.size(), list);
}

}  // namespace headrace::firmware
