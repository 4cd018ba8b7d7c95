// SPDX-License-Identifier: MIT
#include "legality.hpp"

#include <headrace/infer/tosa_verify.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace::cli {

void report_illegal_types(graph& g, pass_context& context) {
    detail::for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            auto legal = verify_tosa(n, g.target());
            if (legal) continue;
            std::string reason = std::move(legal).error().message;
            const std::string prefix = message_prefix(n);
            context.report(n, reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason);
        }
    });
}

}  // namespace headrace::cli
