// SPDX-License-Identifier: MIT
// Defines headrace::pass_context, the state shared by the passes of a run, and headrace::diagnostic.
#ifndef HEADRACE_REWRITE_PASS_CONTEXT_HPP
#define HEADRACE_REWRITE_PASS_CONTEXT_HPP

#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// The reason why a node cannot be lowered, in words for the model's author.
struct diagnostic {
    std::pmr::string node;  ///< its name in the exported program
    std::pmr::string op;
    std::pmr::string reason;  ///< the rule that it breaks, and the fix if known
    error_kind kind = error_kind::unsupported;
    std::pmr::string source{};  ///< "net.py:42", the line of the model's source, or empty
};

/// Returns "net.py:42: conv2d (aten.conv2d.default): reason", for an error.
[[nodiscard]] std::pmr::string diagnostic_text(const diagnostic& d);

struct constant_evaluator;

/// Tells passes how to infer and to compute nodes whose ops are known only at run time. run/execution.hpp has
/// headrace::standard_functions, those of Headrace's dialects.
struct node_functions {
    result<void> (*infer)(const node& n, inference& out) = nullptr;
    const constant_evaluator* evaluator = nullptr;
};

/// Shared by the passes of one run. It collects refusals, so that all of them can be reported at once.
class pass_context {
public:
    /// Infers a node whose op is known only at run time. Without it, a node without `val` is an error.
    using node_inference = result<void> (*)(const node& n, inference& out);

    explicit pass_context(node_inference rules = nullptr) : functions_{rules} {}
    explicit pass_context(const node_functions& functions) : functions_(functions) {}

    /// Records a refusal. A fault of a pass next to one is not reported: it may only be the consequence.
    void report(const node& n, std::string_view reason, error_kind kind = error_kind::unsupported);
    [[nodiscard]] const pmr_vector<diagnostic>& diagnostics() const { return diagnostics_; }

    /// True if the retracing driver copies nodes that have their `val` and are not targets; if false, for
    /// measurements, it infers each of them.
    [[nodiscard]] bool copies_fast() const { return copies_fast_; }
    void copy_fast(bool on) { copies_fast_ = on; }

    /// True if passes run regardless of their skip tests: for measurements, and for what tests do not see.
    [[nodiscard]] bool forces_passes() const { return forces_passes_; }
    void force_passes(bool on) { forces_passes_ = on; }

    /// Sets a cache for inferences, such as a headrace::dispatch_cache; null for none, which is best if the
    /// rules are faster than a lookup.
    void use_cache(inference_cache* cache) { cache_ = cache; }

    /// Calls `f(observer, node)` for each node that a pass emits, even if the pass erases it again.
    void observe_emissions(void (*f)(void* observer, const node& n), void* observer) {
        on_emission_ = f;
        observer_ = observer;
    }
    void emitted(const node& n) const {
        if (on_emission_ != nullptr) on_emission_(observer_, n);
    }

    [[nodiscard]] result<void> infer(const node& n, inference& out) const;

    /// Computes constants; null if passes that fold are to compute none.
    [[nodiscard]] const constant_evaluator* evaluator() const { return functions_.evaluator; }

private:
    node_functions functions_;
    inference_cache* cache_ = nullptr;
    bool copies_fast_ = true;
    bool forces_passes_ = false;
    void (*on_emission_)(void*, const node&) = nullptr;
    void* observer_ = nullptr;
    pmr_vector<diagnostic> diagnostics_;
    flat_map<std::uint32_t> numbers_;  // of diagnostics, from 1, to report each once
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/rewrite/pass_context_definition.hpp>
#endif

#endif
