// SPDX-License-Identifier: MIT
#include "vector_unit.hpp"

#include <executorch/runtime/backend/interface.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace runtime = executorch::runtime;
using numbers = std::vector<float>;

struct instruction {
    std::string op;
    std::size_t first = 0;
    std::size_t second = 0;
};

/// A delegate's text, with the constants that it names.
struct unit_program {
    std::size_t inputs = 0;
    std::vector<numbers> constants;  // in the order of their instructions
    std::vector<instruction> instructions;
    std::vector<std::size_t> outputs;
};

numbers result_of(const instruction& i, const std::vector<numbers>& registers) {
    const numbers& a = registers.at(i.first);
    const numbers& b = registers.at(i.second);
    numbers made(a.size());
    if (i.op == "add") {
        std::ranges::transform(a, b, made.begin(), std::plus());
    } else {
        std::ranges::transform(a, b, made.begin(), std::multiplies());
    }
    return made;
}

class vector_unit final : public runtime::BackendInterface {
public:
    bool is_available() const override { return true; }

    runtime::Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
        runtime::FreeableBuffer* processed, runtime::ArrayRef<runtime::CompileSpec> specs) const override {
        if (specs.size() != 1 || std::strcmp(specs[0].key, "precision") != 0)
            return runtime::Error::InvalidArgument;
        const runtime::SizedBuffer& precision = specs[0].value;
        if (std::string_view(static_cast<const char*>(precision.buffer), precision.nbytes) != "float32")
            return runtime::Error::NotSupported;
        std::istringstream text(std::string(static_cast<const char*>(processed->data()), processed->size()));
        unit_program made;
        for (std::string line; std::getline(text, line);) {
            std::istringstream words(line);
            instruction i;
            words >> i.op;
            if (i.op == "inputs") {
                words >> made.inputs;
            } else if (i.op == "output") {
                for (std::size_t number = 0; words >> number;) made.outputs.push_back(number);
            } else if (i.op == "constant") {
                std::string key;
                words >> key;
                const auto data = context.get_named_data_map()->get_data(key);
                if (!data.ok()) return data.error();
                numbers& elements = made.constants.emplace_back(data->size() / sizeof(float));
                std::memcpy(elements.data(), data->data(), data->size());
                made.instructions.push_back(i);
            } else {
                words >> i.first >> i.second;
                made.instructions.push_back(i);
            }
        }
        return new unit_program(std::move(made));
    }

    runtime::Error execute(runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
        runtime::Span<runtime::EValue*> args) const override {
        const unit_program& program = *static_cast<const unit_program*>(handle);
        if (args.size() != program.inputs + program.outputs.size()) return runtime::Error::InvalidArgument;
        std::vector<numbers> registers;
        for (std::size_t i = 0; i != program.inputs; ++i) {
            const auto& input = args[i]->toTensor();
            const auto* const elements = input.const_data_ptr<float>();
            registers.emplace_back(elements, elements + input.numel());
        }
        std::size_t constant = 0;
        for (const instruction& i : program.instructions)
            registers.push_back(i.op == "constant" ? program.constants[constant++] : result_of(i, registers));
        for (std::size_t i = 0; i != program.outputs.size(); ++i) {
            const auto& output = args[program.inputs + i]->toTensor();
            std::memcpy(output.mutable_data_ptr(), registers.at(program.outputs[i]).data(), output.nbytes());
        }
        return runtime::Error::Ok;
    }

    void destroy(runtime::DelegateHandle* handle) const override {
        delete static_cast<unit_program*>(handle);
    }
};

}  // namespace

bool register_vector_unit() {
    static vector_unit unit;
    return runtime::register_backend({"vector_unit", &unit}) == runtime::Error::Ok;
}
