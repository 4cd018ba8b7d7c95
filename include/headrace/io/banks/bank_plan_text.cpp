// SPDX-License-Identifier: MIT
// Defines headrace::bank_plan_text.

#include <headrace/io/banks/bank_plan_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>

namespace headrace {

namespace {

template <class... Values>
std::string row_of(const char* format, Values... values) {
    std::array<char, 256> row{};
    std::snprintf(row.data(), row.size(), format, values...);
    return row.data();
}

std::string text_of_use(memory_use use, std::uint64_t count, std::uint64_t bytes) {
    const char* const plural = count == 1 ? "" : "s";
    switch (use) {
        case memory_use::constants:
            return join_text(count, " constant", plural, " (", bytes, " bytes)");
        case memory_use::arena:
            return join_text("arena of ", count, " tensor", plural);
        case memory_use::state:
            return join_text(count, " state", plural, " (", bytes, " bytes)");
        case memory_use::stack:
            return join_text("stack (", bytes, " bytes)");
    }
    return {};
}

std::string contents_of(const banked_models& models, const bank_plan& plan, std::size_t bank) {
    std::string text;
    for (const memory_use use : memory_uses) {
        std::uint64_t count = 0, bytes = 0;
        for (std::size_t i = 0; i != models.items.size(); ++i) {
            if (plan.places[i].bank != bank || models.items[i].use != use) continue;
            ++count;
            bytes += models.items[i].bytes;
        }
        if (count == 0) continue;
        if (!text.empty()) text += ", ";
        text += text_of_use(use, count, bytes);
    }
    return text.empty() ? "-" : text;
}

std::string bank_rows(const banked_models& models, const memory_map& map, const bank_plan& plan) {
    std::string text = "bank                 size         used  lower bound     gap  holds\n";
    for (std::size_t b = 0; b != map.banks.size(); ++b) {
        const planned_bank& p = plan.banks[b];
        text += row_of("%-12s %12llu %12llu %12llu %6.2f%%  ", map.banks[b].name.c_str(),
            static_cast<unsigned long long>(map.banks[b].bytes), static_cast<unsigned long long>(p.bytes),
            static_cast<unsigned long long>(p.lower_bound), 100 * p.gap());
        text += contents_of(models, plan, b);
        if (p.bytes != p.lower_bound && p.is_optimal) text += "; no plan needs less";
        text += '\n';
    }
    return text;
}

}  // namespace

std::string bank_plan_text(const banked_models& models, const memory_map& map, const bank_plan& plan) {
    std::string text = join_text("memory map ", printable(map.name), "\n", bank_rows(models, map, plan));
    text += row_of("accesses take %.0f cycles", plan.cycles);
    text += plan.is_fastest ? "; no assignment to banks takes fewer"
                            : row_of("; %.0f if every tensor were in its fastest bank", plan.least_cycles);
    text += "\n\nbank               offset        bytes   first    last     accessed  tensor\n";
    std::vector<std::size_t> order(models.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::tuple(plan.places[i].bank, models.items[i].use == memory_use::arena,
            models.items[i].model, models.items[i].first, plan.places[i].offset);
    });
    for (const std::size_t i : order) {
        const bank_item& item = models.items[i];
        const bank_place& at = plan.places[i];
        const bool in_arena = item.use == memory_use::arena;
        text +=
            row_of("%-12s %12llu %12llu ", at.bank < map.banks.size() ? map.banks[at.bank].name.c_str() : "-",
                static_cast<unsigned long long>(at.offset), static_cast<unsigned long long>(item.bytes));
        text += in_arena ? row_of("%7u %7u", item.first, item.last) : "      -       -";
        text += row_of(" %12llu  ", static_cast<unsigned long long>(item.accessed));
        text += printable(item.name);
        if (models.names.size() > 1) text += join_text(" of ", printable(models.names[item.model]));
        if (!in_arena) text += join_text(", ", name_of(item.use));
        text += '\n';
    }
    return text;
}

}  // namespace headrace
