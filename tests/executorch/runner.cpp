// SPDX-License-Identifier: MIT
// Executes a method of a .pte file with ExecuTorch's own runtime: `runner MODEL METHOD IN.npy… -- OUT.npy…`.
// If MODEL is `-`, it executes the commands that it reads, one per line. With the variable HEADRACE_RUNS, the
// method is executed that often, and the outputs are those of the last execution. Its backend "tosa" restores
// the flatbuffers of delegates, as any backend could, from the blob that the runtime passes to it, and
// executes them with the program that the variable HEADRACE names. Its backend "vector_unit" executes the
// delegates of examples/own_backend.cpp.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "delegated_tosa.hpp"
#include "vector_unit.hpp"

namespace {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::extension::Module;

struct element_type {
    ScalarType type;
    const char* npy;
};
constexpr element_type types[] = {{ScalarType::Byte, "|u1"}, {ScalarType::Char, "|i1"},
    {ScalarType::Short, "<i2"}, {ScalarType::Int, "<i4"}, {ScalarType::Long, "<i8"},
    {ScalarType::Half, "<f2"}, {ScalarType::Float, "<f4"}, {ScalarType::Double, "<f8"},
    {ScalarType::Bool, "|b1"}, {ScalarType::BFloat16, "|V2"}};

[[noreturn]] void fail(const std::string& text) { throw std::runtime_error(text); }

/// The contents of a .npy file of version 1, row-major.
struct array {
    ScalarType type = ScalarType::Float;
    std::vector<SizesType> shape;
    std::vector<char> bytes;
};

array read_npy(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    if (all.size() < 10 || all.compare(0, 6, "\x93NUMPY") != 0) fail(path + ": not a .npy file");
    const std::size_t length = static_cast<unsigned char>(all[8]) + 256U * static_cast<unsigned char>(all[9]);
    const std::string header = all.substr(10, length);
    if (header.find("'fortran_order': False") == std::string::npos) fail(path + ": not row-major");
    array made;
    bool known = false;
    for (const element_type& t : types) {
        if (header.find(std::string("'") + t.npy + "'") == std::string::npos) continue;
        made.type = t.type;
        known = true;
    }
    if (!known) fail(path + ": unknown type: " + header);
    const std::size_t open = header.find('(');
    std::istringstream sizes(header.substr(open + 1, header.find(')') - open - 1));
    for (std::string size; std::getline(sizes, size, ',');) {
        if (size.find_first_of("0123456789") != std::string::npos) made.shape.push_back(std::stoi(size));
    }
    made.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(10 + length), all.end());
    return made;
}

void write_npy(const std::string& path, const executorch::aten::Tensor& t) {
    std::string type;
    for (const element_type& known : types) {
        if (known.type == t.scalar_type()) type = known.npy;
    }
    if (type.empty()) fail(path + ": a tensor of unknown type");
    std::string shape;
    for (const auto size : t.sizes()) shape += std::to_string(size) + ",";
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size() & 255)
         << static_cast<char>(header.size() >> 8) << header;
    file.write(static_cast<const char*>(t.const_data_ptr()), static_cast<std::streamsize>(t.nbytes()));
}

namespace runtime = executorch::runtime;

std::span<const std::byte> bytes_of(const runtime::FreeableBuffer& b) {
    return {static_cast<const std::byte*>(b.data()), b.size()};
}

/// A flatbuffer in a folder of its own, with the arrays of a run.
struct delegated {
    std::filesystem::path folder;
    std::size_t inputs = 0;

