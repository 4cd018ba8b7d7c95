// SPDX-License-Identifier: MIT
// The commands of the headrace program. Each returns the exit status: 0; 1 if the model cannot be lowered; 2
// for bad usage; 3 for a file that is unreadable or malformed.
#ifndef HEADRACE_EXAMPLES_CLI_COMMANDS_HPP
#define HEADRACE_EXAMPLES_CLI_COMMANDS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <headrace/io/dynamic_sizes.hpp>

namespace headrace::cli {

/// How a float model is quantized, or read. Empty strings mean the value in the configuration, or the default.
struct calibration_options {
    std::vector<std::string> inputs;   ///< NAME=SPEC: integers that a device delivers; see device_input
    std::vector<std::string> samples;  ///< for each input a .npy file or a directory of them
    std::string config;                ///< JSON
    std::string observer;
    std::string activations;
    std::string weights;
    bool per_tensor = false;  ///< one scale per weight tensor
    bool equalize = false;    ///< scale channels between layers first
    bool smooth = false;      ///< scale the inputs of linear layers first
    bool correct_biases = false;
    bool keep_branches = false;   ///< of linear layers, which otherwise become one layer
    bool merge_branches = false;  ///< also where they lose accuracy by that
    double headroom = 1;          ///< factor for the ranges of computed values
    double best = 0;              ///< seconds for which other options are tried
    double int16_share = 0;
    int jobs = 0;                         ///< threads; 0: one per processor
    std::string observe;                  ///< file of statistics to write; empty: none
    std::vector<std::string> statistics;  ///< such files, instead of samples
};

struct lower_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string output;
    std::string target;              ///< empty: chosen by the contents of the graph
    std::string io_layout = "nchw";  ///< of inputs and outputs with four axes: nchw, or nhwc
    std::string io;                  ///< file for the description of inputs and outputs; empty: none
    std::string io_type;   ///< for a .pte file: int8 or float, what a quantized model takes and gives
    std::string report;    ///< JSON, or a page if its name ends in .html
    std::string vela_csv;  ///< for a page: Vela's figures by layer; empty: none
    std::string dot_directory;
    std::string ir_directory;
    std::string ir_around;  ///< passes, separated by commas: only texts before and after them are kept
    std::vector<std::string> inputs;  ///< .npy files for `verify`; random tensors if there are none
    bool verify = false;
    bool certify = false;               ///< warn if integers may overflow
    bool strict = false;                ///< refuse integers that are not known to fit in 32 bits
    std::string state;                  ///< for written buffers: io, variable, or empty to refuse them
    std::string reproducer;             ///< file to write if a pass fails; empty: none
    std::vector<std::string> methods;   ///< NAME=MODEL.pt2: `output` is a package or a .pte file
    bool partition = false;             ///< nodes that cannot be lowered stay on the host: a package, too
    std::string delegate;               ///< for a .pte file: the backend for nodes that can be lowered
    std::string vela;                   ///< the program that compiles for Ethos-U
    std::string converter;              ///< the program that converts to VGF
    std::string cost;                   ///< the accelerator whose cycles are shown; empty: none
    std::string kernels;                ///< for a .pte file: cortex_m or portable; empty: chosen by `core`
    std::string core;                   ///< for a C++ header, or a .pte file's kernels: the processor
    std::string name;                   ///< for a C++ header: its namespace; empty: the file's name
    std::int64_t arena = 0;             ///< for a C++ header: max bytes of memory; 0: any
    std::int64_t flash = 0;             ///< for a C++ header: max bytes of constants; 0: any
    std::string memory;                 ///< memory map, a file or a preset; empty: one arena
    bool plan_memory = false;           ///< for a partitioned model: host ops write to planned buffers
    std::string batch;                  ///< folder of models: `output` is then a folder, too
    int jobs = 0;                       ///< models of a batch in progress at once; 0: one per processor
    bool io_files = false;              ///< for a batch: the file of `io`, next to each output
    bool page_files = false;            ///< for a batch: a page, next to each output
    calibration_options calibration{};  ///< with samples: the model is quantized before it is lowered
    std::vector<std::string> stream;    ///< "x:2": the model is computed in steps along this axis of input x
    std::int64_t step = 0;              ///< elements of that axis
    std::int64_t window = 0;            ///< elements that ops over all of an axis keep
};
[[nodiscard]] int lower(const lower_options& options);

