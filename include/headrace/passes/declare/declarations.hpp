// SPDX-License-Identifier: MIT
// Defines headrace::declare::declarations, the text of passes/declared_passes.hpp: what each pass of the
// standard pipelines targets, removes, produces and needs before it. Programs that link headrace::compiled
// prove pipelines over that, without compiling passes. The build compiles one unit for each family of passes,
// and runs the program before it compiles the library; see examples/cmake/declared_passes.cmake.
#ifndef HEADRACE_PASSES_DECLARE_DECLARATIONS_HPP
#define HEADRACE_PASSES_DECLARE_DECLARATIONS_HPP

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <headrace/base/type_name.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/pipeline.hpp>

#ifdef HEADRACE_COMPILED
#error "declarations: it reads the definitions of passes; compile it without HEADRACE_COMPILED"
#endif

namespace headrace::declare {

using names = std::vector<std::string>;

// Returns the name of a type as code in the namespace headrace.
inline std::string local(std::string_view name) {
    constexpr std::string_view own = "headrace::";
    std::string text(name);
    for (std::size_t at = text.find(own); at != std::string::npos; at = text.find(own, at))
        text.erase(at, own.size());
    return text;
}
// A constant for each type: clang limits the steps in which one is evaluated.
template <class T>
inline constexpr std::string_view spelled = detail::qualified_type_name<T>();

template <template <class...> class List, class... Ts>
names names_of(List<Ts...>) {
    const std::string_view all[] = {spelled<Ts>..., ""};
    names found;
    for (std::size_t i = 0; i != sizeof...(Ts); ++i) found.push_back(local(all[i]));
    return found;
}
// Returns the tags of the ops in a set.
template <class... Ds>
names names_of(const op_set<Ds...>& set) {
    names found;
    std::size_t first = 0;
    [[maybe_unused]] const auto visit = [&](std::size_t size, const names& tags) {
        for (std::size_t i = 0; i != size; ++i) {
            const std::size_t word = first + i / detail::word_bits;
            if ((set.words()[word] >> (i % detail::word_bits) & 1) != 0) found.push_back(tags[i]);
        }
        first += detail::words_for(size);
    };
    (visit(Ds::size, names_of(typename Ds::all_ops{})), ...);
    return found;
}

/// The declarations of passes, in the order in which they are added; each once.
class declarations {
public:
    template <class... Passes>
    void add_all(pass_list<Passes...>) {
        (add<Passes>(), ...);
    }
    /// Returns the header.
    [[nodiscard]] std::string text() const;

private:
    template <class P>
    void add() {
        static_assert(runnable_pass<P>, "declare_passes: a pass has a fault, see pass_fault<P> and others");
        static_assert(!pass_summary<P>().empty(), "the pass does not say what it does: give it a summary");
        const std::string name = local(detail::qualified_type_name<P>());
        if (!declared_.insert(name).second) return;
        named_.insert(name);
        passes_ += "\ntemplate <>\nstruct declared_pass<" + name + "> : pass {\n";
        if constexpr (requires { P::name; }) add_text("name", P::name);
        add_text("summary", pass_summary<P>());
        if constexpr (detail::is_repeatable<P>) passes_ += "    static constexpr bool repeatable = true;\n";
        if constexpr (!std::is_empty_v<P>) passes_ += "    int options;\n";
        add_order<P>();
        const names targets = names_of(targets_of<P>{});
        add_list("targets", "ops", targets);
        const names removed = names_of(effects_of<P>::removed_set);
        if (removed.size() == targets.size() && !targets.empty()) {  // only targets are removed
            passes_ += "    using removes = targets;\n";
        } else {
            add_list("removes", "ops", removed);
        }
        add_list("produces", "ops", names_of(effects_of<P>::produced_set));
        if constexpr (graph_pass<P>)
            passes_ += "    result<std::size_t> operator()(graph& g, pass_context& context) const;\n";
        if constexpr (replaces_skip_test<P>) {
            passes_ += "    bool should_run(const graph& g, bool has_targets) const;\n";
        } else if constexpr (decides_itself<P>) {
            passes_ += "    bool should_run(const graph& g) const;\n";
        }
        passes_ += "};\nHEADRACE_COMPILED_PASS(" + name + ");\n";
    }
    template <class P>
    void add_order() {
        using detail::order_list;
        using phase = detail::phase_of<P>;
        if constexpr (!std::is_same_v<phase, detail::no_phase>) {
            const std::string name = local(detail::qualified_type_name<phase>());
            named_.insert(name);
            passes_ += "    using phase = " + name + ";\n";
        }
        add_needs<P, order_list::requires_before>("requires_before");
        add_needs<P, order_list::requires_after>("requires_after");
        add_needs<P, order_list::runs_after>("runs_after");
        add_needs<P, order_list::runs_before>("runs_before");
        add_needs<P, order_list::ensures>("ensures");
        add_needs<P, order_list::invalidates>("invalidates");
    }
    template <class P, detail::order_list List>
    void add_needs(const char* member) {
        const names needed = names_of(detail::pick_list<P, List>());
        named_.insert(needed.begin(), needed.end());
        if (!needed.empty()) add_list(member, "pass_list", needed);
    }
    void add_text(const char* member, std::string_view value) {
        passes_ += std::string("    static constexpr std::string_view ") + member + " =\n        \"" +
            std::string(value) + "\";\n";
    }
    // Lines are broken as clang-format does.
    void add_list(const char* member, const char* list, const names& values) {
        constexpr std::size_t width = 110;
        std::string text = std::string("    using ") + member + " = " + list + "<";
        std::size_t column = text.size();
        for (const std::string& value : values) {
            if (column + value.size() + 2 > width) {
                text += "\n        ";
                column = 8;
            }
            text += value + (&value == &values.back() ? "" : ", ");
            column += value.size() + 2;
        }
        passes_ += text + ">;\n";
    }

    std::string passes_;
    std::set<std::string> named_, declared_;
};

// One for each family, defined in the source of its name; those of fold and finish are in layout.cpp.
void declare_normalize(declarations& out);
void declare_quantize(declarations& out);
void declare_decompose(declarations& out);
void declare_legalize(declarations& out);
void declare_layout(declarations& out);
void declare_npu(declarations& out);
void declare_u55(declarations& out);

}  // namespace headrace::declare

#endif