    explicit delegated(const delegated_tosa& tosa) : inputs(tosa.inputs) {
        std::string name = (std::filesystem::temp_directory_path() / "headrace_runner_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) fail(name + ": cannot be made");
        folder = name;
        std::ofstream file(folder / "model.tosa", std::ios::binary);
        file.write(reinterpret_cast<const char*>(tosa.flatbuffer.data()),
            static_cast<std::streamsize>(tosa.flatbuffer.size()));
    }
    delegated(const delegated&) = delete;
    delegated& operator=(const delegated&) = delete;
    ~delegated() { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::string array(std::size_t i) const {
        return (folder / (std::to_string(i) + ".npy")).string();
    }
};

class tosa_backend final : public runtime::BackendInterface {
public:
    bool is_available() const override { return true; }

    runtime::Result<runtime::DelegateHandle*> init(runtime::BackendInitContext& context,
        runtime::FreeableBuffer* processed, runtime::ArrayRef<runtime::CompileSpec>) const override {
        const runtime::NamedDataMap* const named = context.get_named_data_map();
        auto constants = named == nullptr ? runtime::Result<runtime::FreeableBuffer>(runtime::Error::NotFound)
                                          : named->get_data(tosa_constants_key);
        const auto shared = constants.ok() ? bytes_of(*constants) : std::span<const std::byte>();
        const delegated_tosa tosa = restore_delegate(bytes_of(*processed), shared);
        if (!tosa.fault.empty()) {
            std::fprintf(stderr, "%s\n", tosa.fault.c_str());
            return runtime::Error::DelegateInvalidCompatibility;
        }
        return new delegated(tosa);
    }

    runtime::Error execute(runtime::BackendExecutionContext&, runtime::DelegateHandle* handle,
        runtime::Span<runtime::EValue*> args) const override {
        const delegated& d = *static_cast<const delegated*>(handle);
        const char* const program = std::getenv("HEADRACE");
        std::string command = std::string(program == nullptr ? "headrace" : program) + " run " +
            (d.folder / "model.tosa").string();
        for (std::size_t i = 0; i != args.size(); ++i) {
            if (i < d.inputs) write_npy(d.array(i), args[i]->toTensor());
            command += (i < d.inputs ? " --in " : " --out ") + d.array(i);
        }
        if (std::system(command.c_str()) != 0) return runtime::Error::DelegateInvalidHandle;
        for (std::size_t i = d.inputs; i != args.size(); ++i) {
            const array made = read_npy(d.array(i));
            const auto& wanted = args[i]->toTensor();
            if (made.type != wanted.scalar_type() || made.bytes.size() != wanted.nbytes())
                return runtime::Error::InvalidArgument;
            std::memcpy(wanted.mutable_data_ptr(), made.bytes.data(), made.bytes.size());
        }
        return runtime::Error::Ok;
    }

    void destroy(runtime::DelegateHandle* handle) const override { delete static_cast<delegated*>(handle); }
};

void check(executorch::runtime::Error e, const std::string& what) {
    if (e != executorch::runtime::Error::Ok) fail(what + ": error " + std::to_string(static_cast<int>(e)));
}

void run(std::istream& command) {
    std::string model, method;
    command >> model >> method;
    std::vector<std::string> data;  // constants in another file are next to the program
    const std::filesystem::path beside = std::filesystem::path(model).replace_extension(".ptd");
    if (std::filesystem::exists(beside)) data.push_back(beside.string());
    Module module(model, data);
    check(module.load(executorch::runtime::Program::Verification::InternalConsistency), model);
    std::vector<array> arrays;
    std::string word;
    while (command >> word && word != "--") arrays.push_back(read_npy(word));
    std::vector<executorch::extension::TensorPtr> tensors;
    std::vector<executorch::runtime::EValue> inputs;
    for (array& a : arrays) {
        tensors.push_back(executorch::extension::make_tensor_ptr(a.shape, a.bytes.data(), a.type));
        inputs.emplace_back(tensors.back());
    }
    const char* const runs = std::getenv("HEADRACE_RUNS");
    for (int left = runs == nullptr ? 1 : std::atoi(runs); left > 1; --left)
        check(module.execute(method, inputs).error(), model + " " + method);
    const auto outputs = module.execute(method, inputs);
    check(outputs.error(), model + " " + method);
    for (const auto& output : *outputs) {
        if (!(command >> word)) fail("more outputs than files for them");
        write_npy(word, output.toTensor());
    }
    if (command >> word) fail("fewer outputs than files for them");
}

int run_one(std::istream& command) {
    try {
        run(command);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    runtime::runtime_init();
    static tosa_backend tosa;
    if (runtime::register_backend({tosa_backend_name, &tosa}) != runtime::Error::Ok) return 1;
    if (!register_vector_unit()) return 1;
    if (argc == 2 && std::strcmp(argv[1], "-") == 0) {
        for (std::string line; std::getline(std::cin, line);) {
            std::istringstream command(line);
            std::printf("%s\n", run_one(command) == 0 ? "ok" : "failed");
            std::fflush(stdout);
        }
        return 0;
    }
    std::string text;
    for (int i = 1; i < argc; ++i) text += std::string(argv[i]) + " ";
    std::istringstream command(text);
    return run_one(command);
}