struct unpack_options {
    std::string package;  ///< or a .pte file
    std::string method;   ///< may be empty if there is only one
    std::string output;
    int delegate = -1;  ///< index among the delegates of a partitioned method
};
[[nodiscard]] int unpack(const unpack_options& options);

struct show_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string method;    ///< of a package or a .pte file; empty: all
    std::string data;      ///< .ptd file of a .pte file; empty: the one next to it
    bool pipeline = false;
    std::string op;    ///< of the pipeline, the fate of this op; empty: everything
    std::string pass;  ///< of the pipeline, this pass; empty: everything
    bool support = false;
    std::string target;  ///< for `support`, as for `lower`
    bool dot = false;
    std::string html;          ///< page to write; empty: none
    std::string vela_csv;      ///< for the page: Vela's figures by layer; empty: none
    bool summary = false;      ///< counts instead of nodes
    bool full = false;         ///< a line for each node
    std::string around;        ///< only nodes near the one of that name
    int depth = 1;             ///< for `around`, in edges
    std::string npu;           ///< for which cycles are predicted, "ethos-u55-128"; empty: none
    std::string core;          ///< the processor whose kernels are to be shown; empty: none
    std::string state;         ///< of `core`, as for `lower`
    std::string output;        ///< file for the graph; empty: standard output
    std::size_t inlined = 32;  ///< for a .hr file: elements up to which a constant is in the text itself
};
[[nodiscard]] int show(const show_options& options);
/// Runs the part of `show` about the static pipeline.
[[nodiscard]] int show_pipeline(const show_options& options);
/// Runs the part of `show` that determines how each op is lowered.
[[nodiscard]] int show_support(const show_options& options);
/// The part that is about a model's layers on a core, as text or, in a file, as JSON; and that JSON for a
/// page.
[[nodiscard]] int show_core(const show_options& options);
[[nodiscard]] int core_json(const show_options& options, std::string& json);
/// The part that is about a header or a source that `lower --core` wrote: prints its report.
[[nodiscard]] bool is_generated_path(const std::string& path);
[[nodiscard]] int show_generated(const show_options& options);

struct opt_options {
    std::string model;
    size_choices sizes{};      ///< for a .pt2 file that leaves some open
    std::string passes;        ///< names, separated by commas; "help" lists them; empty: those in the text
    std::string output;        ///< empty: standard output
    std::string target;        ///< empty: the graph's, else FP, and INT as well if the graph is quantized
    std::size_t inlined = 32;  ///< for a .hr file: elements up to which a constant is in the text itself
    bool retrace = false;
    bool check = false;
    bool verify = false;              ///< execute the graph before and after each pass
    std::vector<std::string> inputs;  ///< .npy files for `verify`; random tensors if there are none
    std::string reproducer;           ///< file to write if a pass fails; empty: none
    std::string assumed;              ///< properties that hold already, separated by commas
};
[[nodiscard]] int opt(const opt_options& options);

struct run_model_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string method;    ///< of a package or a .pte file; may be empty if it has only one
    std::string data;      ///< .ptd file of a .pte file; empty: the one next to it
    std::string io;        ///< output of `lower --io`: files are then the exported program's
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
};
[[nodiscard]] int run(const run_model_options& options);

struct quantize_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string output;
    calibration_options calibration{};
};
[[nodiscard]] int quantize(const quantize_options& options);

struct stream_command_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string output;
    std::vector<std::string> axes;  ///< "x:2", or "2" if there is one input
    std::int64_t step = 0;          ///< elements of the axis
    std::int64_t window = 0;        ///< elements that ops over all of an axis keep; 0: they are refused
    bool verify = false;
    std::vector<std::string> inputs;  ///< for `verify`: .npy files; random numbers if there are none
    std::string report;               ///< JSON; empty: none
};
[[nodiscard]] int stream(const stream_command_options& options);

