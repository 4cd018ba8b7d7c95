// SPDX-License-Identifier: MIT
// Defines headrace::target_spec, the profiles and extensions of a TOSA target.
#ifndef HEADRACE_BASE_TARGET_SPEC_HPP
#define HEADRACE_BASE_TARGET_SPEC_HPP

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

/// The profiles and extensions of TOSA 1.0 (sections 1.3 and 1.4); `u55` for the Ethos-U55 subset; `u85` and
/// `core` for the operators that run fastest on an Ethos-U85 and on a microcontroller's core; `dsp` and `mve`
/// for the vector instructions of that core: Arm's DSP extension, or Helium.
enum class target_feature : std::uint16_t {
    profile_fp = 1,
    profile_int = 2,
    int4 = 4,
    int16 = 8,
    bf16 = 16,
    fp16 = 32,
    fp8e4m3 = 64,
    fp8e5m2 = 128,
    fft = 256,
    control_flow = 512,
    variable = 1024,
    u55 = 2048,
    u85 = 4096,
    core = 8192,
    dsp = 16384,
    mve = 32768
};

/// A target, such as `TOSA-1.0+INT+int16`.
struct target_spec {
    std::uint16_t features = 0;

    [[nodiscard]] constexpr bool has(target_feature f) const {
        return (features & static_cast<std::uint16_t>(f)) != 0;
    }
    constexpr void add(target_feature f) {
        features = static_cast<std::uint16_t>(features | static_cast<std::uint16_t>(f));
    }
    [[nodiscard]] constexpr target_spec with(target_feature f) const {
        target_spec wider = *this;
        wider.add(f);
        return wider;
    }
    [[nodiscard]] constexpr target_spec without(target_feature f) const {
        return {static_cast<std::uint16_t>(features & ~static_cast<unsigned>(f))};
    }
    [[nodiscard]] constexpr target_spec with(const target_spec& other) const {
        return {static_cast<std::uint16_t>(features | other.features)};
    }
    friend constexpr bool operator==(const target_spec&, const target_spec&) = default;
};

struct target_feature_name {
    std::string_view spelling;
    target_feature feature;
};

inline constexpr target_feature_name target_feature_names[] = {{"FP", target_feature::profile_fp},
    {"INT", target_feature::profile_int}, {"int4", target_feature::int4}, {"int16", target_feature::int16},
    {"bf16", target_feature::bf16}, {"fp16", target_feature::fp16}, {"fp8e4m3", target_feature::fp8e4m3},
    {"fp8e5m2", target_feature::fp8e5m2}, {"fft", target_feature::fft}, {"cf", target_feature::control_flow},
    {"var", target_feature::variable}, {"u55", target_feature::u55}, {"u85", target_feature::u85},
    {"core", target_feature::core}, {"dsp", target_feature::dsp}, {"mve", target_feature::mve}};

/// Parses `TOSA-1.0+FP+bf16`. Returns nothing if the version is not 1.0, a feature is unknown or given twice,
/// no profile is named, two processors are, or dsp or mve without core; `*rest`, if given, is then the part
/// that was not understood.
[[nodiscard]] constexpr std::optional<target_spec> parse_target(
    std::string_view text, std::string_view* rest = nullptr) {
    constexpr std::string_view first = "TOSA-1.0";
    const auto fail = [&](std::string_view part) -> std::optional<target_spec> {
        if (rest != nullptr) *rest = part;
        return std::nullopt;
    };
    if (!text.starts_with(first)) return fail(text);
    std::string_view left = text.substr(first.size());
    target_spec spec;
    while (!left.empty()) {
        if (left.front() != '+') return fail(left);
        left.remove_prefix(1);
        const std::string_view part = left.substr(0, left.find('+'));
        bool known = false;
        for (const target_feature_name& n : target_feature_names) {
            if (n.spelling == part && !spec.has(n.feature)) {
                spec.add(n.feature);
                known = true;
            }
        }
        const int processors = int{spec.has(target_feature::u55)} + int{spec.has(target_feature::u85)} +
            int{spec.has(target_feature::core)};
        const int vectors = int{spec.has(target_feature::dsp)} + int{spec.has(target_feature::mve)};
        if (!known || processors > 1 || vectors > int{spec.has(target_feature::core)}) return fail(part);
        left.remove_prefix(part.size());
    }
    if (!spec.has(target_feature::profile_fp) && !spec.has(target_feature::profile_int)) return fail(text);
    return spec;
}

}  // namespace headrace

#endif
