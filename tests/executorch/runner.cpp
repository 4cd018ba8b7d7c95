// SPDX-License-Identifier: MIT
// Executes a method of a .pte file with ExecuTorch's own runtime: `runner MODEL METHOD IN.npy… -- OUT.npy…`.
// With `-` in place of a model, it executes the commands that it reads, one on each line.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::extension::Module;

struct element_type {
    ScalarType type;
    const char* npy;
};
constexpr element_type types[] = {{ScalarType::Byte, "|u1"},  {ScalarType::Char, "|i1"},
                                  {ScalarType::Short, "<i2"}, {ScalarType::Int, "<i4"},
                                  {ScalarType::Long, "<i8"},  {ScalarType::Half, "<f2"},
                                  {ScalarType::Float, "<f4"}, {ScalarType::Double, "<f8"},
                                  {ScalarType::Bool, "|b1"},  {ScalarType::BFloat16, "|V2"}};

[[noreturn]] void fail(const std::string& text) { throw std::runtime_error(text); }

/// What a .npy file of version 1 holds, row-major.
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

void check(executorch::runtime::Error e, const std::string& what) {
    if (e != executorch::runtime::Error::Ok) fail(what + ": error " + std::to_string(static_cast<int>(e)));
}

void run(std::istream& command) {
    std::string model, method;
    command >> model >> method;
    Module module(model);
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
    executorch::runtime::runtime_init();
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
