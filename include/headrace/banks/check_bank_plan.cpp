// SPDX-License-Identifier: MIT
// Defines headrace::check_bank_plan.

#include <headrace/banks/check_bank_plan.hpp>

#include <cstddef>
#include <cstdint>

#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>

namespace headrace {

namespace {

std::pmr::string text_of_item(const bank_item& i, const bank_place& at, const memory_map& map) {
    return text_of({"'", printable(i.name), "' (", name_of(i.use), ", ", i.bytes, " bytes at ", at.offset,
        " of bank '", printable(map.banks[at.bank].name), "')"});
}

bool lives_with(const bank_item& a, const bank_item& b, bool models_run_at_once) {
    const bool both_in_arenas = a.use == memory_use::arena && b.use == memory_use::arena;
    if (!both_in_arenas) return true;
    if (a.model != b.model) return models_run_at_once;
    return !(a.last < b.first || b.last < a.first);
}

result<void> check_place(const bank_item& i, const bank_place& at, const memory_map& map) {
    if (at.bank >= map.banks.size()) return invalid({"'", printable(i.name), "' lies in no bank"});
    const memory_bank& bank = map.banks[at.bank];
    if (!bank.may_hold(i.use))
        return invalid({text_of_item(i, at, map), ": the bank may not hold ", name_of(i.use)});
    if (at.offset % bank.alignment != 0)
        return invalid({text_of_item(i, at, map), ": the offset is no multiple of ", bank.alignment});
    if (at.offset > bank.bytes || i.bytes > bank.bytes - at.offset)
        return invalid({text_of_item(i, at, map), ": the bank ends at ", bank.bytes});
    return {};
}

}  // namespace

result<void> check_bank_plan(
    const banked_models& models, const memory_map& map, std::span<const bank_place> places) {
    if (places.size() != models.items.size())
        return invalid(
            {"the plan has ", places.size(), " places, the models have ", models.items.size(), " tensors"});
    for (std::size_t i = 0; i != places.size(); ++i) {
        const bank_item& a = models.items[i];
        if (a.bytes == 0) continue;
        HEADRACE_TRY(check_place(a, places[i], map));
        for (std::size_t k = 0; k != i; ++k) {
            const bank_item& b = models.items[k];
            if (b.bytes == 0 || places[i].bank != places[k].bank) continue;
            const bool shares_bytes = places[i].offset < places[k].offset + b.bytes &&
                places[k].offset < places[i].offset + a.bytes;
            if (shares_bytes && lives_with(a, b, models.run_at_once))
                return invalid({"two that are live at the same time overlap: ",
                    text_of_item(b, places[k], map), " and ", text_of_item(a, places[i], map)});
        }
    }
    return {};
}

}  // namespace headrace
