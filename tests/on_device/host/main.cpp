// SPDX-License-Identifier: MIT
// Runs a model on the host: MODEL is its header's namespace. The inputs are read from the files that the arguments
// name, and the outputs are written to those that follow.
#include <cstdio>
#include <cstdlib>
#include <utility>

#include HEADER

namespace {

using model = MODEL::model;
alignas(16) std::byte arena[model::arena_bytes + 1];

void move(const char* path, const char* mode, void* data, std::size_t bytes) {
    std::FILE* const file = std::fopen(path, mode);
    const std::size_t moved = file == nullptr ? 0
        : mode[0] == 'r'                      ? std::fread(data, 1, bytes, file)
                                              : std::fwrite(data, 1, bytes, file);
    if (moved != bytes || std::fclose(file) != 0) {
        std::fprintf(stderr, "%s: wrong size\n", path);
        std::exit(2);
    }
}

template <std::size_t... I>
void read_inputs(model& m, char** paths, std::index_sequence<I...>) {
    (move(paths[I], "rb", m.input<I>().data(), m.input<I>().size_bytes()), ...);
}
template <std::size_t... I>
void write_outputs(model& m, char** paths, std::index_sequence<I...>) {
    (move(paths[I], "wb", const_cast<void*>(static_cast<const void*>(m.output<I>().data())),
         m.output<I>().size_bytes()),
        ...);
}

// A model whose sample could not be executed has no test of its own.
bool tests_itself(auto& m) {
    if constexpr (requires { m.self_test(); })
        return m.self_test();
    else
        return true;
}

}  // namespace

int main(int, char** argv) {
    model m(arena);
    read_inputs(m, argv + 1, std::make_index_sequence<model::inputs::size>());
    m.run();
    write_outputs(m, argv + 1 + model::inputs::size, std::make_index_sequence<model::outputs::size>());
    if (tests_itself(m)) return 0;
    std::fprintf(stderr, "the self-test fails\n");
    return 3;
}
