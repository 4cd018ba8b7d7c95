// SPDX-License-Identifier: MIT
// Defines headrace::emission_record, with which tests find ops that a pass declares and never emits.
#ifndef HEADRACE_PASS_EMISSION_RECORD_HPP
#define HEADRACE_PASS_EMISSION_RECORD_HPP

#include <algorithm>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Records the ops that passes emit during its lifetime, so that a test can check that a pass declares no
/// more than that. An op in `produces` that no handler or code emits weakens the proof:
///
///     emission_record emitted(context);
///     ... apply_pass(my_pass{}, g, context) to a graph for each of its targets ...
///     CHECK(emitted.never<my_pass>().empty());
class emission_record {
public:
    explicit emission_record(pass_context& context) : context_(context) {
        context.observe_emissions(
            [](void* self, const node& n) { static_cast<emission_record*>(self)->add(*n.op); }, this);
    }
    ~emission_record() { context_.observe_emissions(nullptr, nullptr); }
    emission_record(const emission_record&) = delete;
    emission_record& operator=(const emission_record&) = delete;

    [[nodiscard]] bool contains(const op_info& op) const {
        return std::find(emitted_.begin(), emitted_.end(), &op) != emitted_.end();
    }
    /// Returns the names of the ops that have not been emitted, of those in the pass's `produces` and those
    /// that the code of its rules declares.
    template <pass_type P>
    [[nodiscard]] pmr_vector<std::string_view> never() const {
        using facts = detail::pass_facts<P>;
        using declared = joined<detail::declared_by<facts>, detail::emitted_by_rules<facts>>;
        pmr_vector<std::string_view> missing;
        for (const op_info* op : detail::infos_in<declared>::value) {
            if (!contains(*op)) missing.push_back(op->name);
        }
        return missing;
    }

private:
    void add(const op_info& op) {
        if (!contains(op)) emitted_.push_back(&op);
    }

    pass_context& context_;
    pmr_vector<const op_info*> emitted_;
};

}  // namespace headrace

#endif