struct reduce_command_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string output;
    std::string test;      ///< command of the shell; empty: one of the next two
    bool crash = false;    ///< lowering fails as that of the model does
    bool differs = false;  ///< a pass changes the result
    std::string target;    ///< of these two, as for `lower`
    double timeout = 60;   ///< seconds of a test
    bool keep_sizes = false;
    bool keep_constants = false;
};
[[nodiscard]] int reduce(const reduce_command_options& options);

struct compare_options {
    std::string reference;
    std::string other;
    size_choices sizes{};              ///< for .pt2 files that leave some open
    std::string method;                ///< for `other`, if it is a package or a .pte file with several
    std::vector<std::string> samples;  ///< for each input a .npy file or a directory of them
    std::string io;                    ///< output of `lower --io` for `other`
    std::string through;               ///< the quantized .pt2 that `other` was lowered from
    std::string sort = "own";
    std::string json;  ///< files to write in addition to the table
    std::string dot;
    std::string html;
    std::size_t top = 0;  ///< lines of the table; 0: all layers
    int jobs = 0;
    std::string board;         ///< dump of a board, which `reference` is compared with; empty: none
    std::string debug_buffer;  ///< of an etdump `board`; empty: the file of its name that ends in .bin
    std::string cycles;        ///< times of layers on a board (CSV or etdump); empty: none
    std::string core;          ///< the processor whose estimates the times are compared with; empty: none
    std::string vela_csv;      ///< Vela's figures by layer, likewise; empty: none
};
[[nodiscard]] int compare(const compare_options& options);
/// The part of `compare` that is about a board.
[[nodiscard]] int compare_board(const compare_options& options);

struct plan_options {
    std::vector<std::string> models;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string method;    ///< of a package or a .pte file; empty: all
    std::string data;      ///< .ptd file of a .pte file; empty: the one next to it
    std::string algorithm = "greedy";
    std::uint64_t alignment = 16;
    std::string output;  ///< empty: a table is printed
    bool verify = false;
    std::string memory;       ///< memory map, a file or a preset; empty: one memory of any size
    bool concurrent = false;  ///< models of a memory map run at once
    std::string check;        ///< JSON plan whose places are checked; empty: none
    std::string page;         ///< page to write; empty: none
};
[[nodiscard]] int plan(const plan_options& options);
/// Runs the part of `plan` that is about a memory map.
[[nodiscard]] int plan_banks(const plan_options& options);

struct embed_options {
    std::string file;          ///< a flatbuffer, a .pte file, or Vela's output with --output-format raw
    std::string name;          ///< prefix of the symbols and files
    std::string io;            ///< output of `lower --io`; empty: only bytes and size
    std::string output = ".";  ///< directory
};
[[nodiscard]] int embed(const embed_options& options);

struct contract_options {
    std::string model;
    size_choices sizes{};  ///< for a .pt2 file that leaves some open
    std::string output;
    std::string name;                ///< of the struct; empty: derived from the model's
    std::string target;              ///< as for `lower`
    std::string io_layout = "nchw";  ///< as for `lower`
    std::string core;                ///< the processor whose figures are added; empty: none
    std::string measured;            ///< what tests/on_device/run.py printed (JSON); empty: nothing
    bool exported_only = false;
};
[[nodiscard]] int contract(const contract_options& options);

struct prove_options {
    std::string model;
    size_choices sizes{};               ///< for a .pt2 file that leaves some open
    std::string target;                 ///< as for `lower`
    std::string json;                   ///< file to write in addition; empty: none
    std::string counterexamples;        ///< directory for inputs that overflow; empty: none
    double search_seconds = 2;          ///< for these inputs
    bool error = false;                 ///< also bound the rounding errors of a quantized .pt2 file
    std::vector<std::string> ranges{};  ///< "x=-1:1": numbers that an input holds
};
/// The status is that of success only if the model is certified.
[[nodiscard]] int prove(const prove_options& options);

}  // namespace headrace::cli

#endif
