// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/quantization_config_reader.hpp.

#include <headrace/io/text/quantization_config_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/io/file/json_document.hpp>
#include <headrace/quantization/quantization_config.hpp>

namespace headrace {

namespace {

struct observer_word {
    std::string_view word;
    observer_kind kind;
};

constexpr observer_word observer_words[] = {{"histogram", observer_kind::histogram},
    {"min-max", observer_kind::min_max}, {"moving-average", observer_kind::moving_average},
    {"percentile", observer_kind::percentile}, {"mse", observer_kind::mean_square}};

[[nodiscard]] error no_such(const char* what, std::string_view word, const char* known) {
    return malformed({"no ", what, " is called ", in_quotes(word), "; there are ", known});
}

}  // namespace

result<void> set_observer(op_scheme& scheme, std::string_view word) {
    for (const auto& [known, kind] : observer_words) {
        if (word != known) continue;
        scheme.activation.observer = kind;
        return {};
    }
    return no_such("observer", word, "histogram, min-max, moving-average, percentile, mse");
}

result<void> set_activations(op_scheme& scheme, std::string_view word) {
    tensor_scheme& a = scheme.activation;
    const observer_kind observer = a.observer;
    const double headroom = a.headroom;
    if (word == "int8") {
        a = {};
    } else if (word == "int8-symmetric") {
        a = {.lowest = -127, .symmetric = true};
    } else if (word == "int16") {
        a = {.type = dtype::int16,
            .lowest = -32767,
            .highest = 32767,
            .symmetric = true,
            .smallest_scale = 0x1p-12};
    } else {
        return no_such("type of activations", word, "int8, int8-symmetric, int16");
    }
    a.observer = observer;
    a.headroom = headroom;
    return {};
}

result<void> set_weights(op_scheme& scheme, std::string_view word) {
    constexpr std::int64_t of_int8 = 127;
    constexpr std::int64_t of_int4 = 7;
    if (word != "int8" && word != "int4") return no_such("type of weights", word, "int8, int4");
    scheme.weight.highest = word == "int8" ? of_int8 : of_int4;
    scheme.weight.lowest = -scheme.weight.highest;
    return {};
}

namespace {

// Reads a member that sets part of a scheme; returns false for other members.
bool read_scheme_member(op_scheme& scheme, std::string_view key, simdjson::dom::element value) {
    const auto text = [&] {
        std::string_view word;
        if (value.get(word)) fail_malformed(in_quotes(key) + " is not a string");
        return word;
    };
    const auto take = [](const result<void>& done) {
        if (!done) throw failure{done.error()};
    };
    if (key == "activations") {
        take(set_activations(scheme, text()));
    } else if (key == "weights") {
        take(set_weights(scheme, text()));
    } else if (key == "observer") {
        take(set_observer(scheme, text()));
    } else if (key == "per_channel") {
        if (value.get(scheme.weight.per_channel)) fail_malformed("'per_channel' is not true or false");
    } else if (key == "percentile") {
        double& percent = scheme.activation.percentile;
        if (value.get(percent) || !(percent > 50 && percent <= 100))
            fail_malformed("'percentile' is not a number above 50 and up to 100");
    } else if (key == "headroom") {
        double& factor = scheme.activation.headroom;
        if (value.get(factor) || !(factor >= 1 && factor <= 16))
            fail_malformed("'headroom' is not a number from 1 to 16");
    } else {
        return false;
    }
    return true;
}

[[nodiscard]] quantization_rule read_quantization_rule(simdjson::dom::element json, const op_scheme& all) {
    using subject = quantization_rule::subject_type;
    quantization_rule rule;
    op_scheme scheme = all;
    bool stays_float = false;
    int subjects = 0;
    simdjson::dom::object members;
    if (json.get(members)) fail_malformed("a rule is not an object");
    for (const auto& [key, value] : members) {
        const bool names = key == "op" || key == "name" || key == "module";
        if (names) {
            std::string_view pattern;
            if (value.get(pattern)) fail_malformed(in_quotes(key) + " is not a string");
            rule.subject = key == "op" ? subject::op : key == "name" ? subject::name : subject::module;
            rule.pattern = pattern;
            ++subjects;
        } else if (key == "float") {
            if (value.get(stays_float)) fail_malformed("'float' is not true or false");
        } else if (!read_scheme_member(scheme, key, value)) {
            fail_malformed("a rule has no member " + in_quotes(key));
        }
    }
    if (subjects != 1) fail_malformed("a rule needs one of 'op', 'name' and 'module'");
    if (!stays_float) rule.scheme = scheme;
    return rule;
}

quantization_config read_settings(simdjson::dom::object members, quantization_config config) {
    for (const auto& [key, value] : members) {
        bool* flag = key == "equalize" ? &config.equalize
            : key == "smooth"          ? &config.smooth
            : key == "correct_biases"  ? &config.correct_biases
            : key == "keep_branches"   ? &config.keep_branches
            : key == "merge_branches"  ? &config.merge_branches
                                       : nullptr;
        if (flag != nullptr) {
            if (value.get(*flag)) fail_malformed(in_quotes(key) + " is not true or false");
        } else if (key != "rules" && !read_scheme_member(config.all, key, value))
            fail_malformed("there is no setting " + in_quotes(key));
    }
    simdjson::dom::array rules;
    if (members["rules"].get(rules) == simdjson::SUCCESS) {
        for (const simdjson::dom::element rule : rules)
            config.rules.push_back(read_quantization_rule(rule, config.all));
    } else if (members["rules"].error() == simdjson::SUCCESS) {
        fail_malformed("'rules' is not a list");
    }
    return config;
}

}  // namespace

result<quantization_config> read_quantization_config(
    std::span<const std::byte> json, quantization_config config) {
    return read_json_object(
        json, [&](simdjson::dom::object members) { return read_settings(members, std::move(config)); });
}

}  // namespace headrace
