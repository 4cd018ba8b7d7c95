// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/writing/instructions.hpp.

#include <headrace/io/pte/writing/instructions.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/pte/pte_generated.hpp>

namespace headrace::pte {

void instruction_list::call(std::string_view kernel, const std::vector<index>& arguments) {
    const index called = operator_of(kernel);
    const auto given = builder_.CreateVector(arguments);
    add(pte_fb::Call::KernelCall, pte_fb::CreateKernelCall(builder_, called, given));
}

void instruction_list::call_delegate(index number, const std::vector<index>& arguments) {
    const auto given = builder_.CreateVector(arguments);
    add(pte_fb::Call::DelegateCall, pte_fb::CreateDelegateCall(builder_, number, given));
}

std::size_t instruction_list::jump_unless(index condition, std::size_t destination) {
    all_.push_back({pte_fb::Call::JumpFalseCall, {}, condition, destination});
    return all_.size() - 1;
}

instruction_list::index instruction_list::operator_of(std::string_view kernel) {
    const auto [known, is_new] =
        numbers_.try_emplace(std::string(kernel), static_cast<index>(operators_.size()));
    if (is_new) {
        const std::size_t dot = std::min(kernel.find('.'), kernel.size());
        const auto name = builder_.CreateString(kernel.substr(0, dot));
        const auto overload = builder_.CreateString(kernel.substr(std::min(dot + 1, kernel.size())));
        operators_.push_back(pte_fb::CreateOperator(builder_, name, overload));
    }
    return known->second;
}

}  // namespace headrace::pte
