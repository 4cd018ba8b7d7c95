// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/banks/bank_plan_json.hpp.

#include <headrace/io/banks/bank_plan_json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/io/file/json_document.hpp>

namespace headrace {

namespace {

void write_bank(json_writer& w, const memory_bank& bank, const planned_bank& planned) {
    w.begin_object();
    w.member("name", bank.name);
    w.member("size", bank.bytes);
    w.member("alignment", bank.alignment);
    w.member("bytes_per_cycle", bank.bytes_per_cycle);
    w.member("used", planned.bytes);
    w.member("lower_bound", planned.lower_bound);
    w.member("gap", planned.gap());
    w.member("optimal", planned.is_optimal);
    w.member("fixed", planned.fixed_bytes);
    w.end_object();
}

void write_item(json_writer& w, const bank_item& item, const bank_place& at, const banked_models& models,
    const memory_map& map) {
    w.begin_object();
    w.member("name", item.name);
    w.member("model", models.names[item.model]);
    w.member("use", name_of(item.use));
    w.member("bank", at.bank < map.banks.size() ? map.banks[at.bank].name : "");
    w.member("offset", at.offset);
    w.member("bytes", item.bytes);
    w.member("accessed", item.accessed);
    if (item.use == memory_use::arena) {
        w.member("first", item.first);
        w.member("last", item.last);
    }
    w.end_object();
}

void write_page_item(json_writer& w, std::size_t number, const banked_models& models, const bank_place& at,
    const std::vector<std::uint32_t>& steps) {
    const bank_item& item = models.items[number];
    const bool in_arena = item.use == memory_use::arena;
    w.begin_array();
    w.value(number);
    w.value(item.name);
    w.value(at.offset);
    w.value(item.bytes);
    w.value(in_arena ? steps[item.model] + item.first : 0);
    w.value(in_arena ? steps[item.model] + item.last : steps.back() - 1);
    w.value(name_of(item.use));
    w.value(item.model);
    w.end_array();
}

class places_reader {
public:
    places_reader(const banked_models& models, const memory_map& map) : models_(models), map_(map) {
        for (std::size_t i = 0; i != models.items.size(); ++i) {
            const bank_item& item = models.items[i];
            positions_.emplace(key(models.names[item.model], item.name, name_of(item.use)), i);
        }
        places_.resize(models.items.size());
        is_read_.resize(models.items.size());
    }
    std::vector<bank_place> read(simdjson::dom::object json) {
        for (const simdjson::dom::element tensor : json_get<simdjson::dom::array>(json, "tensors")) {
            simdjson::dom::object members;
            if (tensor.get(members)) fail_malformed("one of the 'tensors' is not an object");
            read_tensor(members);
        }
        for (std::size_t i = 0; i != is_read_.size(); ++i) {
            if (!is_read_[i]) fail_malformed("there is no place of " + in_quotes(models_.items[i].name));
        }
        return std::move(places_);
    }

private:
    using key = std::tuple<std::string, std::string, std::string>;

    void read_tensor(simdjson::dom::object json) {
        const auto text = [&](const char* member) {
            return std::string(json_get<std::string_view>(json, member));
        };
        const std::string name = text("name");
        const auto found = positions_.find(key(text("model"), name, text("use")));
        if (found == positions_.end())
            fail_malformed("the models have no tensor " + in_quotes(name) + " of that model and use");
        const std::size_t i = found->second;
        if (is_read_[i]) fail_malformed(in_quotes(name) + " has two places");
        const std::size_t bank = map_.find(text("bank"));
        if (bank == map_.banks.size())
            fail_malformed(in_quotes(name) + ": the memory map has no bank " + in_quotes(text("bank")));
        places_[i] = {static_cast<std::uint32_t>(bank), json_get<std::uint64_t>(json, "offset")};
        is_read_[i] = true;
    }

    const banked_models& models_;
    const memory_map& map_;
    std::map<key, std::size_t> positions_{};
    std::vector<bank_place> places_{};
    std::vector<bool> is_read_{};
};

}  // namespace

void write_bank_plan(
    json_writer& w, const banked_models& models, const memory_map& map, const bank_plan& plan) {
    w.begin_object();
    w.member("map", map.name);
    w.member("models", models.names);
    w.member("concurrent", models.run_at_once);
    w.member("cycles", plan.cycles);
    w.member("least_cycles", plan.least_cycles);
    w.member("fastest", plan.is_fastest);
    w.begin_array("banks");
    for (std::size_t b = 0; b != map.banks.size(); ++b) write_bank(w, map.banks[b], plan.banks[b]);
    w.end_array();
    w.begin_array("tensors");
    for (std::size_t i = 0; i != models.items.size(); ++i)
        write_item(w, models.items[i], plan.places[i], models, map);
    w.end_array();
    w.end_object();
}

std::string bank_page_json(const banked_models& models, const memory_map& map, const bank_plan& plan) {
    const std::vector<std::uint32_t> steps = first_steps(models);
    json_writer w(json_style::compact);
    w.begin_object();
    w.member("map", map.name);
    w.member("models", models.names);
    w.member("steps", steps.back());
    w.begin_array("banks");
    for (std::size_t b = 0; b != map.banks.size(); ++b) {
        w.begin_object();
        w.member("name", map.banks[b].name);
        w.member("size", map.banks[b].bytes);
        w.member("peak", plan.banks[b].bytes);
        w.member("lower_bound", plan.banks[b].lower_bound);
        w.begin_array("tensors");
        for (std::size_t i = 0; i != models.items.size(); ++i) {
            if (plan.places[i].bank == b) write_page_item(w, i, models, plan.places[i], steps);
        }
        w.end_array();
        w.end_object();
    }
    w.end_array();
    w.end_object();
    return std::move(w).text();
}

result<std::vector<bank_place>> read_bank_places(
    std::string_view json, const banked_models& models, const memory_map& map) {
    return read_json_object(std::as_bytes(std::span(json)),
        [&](simdjson::dom::object members) { return places_reader(models, map).read(members); });
}

}  // namespace headrace
