// SPDX-License-Identifier: MIT
// Defines compile-time reflection of an argument struct's members: their number, types, offsets and names.
#ifndef HEADRACE_OP_MEMBERS_HPP
#define HEADRACE_OP_MEMBERS_HPP

#include <cstddef>
#include <string_view>

namespace headrace {

namespace detail {

// True if an aggregate can be initialized from N values, so that it has at least N members.
template <class Args, std::size_t N>
constexpr bool takes() {
    if constexpr (N == 0) return requires { Args{}; };
    if constexpr (N == 1) return requires { Args{{}}; };
    if constexpr (N == 2) return requires { Args{{}, {}}; };
    if constexpr (N == 3) return requires { Args{{}, {}, {}}; };
    if constexpr (N == 4) return requires { Args{{}, {}, {}, {}}; };
    if constexpr (N == 5) return requires { Args{{}, {}, {}, {}, {}}; };
    if constexpr (N == 6) return requires { Args{{}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 7) return requires { Args{{}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 8) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 9) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 10) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 11) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 12) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 13) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 14) return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    if constexpr (N == 15)
        return requires { Args{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    return false;
}

// The member types of an argument struct, and the addresses of its members.
template <class... Ts>
struct members {
    const void* at[sizeof...(Ts) == 0 ? 1 : sizeof...(Ts)];
};
template <class... Ts>
constexpr members<Ts...> members_at(const Ts&... all) {
    return {{&all...}};
}

// Structured bindings give access to members without their names.
template <std::size_t N, class Args>
constexpr auto members_of([[maybe_unused]] const Args& a) {
    if constexpr (N == 0) return members<>{};
    if constexpr (N == 1) {
        const auto& [m0] = a;
        return members_at(m0);
    }
    if constexpr (N == 2) {
        const auto& [m0, m1] = a;
        return members_at(m0, m1);
    }
    if constexpr (N == 3) {
        const auto& [m0, m1, m2] = a;
        return members_at(m0, m1, m2);
    }
    if constexpr (N == 4) {
        const auto& [m0, m1, m2, m3] = a;
        return members_at(m0, m1, m2, m3);
    }
    if constexpr (N == 5) {
        const auto& [m0, m1, m2, m3, m4] = a;
        return members_at(m0, m1, m2, m3, m4);
    }
    if constexpr (N == 6) {
        const auto& [m0, m1, m2, m3, m4, m5] = a;
        return members_at(m0, m1, m2, m3, m4, m5);
    }
    if constexpr (N == 7) {
        const auto& [m0, m1, m2, m3, m4, m5, m6] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6);
    }
    if constexpr (N == 8) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7);
    }
    if constexpr (N == 9) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8);
    }
    if constexpr (N == 10) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9);
    }
    if constexpr (N == 11) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
    }
    if constexpr (N == 12) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
    }
    if constexpr (N == 13) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
    }
    if constexpr (N == 14) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
    }
    if constexpr (N == 15) {
        const auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = a;
        return members_at(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
    }
}

// The compiler's text of a template argument names the members at these addresses, in order:
//   g++    … {((const void*)(& object.args::self)), ((const void*)(& object.args::other))}}; …
//   clang  … {&object.self, &object.other}}]
template <std::size_t N>
struct addresses {
    const void* at[N];
};
template <addresses All>
constexpr std::string_view spelled() {
    return {__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1};
}

// The lengths of the text around the names, measured with known members.
struct spelling {
    std::size_t between;  ///< from the end of a name to the & of the next address
    std::size_t after;    ///< from the end of the last name to the end of the text
};
struct known_members {
    int first_one, second_one;
};
inline constexpr known_members known_object{};
inline constexpr spelling spelled_around = [] {
    const std::string_view text =
        spelled<addresses<2>{{&known_object.first_one, &known_object.second_one}}>();
    return spelling{
        text.rfind('&') - (text.rfind("first_one") + 9), text.size() - (text.rfind("second_one") + 10)};
}();

constexpr bool is_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
constexpr bool ends_at(std::string_view text, std::size_t end, std::string_view name) {
    if (end < name.size() + 1 || end > text.size()) return false;
    for (std::size_t i = 0; i != name.size(); ++i) {
        if (text[end - name.size() + i] != name[i]) return false;
    }
    return !is_identifier(text[end - name.size() - 1]);
}

// Returns the last member whose name differs from the one in `names`, or `count`. All addresses have the same
// text before the name, so its length is measured only once.
constexpr std::size_t last_other_name(
    std::string_view text, const std::string_view* names, std::size_t count) {
    std::size_t end = text.size() - spelled_around.after;
    std::size_t length = 0;
    for (std::size_t i = count; i-- != 0;) {
        if (!ends_at(text, end, names[i])) return i;
        end -= names[i].size();
        if (length == 0) {
            while (length != end && text[end - length] != '&') ++length;
        }
        if (end < length + spelled_around.between) return i == 0 ? count : i - 1;
        end -= length + spelled_around.between;
    }
    return count;
}

}  // namespace detail

}  // namespace headrace

#endif
