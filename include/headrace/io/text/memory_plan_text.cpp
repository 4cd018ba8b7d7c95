// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/memory_plan_text.hpp.

#include <headrace/io/text/memory_plan_text.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

#include <headrace/base/strings.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

std::string title_of_memory(const memory_plan& plan, std::size_t memory) {
    if (memory != 0) return join_text("memory of delegate ", memory - 1);
    return plan.memories.size() == 1 ? "memory" : "host memory";
}

std::string memory_plan_text(const graph& g, const memory_plan& plan) {
    const printed_names names(g);
    std::string text;
    std::array<char, 128> row{};
    for (std::size_t k = 0; k != plan.memories.size(); ++k) {
        const planned_memory& m = plan.memories[k];
        const double ratio =
            m.lower_bound == 0 ? 1 : static_cast<double>(m.bytes) / static_cast<double>(m.lower_bound);
        std::snprintf(row.data(), row.size(), "%.3f", ratio);
        text += join_text(title_of_memory(plan, k), ": peak ", m.bytes, " bytes, lower bound ", m.lower_bound,
            " bytes at step ", m.fullest_step, ", ratio ", row.data(), "\n");
        text += "      offset        bytes   first    last  tensor\n";
        for (const planned_tensor& t : plan.tensors) {
            if (t.memory != k) continue;
            std::snprintf(row.data(), row.size(), "%12llu %12llu %7u %7u  %%",
                static_cast<unsigned long long>(t.offset), static_cast<unsigned long long>(t.bytes), t.first,
                t.last);
            text += join_text(row.data(), names[t.tensor], ": ", meta_text(meta_of(t.tensor)),
                t.is_input ? ", input" : "", t.is_output ? ", output" : "", "\n");
        }
    }
    return text;
}

}  // namespace headrace
