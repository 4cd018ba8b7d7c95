// SPDX-License-Identifier: MIT
// headrace: compiles PyTorch's exports, from the command line.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/file/mapped_file.hpp>
#include <headrace/lowering/device/device_input.hpp>
#include <headrace/version.hpp>

#include "app_texts.hpp"
#include "commands.hpp"
#include "messages.hpp"
#include "process.hpp"
#include "vela.hpp"
#include "vgf.hpp"

namespace {

using namespace headrace::cli;
using headrace::size_choices;

constexpr const char* about =
    "Compiles models that PyTorch exported (torch.export.save) for NPUs and microcontrollers: to TOSA 1.0 "
    R"(flatbuffers, which
Arm's Vela takes, to ExecuTorch's .pte programs, and to C++ types.)";
constexpr const char* statuses =
    R"(Exit status: 0 done; 1 the model cannot be lowered (each refused node is listed with the reason);
2 bad usage, or an output that cannot be written; 3 a file is unreadable or malformed.

Examples:
  headrace lower model.pt2 -o model.tosa --io io.json
  headrace show model.pt2 --summary
  headrace run model.tosa --io io.json --in x.npy --out y.npy
  headrace COMMAND --help)";

// Texts below the options of each command.
constexpr const char* lower_examples =
    R"(Examples:
  headrace lower model.pt2 -o model.tosa --io io.json
  headrace lower model.pt2 -o model.tosa --target INT+int16 --verify --in x.npy
  headrace lower model.pt2 --quantize calib.npy -o model.tosa
  headrace lower --batch models -o out -j 8 --report report.json
  headrace lower model.pt2 -o model.pte --delegate tosa
  headrace lower model_int8.pt2 -o model.pte --core cortex-m4 --io-type int8 --io io.json
  headrace lower --partition model.pt2 -o model.pte
  headrace lower --method encode=a.pt2 --method decode=b.pt2 -o model.pte)";
constexpr const char* unpack_examples =
    R"(Examples:
  headrace unpack model.pte -o model.tosa
  headrace unpack model.pte --method encode --delegate 0 -o encode.tosa)";
constexpr const char* show_examples =
    R"(Examples:
  headrace show model.pt2
  headrace show model.tosa --summary
  headrace show model.pt2 --around conv2d_3 --depth 2
  headrace show model.pt2 -o model.hr
  headrace show model.pt2 --core cortex-m4
  headrace show model.pt2 --dot | dot -Tsvg > model.svg
  headrace show --pipeline --op silu
  headrace show --support --op aten.cumsum.default)";
constexpr const char* opt_examples =
    R"(Examples:
  headrace opt --passes help
  headrace opt model.pt2 --passes canonicalize_variants,decompose_gelu
  headrace opt model.hr --passes fuse_clamps --check -o model_after.hr)";
constexpr const char* plan_examples =
    R"(Examples:
  headrace plan model.tosa
  headrace plan model.tosa --algorithm best-fit --alignment 64 -o plan.json
  headrace plan model.tosa --memory stm32h743
  headrace plan wake.tosa speech.tosa --memory board.json --concurrent --page banks.html)";
constexpr const char* contract_examples =
    R"(Examples:
  headrace contract model.pt2 -o model.hpp
  headrace contract model.pt2 -o kws.hpp --name kws --target INT+u55
  headrace contract model.pt2 -o kws.hpp --name kws --core cortex-m4)";
constexpr const char* prove_examples =
    R"(Exit status: 0 certified; 1 not, or the model cannot be lowered; 2 and 3 as of other commands.

Examples:
  headrace prove model_int8.pt2
  headrace prove model.tosa --json certificate.json --counterexample inputs)";
constexpr const char* run_examples =
    R"(Examples:
  headrace run model.pt2 --in x.npy
  headrace run model.tosa --io io.json --in x.npy --out y.npy
  headrace run model.pte --method encode --in x.npy --out y.npy)";
constexpr const char* quantize_examples =
    R"(Examples:
  headrace quantize model.pt2 --samples calib.npy -o model_int8.pt2
  headrace quantize model.pt2 --samples calib.npy -o model_int8.pt2 --observer mse --best 60)";
constexpr const char* stream_examples =
    R"(Examples:
  headrace stream model.pt2 --axis x:2 --step 160 -o model_stream.pt2 --verify
  headrace stream model.pt2 --axis x:2 --step 160 --window 98 -o model_stream.pt2)";
constexpr const char* reduce_examples =
    R"(Examples:
  headrace reduce model.pt2 --crash -o small.pt2
  headrace reduce model.pt2 --differs --target INT -o small.hr
  headrace reduce model.pt2 --test './fails.sh {}' -o small.pt2)";
constexpr const char* compare_examples =
    R"(Examples:
  headrace compare model.pt2 model_int8.pt2 --in test.npy --top 10
  headrace compare model.pt2 model.tosa --io io.json --through model_int8.pt2 --in test.npy
  headrace compare model.tosa --board dump.bin
  headrace compare model_int8.pt2 --cycles times.csv --core cortex-m4 --html page.html)";
constexpr const char* embed_examples =
    R"(Examples:
  headrace embed model.tosa --io io.json --name kws -o generated
  headrace embed model.pte --io io.json --name kws -o generated)";

// Texts of options that take more than one line in the help.
constexpr const char* batch_help =
    R"(Lower each .pt2 file in this directory and its subdirectories (links to directories are not followed):
DIR/a/b.pt2 to OUTPUT/a/b.tosa. A model that fails does not stop the others; failures are listed at the
end, and the exit status is 2 if an output cannot be written, else 3 if a file is unreadable or malformed,
else 1 if a model cannot be lowered. --report then writes one file with a row for each model)";
constexpr const char* output_help =
    R"(TOSA flatbuffer to write (.tosa), program for ExecuTorch's runtime (.pte), or VGF, by Arm's converter
(.vgf); or directory for a package or for --batch. Files are written whole or not at all; - is standard output)";
constexpr const char* prove_range_help =
    R"(Numbers that an input holds, such as x=-1:1, instead of all of its type: real ones for an input that a
.pt2 file quantizes, else integers. The certificate is then for these)";
constexpr const char* reduce_test_help =
    R"(Command of the shell that exits with 0 for a model that still fails, and with another status for one that
does not; {} in it is the model's file, which is otherwise added at its end)";
constexpr const char* compare_in_help =
    R"(For each input, in order: a .npy file of samples, or a directory; with --board, of one inference, and
not needed if the dump has the inputs)";
constexpr const char* compare_board_help =
    R"(Compare with what a board computed: a dump of its tensors, or an etdump of ExecuTorch for a .pte file. A
.pt2 file is lowered first, as for --core. Names the first layer that differs; the exit status is then 1)";
constexpr const char* compare_cycles_help =
    R"(Times of layers on a board (CSV, with the columns `layer` and `cycles` or `us`, or an etdump): a table,
and figures on the nodes of the page)";
constexpr const char* compare_sort_help =
    R"(Sort by own, the noise that a layer adds, by sqnr, the noise in its result, by difference, cosine or
saturated, the worst first; or by model, in the model's order; default: own)";
constexpr const char* target_help =
    R"(FP, INT or INT+FP (TOSA-1.0+FP and so on), with extensions such as +bf16+int16+int4+cf, and +u55 or
+u85 for what that Ethos-U runs, and runs fastest, which a file for Vela needs; default: FP for a float
model, INT for a quantized one, INT+FP for a mixture; with --cost or --delegate of an Ethos-U, its own)";
constexpr const char* delegate_help =
    R"(For a .pte file: tosa turns what can be lowered to TOSA into delegates; ethos-u55-128 and similar
configurations have Vela compile them for that NPU; vgf has Arm's model-converter make them VGF, which
ExecuTorch runs by Vulkan. The runtime's own kernels compute the rest)";
constexpr const char* kernels_help =
    R"(For a .pte file, what computes the quantized part that is not delegated: cortex_m, ExecuTorch's integer
kernels for the processor of --core, or for cortex-m55 without one; portable, its float kernels. Default:
cortex_m with --core, else portable)";
constexpr const char* core_help =
    R"(For this processor write a C++ header with the model as a type (-o NAME.hpp), a source with a C function
and its header (-o NAME.cpp), or a program that computes with ExecuTorch's kernels for it (-o NAME.pte))";
constexpr const char* reproducer_help =
    R"(If a pass fails, or --verify finds that it changes the result: write the graph before it, as text that says
which passes are left; `headrace opt FILE.hr` runs them)";
constexpr const char* strict_help =
    R"(Refuse integers that are not known to fit in 32 bits, which TOSA has instead of int64; without it the
program lowers them with a warning that says what it assumes of inputs)";
constexpr const char* cost_help =
    R"(Show what Vela estimates for that Ethos-U: cycles by operator and, in the report, by node; the default
target is then what it runs)";
constexpr const char* dim_help =
    R"(Fix a size that the export leaves open, once for each: batch=1, x:0=1 for axis 0 of the input x, or the
export's symbol, s77=1)";
constexpr const char* device_input_help =
    R"(The integers of a device are an input: x=int16*3.05e-5, or with a number for each channel
x=uint8/255-[0.485,0.456,0.406]/[0.229,0.224,0.225]; samples are such integers)";

constexpr const char* quantize_help =
    R"(Quantize the model first, calibrated on samples: for each input, in order, a .npy file of samples along
the first axis, or a directory of such files)";
constexpr const char* graph_output_help =
    R"(File to write: .hr is text that can be read again (its large constants are in FILE.data), .pt2 what
torch.export.load reads, .tosa a flatbuffer, .dot a picture, .txt the listing of all nodes; - is the listing
on standard output)";
constexpr const char* stream_help =
    R"(Lower a step of the model along this axis of an input, with states, as `headrace stream` makes it; a
flatbuffer needs --state)";
constexpr const char* report_help =
    R"(Write what each pass did, and how long it took: JSON, or, if the name ends in .html, a page for the
browser with the graph after each pass, refused nodes, transposes and memory; for --batch, a table)";
constexpr const char* show_core_help =
    R"(Show the layers of the C++ type that `lower --core` writes for this processor: kernels, estimated
instructions, why no faster kernel computes one, and the arena; with --html on the page, with -o FILE.json as JSON)";
constexpr const char* html_help =
    "Write a page for the browser that shows the graph, with modules that fold and a search by name and op";
constexpr const char* vela_csv_help =
    "For the page: the _per-layer.csv that Vela writes with --verbose-performance, for cycles by node";
constexpr const char* contract_core_help =
    R"(Add what the C++ type that `lower --core` writes for this processor needs: arena, states, constants)";
constexpr const char* measured_help =
    R"(Add code, stack and instructions as `tests/on_device/run.py MODEL --core CORE` printed them (JSON))";
constexpr const char* plan_memory_help =
    R"(Plan over the banks of a board: a memory map (JSON), or the name of one: corstone-300, stm32h743, nrf52840,
one-sram)";
constexpr const char* lower_memory_help =
    R"(Banks of memory of the board, as for `plan`: a C++ header has an arena in each and constants by bank, a
.pte file a memory for each, and Vela is told of them)";
constexpr const char* inline_help =
    "For a .hr file: constants of up to that many elements are in the text itself; default: 32";

/// Declares options that name files to write: `-` is standard output.
void write_by(CLI::App& command, std::initializer_list<const char*> options) {
    for (const char* option : options)
        command.get_option(option)->transform(
            [](const std::string& path) { return path == "-" ? std::string(standard_output) : path; });
}

// An empty name is that of an unset variable of a script, and would mean no core.
std::string check_core(const std::string& name) {
    return name.empty() ? "give the name of a processor, such as cortex-m4" : "";
}

void add_quiet(CLI::App& command) {
    command.add_flag_callback("-q,--quiet", be_quiet, "Print only warnings and errors");
}

void add_sizes(CLI::App& command, size_choices& choices) {
    const auto choose = [&choices](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            const std::size_t at = text.rfind('=');
            const char* const end = text.data() + text.size();
            std::int64_t size = 0;
            if (at == 0 || at == std::string::npos ||
                std::from_chars(text.data() + at + 1, end, size).ptr != end || size < 1)
                throw CLI::ValidationError("--dim", text + " is not NAME=SIZE");
            choices.sizes.push_back({text.substr(0, at), size});
        }
    };
    command.add_option_function<std::vector<std::string>>("--dim", choose, dim_help)
        ->allow_extra_args(false)
        ->type_name("NAME=SIZE");
}

void add_batch(CLI::App& lower, lower_options& o) {
    CLI::Option* batch = lower.add_option("--batch", o.batch, batch_help);
    batch->type_name("DIR");
    for (const char* other : {"model", "--method", "--partition", "--delegate", "--kernels", "--plan-memory",
             "--memory", "--io", "--io-type", "--dot", "--ir", "--in", "--quantize", "--stream"}) {
        batch->excludes(lower.get_option(other));
    }
    lower
        .add_option("-j,--jobs", o.jobs,
            "With --batch: how many models are in memory at once; default: one for each processor")
        ->check(CLI::Range(1, 1024))
        ->needs(batch);
    lower
        .add_flag("--io-files", o.io_files,
            "With --batch: write what --io writes beside each output, OUTPUT/a/b.io.json")
        ->needs(batch);
    lower
        .add_flag("--page-files", o.page_files,
            "With --batch: write a page beside each output, OUTPUT/a/b.html, to which the report links")
        ->needs(batch);
}

void add_calibration(CLI::App& command, calibration_options& o) {
    const auto take = [&o](const std::vector<std::string>& texts) {
        std::set<std::string> names;
        for (const std::string& text : texts) {
            const auto input = headrace::parse_device_input(text);
            if (!input) throw CLI::ValidationError(std::string(input.error().message));
            if (!names.insert(input.value().name).second)
                throw CLI::ValidationError("--input", input.value().name + " is given twice");
        }
        o.inputs = texts;
    };
    command.add_option_function<std::vector<std::string>>("--input", take, device_input_help)
        ->allow_extra_args(false)
        ->type_name("NAME=SPEC");
    command.add_option("--config", o.config,
        "How to quantize, by op, name or module (JSON); command-line options override its settings");
    command.add_option("--observer", o.observer, "How ranges are found; default: histogram")
        ->check(CLI::IsMember({"histogram", "min-max", "moving-average", "percentile", "mse"}));
    command.add_option("--activations", o.activations, "Type of activations; default: int8")
        ->check(CLI::IsMember({"int8", "int8-symmetric", "int16"}));
    command.add_option("--weights", o.weights, "Type of weights; default: int8")
        ->check(CLI::IsMember({"int8", "int4"}));
    command.add_flag(
        "--per-tensor", o.per_tensor, "One scale for each weight tensor, not one for each of its channels");
    command.add_flag("--equalize", o.equalize,
        "First scale channels so that the weights of consecutive layers are equally large");
    command.add_flag("--smooth", o.smooth,
        "First move outliers in the inputs of linear layers into their weights (SmoothQuant)");
    command
        .add_option(
            "--headroom", o.headroom, "Factor by which to widen the ranges of computed values, such as 1.1")
        ->check(CLI::Range(1.0, 16.0));
    command
        .add_option("--best", o.best,
            "Try further options for up to that many seconds, and keep those that lose least")
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("SECONDS");
    command
        .add_option("--int16-share", o.int16_share,
            "Share of the activations' elements that may get 16 bits, where that helps most")
        ->check(CLI::Range(0.0, 1.0));
    command.add_flag("--correct-biases", o.correct_biases,
        "Then correct each bias by the mean error of its quantized layer");
    auto* const keep = command.add_flag("--keep-branches", o.keep_branches,
        "Keep sums and chains of linear layers, which otherwise become one layer");
    command
        .add_flag("--merge-branches", o.merge_branches,
            "Quantize sums of linear layers as one layer also where its weights lose 1 dB more than theirs: faster")
        ->excludes(keep);
}

void add_lower(CLI::App& app, lower_options& o, int& status) {
    CLI::App* lower = app.add_subcommand(
        "lower", "Lower a .pt2 model to a TOSA flatbuffer or a .pte file, or many at once");
    lower->add_option("model", o.model, "Model written by torch.export.save (.pt2)");
    lower->add_option("-o,--output", o.output, output_help)->required();
    lower
        ->add_option("--method", o.methods,
            "NAME=MODEL.pt2, once for each method: write a .pte file (or, with -o DIR, a package; or, with -o "
            "NAME.hpp and --core, a header), whose methods share constants")
        ->allow_extra_args(false);
    lower->add_flag("--partition", o.partition,
        "Leave what cannot be lowered on the host: write a .pte file as --delegate tosa does; or, with -o "
        "DIR, a package, whose host graph may have ops that ExecuTorch has no kernel for");
    CLI::Option* delegate = lower->add_option("--delegate", o.delegate, delegate_help);
    std::vector<std::string> delegates = accelerators();
    delegates.insert(delegates.begin(), {"tosa", vgf_delegate});
    delegate->check(CLI::IsMember(delegates));
    delegate->type_name("NAME");
    lower->add_option("--cost", o.cost, cost_help)->check(CLI::IsMember(accelerators()))->type_name("NAME");
    lower->add_option("--vela", o.vela, "Arm's compiler for Ethos-U NPUs; default: vela, from the path");
    lower->add_option("--model-converter", o.converter,
        "Arm's converter to VGF (PyPI: ai-ml-sdk-model-converter); default: model-converter, from the path");
    lower->add_option("--core", o.core, core_help)->check(check_core)->type_name("CORE");
    lower->add_option("--kernels", o.kernels, kernels_help)->check(CLI::IsMember({"cortex_m", "portable"}));
    lower->add_option("--name", o.name, "Namespace in the header; default: the file's name");
    lower->add_option("--arena", o.arena, "Refuse a header whose model needs more bytes of memory")
        ->type_name("BYTES");
    lower->add_option("--flash", o.flash, "Refuse a header with more bytes of constants")->type_name("BYTES");
    lower->add_option("--memory", o.memory, lower_memory_help)
        ->type_name("FILE")
        ->excludes("--arena")
        ->excludes("--flash");
    lower->add_flag("--plan-memory", o.plan_memory,
        "With --partition: ops of the host graph write to buffers at planned offsets");
    add_sizes(*lower, o.sizes);
    lower->add_option("--target", o.target, target_help);
    lower
        ->add_option("--io-layout", o.io_layout,
            "nchw: image inputs and outputs are as exported; nhwc: they are channels-last")
        ->check(CLI::IsMember({"nchw", "nhwc"}));
    lower
        ->add_option("--io-type", o.io_type,
            "For a .pte file: int8 leaves it to the caller to quantize inputs and to dequantize outputs; float, "
            "the default, does not")
        ->check(CLI::IsMember({"int8", "float"}));
    lower->add_option("--io", o.io,
        "Write what a caller must know about inputs and outputs (JSON): names, dtypes, shapes, scales and zero "
        "points");
    CLI::Option* report = lower->add_option("--report", o.report, report_help);
    lower->add_option("--vela-csv", o.vela_csv, vela_csv_help)->needs(report)->type_name("FILE");
    lower->add_option(
        "--dot", o.dot_directory, "Write the graph after each pass that changed it, for Graphviz");
    CLI::Option* ir = lower->add_option(
        "--ir", o.ir_directory, "Write the graph after each pass that changed it, as text (.hr)");
    ir->type_name("DIR");
    lower->add_option("--ir-around", o.ir_around, "With --ir: only before and after these passes, A,B")
        ->needs(ir)
        ->type_name("PASSES");
    lower
        ->add_option("--state", o.state,
            "Buffers that the program writes back are io: inputs for the old value and outputs for the "
            "new one; variable: variables of TOSA, for a target with +var")
        ->check(CLI::IsMember({"io", "variable"}));
    lower->add_flag("--verify", o.verify,
        "Execute the model after each pass, and name the first that changes the result; for a .pte file also the "
        "layer");
    lower->add_flag("--strict", o.strict, strict_help);
    lower->add_flag("--certify", o.certify,
        "Warn if integers of the lowered model may overflow for some inputs, as `prove` says");
    lower->add_option("--in", o.inputs, "Inputs for --verify (.npy), in order; default: random");
    lower->add_option("--reproducer", o.reproducer, reproducer_help)->type_name("FILE.hr");
    CLI::Option* axis = lower->add_option("--stream", o.stream, stream_help);
    axis->type_name("NAME:AXIS")->delimiter(',')->allow_extra_args(false);
    CLI::Option* step =
        lower->add_option("--step", o.step, "With --stream: elements of the axis in each step");
    step->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))->needs(axis);
    axis->needs(step);
    lower->add_option("--window", o.window, "With --stream: elements that ops over all of an axis keep")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
        ->needs(axis);
    CLI::Option* quantize = lower->add_option("--quantize", o.calibration.samples, quantize_help);
    quantize->type_name("FILE|DIR");
    add_calibration(*lower, o.calibration);
    for (const char* of_it : {"--config", "--observer", "--activations", "--weights", "--per-tensor",
             "--equalize", "--smooth", "--headroom", "--best", "--int16-share", "--correct-biases"})
        lower->get_option(of_it)->needs(quantize);
    for (const char* other : {"--method", "--plan-memory"}) quantize->excludes(lower->get_option(other));
    add_batch(*lower, o);
    write_by(*lower, {"--output", "--io", "--report"});
    add_quiet(*lower);
    lower->footer(lower_examples);
    lower->callback([&] { status = guarded(o.model, [&] { return headrace::cli::lower(o); }); });
}

void add_unpack(CLI::App& app, unpack_options& o, int& status) {
    CLI::App* unpack =
        app.add_subcommand("unpack", "Restore a TOSA flatbuffer from a .pte file or a package");
    unpack->add_option("package", o.package, "A .pte file or a package directory that lower wrote")
        ->required();
    unpack->add_option("--method", o.method, "Method; may be left out if there is only one");
    unpack->add_option("--delegate", o.delegate, "Delegate of the method, counted from 0");
    unpack->add_option("-o,--output", o.output, "TOSA flatbuffer to write")->required();
    write_by(*unpack, {"--output"});
    unpack->footer(unpack_examples);
    unpack->callback([&] { status = guarded(o.package, [&] { return headrace::cli::unpack(o); }); });
}

void add_data(CLI::App& command, std::string& data) {
    command.add_option("--data", data,
        "Constants of a .pte file that lie in another file (.ptd); without it, that of the same "
        "name beside it");
}

void add_show(CLI::App& app, show_options& o, int& status) {
    CLI::App* show = app.add_subcommand("show", "Print a model, or the static pipeline");
    show->add_option(
        "model", o.model, "A .pt2, .tosa, .pte or .hr file, a package, or a header that lower --core wrote");
    show->add_option("--method", o.method, "Method of a package or a .pte file; default: all");
    add_data(*show, o.data);
    add_sizes(*show, o.sizes);
    show->add_flag(
        "--pipeline", o.pipeline, "The passes, what each targets and produces, and which can meet which ops");
    CLI::Option* support = show->add_flag("--support", o.support,
        "Which elements and ranks of each op can be lowered, found out by lowering programs of one op");
    show->add_option("--op", o.op,
        "With --pipeline: the passes that can meet this op, and what becomes of it; with --support: "
        "why what is refused is");
    show->add_option("--target", o.target, target_help)->needs(support);
    show->add_option("--pass", o.pass,
        "With --pipeline: this pass, the ops that it gets from other passes, and those that it "
        "makes for them");
    show->add_flag(
        "--dot", o.dot, "As a picture, for Graphviz: headrace show m.pt2 --dot | dot -Tsvg > m.svg");
    CLI::Option* summary = show->add_flag("--summary", o.summary,
        "Instead of nodes: counts of ops, MACs, parameters, peak memory, inputs and outputs");
    CLI::Option* full = show->add_flag("--full", o.full,
        "A line for each node, including quantize and dequantize nodes and small constants");
    CLI::Option* around = show->add_option(
        "--around", o.around, "Only the node of that name and those around it: what it reads and its users");
    around->type_name("NODE");
    show->add_option("--depth", o.depth, "With --around: how far, in edges; default: 1")
        ->needs(around)
        ->check(CLI::Range(0, 1000));
    CLI::Option* npu = show->add_option("--npu", o.npu,
        "Of a TOSA flatbuffer: the cycles that each operator is predicted to take on this NPU, such as "
        "ethos-u55-128");
    npu->type_name("NPU")->excludes(summary)->excludes(full)->excludes(around);
    CLI::Option* output = show->add_option("-o,--output", o.output, graph_output_help);
    show->add_option("--inline", o.inlined, inline_help)->needs(output)->type_name("ELEMENTS");
    CLI::Option* core =
        show->add_option("--core", o.core, show_core_help)->check(check_core)->type_name("CORE");
    show->add_option("--state", o.state, "With --core: as for `lower`")
        ->check(CLI::IsMember({"io", "variable"}))
        ->needs(core);
    CLI::Option* html = show->add_option("--html", o.html, html_help)->type_name("FILE");
    show->add_option("--vela-csv", o.vela_csv, vela_csv_help)->needs(html)->type_name("FILE");
    for (const char* other : {"--pipeline", "--support", "--dot"}) {
        for (CLI::Option* one : {output, html, summary, around, full, core})
            one->excludes(show->get_option(other));
    }
    support->excludes("--pipeline")->excludes("--pass");
    summary->excludes(around)->excludes(full);
    for (CLI::Option* one : {summary, around, full, html}) output->excludes(one);
    for (CLI::Option* one : {summary, around, full}) {
        html->excludes(one);
        core->excludes(one);
    }
    core->excludes("--method");
    write_by(*show, {"--output", "--html"});
    show->footer(show_examples);
    show->callback([&] { status = guarded(o.model, [&] { return headrace::cli::show(o); }); });
}

void add_opt(CLI::App& app, opt_options& o, int& status) {
    CLI::App* opt = app.add_subcommand("opt", "Run chosen passes over a model, and print or write the graph");
    opt->add_option("model", o.model, "A .pt2, .tosa or .hr file");
    opt->add_option("--passes", o.passes,
        "Names of passes, separated by commas, or 'help' for a list of all; default: "
        "those in the first line of a reproducer");
    add_sizes(*opt, o.sizes);
    CLI::Option* output = opt->add_option("-o,--output", o.output, graph_output_help);
    opt->add_option("--inline", o.inlined, inline_help)->needs(output)->type_name("ELEMENTS");
    opt->add_option("--target", o.target,
        "What the passes lower to, as for `lower`; default: what a .hr file says, else FP, or INT+FP for a "
        "quantized model");
    opt->add_flag("--retrace", o.retrace, "Visit every node, and infer again the types that were lost");
    opt->add_flag("--check", o.check, "Check the graph after each pass");
    opt->add_option("--assume", o.assumed,
           "Properties that hold already, separated by commas, for passes that require them")
        ->type_name("PROPERTY,...");
    opt->add_flag("--verify", o.verify,
        "Execute the graph after each pass, and name the first that changes the result");
    opt->add_option("--in", o.inputs, "Inputs for --verify (.npy), in order; default: random");
    opt->add_option("--reproducer", o.reproducer, reproducer_help)->type_name("FILE.hr");
    write_by(*opt, {"--output"});
    add_quiet(*opt);
    opt->footer(opt_examples);
    opt->callback([&] { status = guarded(o.model, [&] { return headrace::cli::opt(o); }); });
}

void add_plan(CLI::App& app, plan_options& o, int& status) {
    CLI::App* plan = app.add_subcommand("plan", "Plan where each tensor of a model lies in memory");
    plan->add_option(
            "model", o.models, "A .pt2, .tosa, .pte or .hr file, or a package; several with --memory")
        ->required();
    plan->add_option("--method", o.method, "Method of a package or a .pte file; default: all");
    add_data(*plan, o.data);
    add_sizes(*plan, o.sizes);
    CLI::Option* algorithm = plan->add_option("--algorithm", o.algorithm,
        "greedy: a tensor gets the first gap that is large enough; best-fit: the smallest");
    algorithm->check(CLI::IsMember({"greedy", "best-fit"}));
    CLI::Option* alignment = plan->add_option(
        "--alignment", o.alignment, "Alignment of each offset in bytes, a power of two; default: 16");
    plan->add_option("-o,--output", o.output, "Write the plan (JSON) instead of printing it");
    CLI::Option* verify = plan->add_flag("--verify", o.verify,
        "Also execute the model in memory laid out by the plan, and compare the results");
    CLI::Option* memory = plan->add_option("--memory", o.memory, plan_memory_help)->type_name("FILE");
    for (CLI::Option* one : {algorithm, alignment, verify}) memory->excludes(one);
    plan->add_flag("--concurrent", o.concurrent,
            "With --memory: an inference of one model may run during that of another, so that no two share "
            "an arena; without it all models and methods share one")
        ->needs(memory);
    plan->add_option("--check", o.check,
            "With --memory: instead of planning, check the places in this plan (JSON, as -o writes it)")
        ->needs(memory)
        ->type_name("FILE");
    plan->add_option(
            "--page", o.page, "With --memory: write a page for the browser that draws each bank over time")
        ->needs(memory)
        ->type_name("FILE");
    write_by(*plan, {"--output", "--page"});
    plan->footer(plan_examples);
    plan->callback([&] { status = guarded(o.models.front(), [&] { return headrace::cli::plan(o); }); });
}

void add_contract(CLI::App& app, contract_options& o, int& status) {
    CLI::App* contract = app.add_subcommand(
        "contract", "Write what a model consists of and needs as a C++ header, for the compiler to check");
    contract->add_option("model", o.model, "Model written by torch.export.save (.pt2)")->required();
    contract->add_option("-o,--output", o.output, "Header to write; written whole or not at all")->required();
    contract->add_option("--name", o.name, "Name of the struct; default: that of the output's file");
    add_sizes(*contract, o.sizes);
    contract->add_option("--target", o.target, "What the model is lowered to, as for `lower`");
    contract->add_option("--io-layout", o.io_layout, "Layout of image inputs and outputs, as for `lower`")
        ->check(CLI::IsMember({"nchw", "nhwc"}));
    CLI::Option* core =
        contract->add_option("--core", o.core, contract_core_help)->check(check_core)->type_name("CORE");
    contract->add_option("--measured", o.measured, measured_help)->needs(core)->type_name("FILE");
    contract->add_flag("--exported-only", o.exported_only,
        "Leave out the lowered part, as for a model that cannot be lowered");
    write_by(*contract, {"--output"});
    contract->footer(contract_examples);
    contract->callback([&] { status = guarded(o.model, [&] { return headrace::cli::contract(o); }); });
}

void add_prove(CLI::App& app, prove_options& o, int& status) {
    CLI::App* prove =
        app.add_subcommand("prove", "Prove that no integer of a model overflows, whatever its inputs are");
    prove->add_option("model", o.model, "A .pt2 file, which is lowered first, or a .tosa or .hr file")
        ->required();
    add_sizes(*prove, o.sizes);
    prove->add_option("--target", o.target, "What the model is lowered to, as for `lower`");
    prove->add_option("--json", o.json, "Also write the certificate (JSON)")->type_name("FILE");
    prove
        ->add_option("--counterexample", o.counterexamples,
            "Write inputs (.npy) that make a number overflow, if any are found, into this directory")
        ->type_name("DIR");
    prove->add_option("--search", o.search_seconds, "Seconds to look for such inputs; default: 2")
        ->check(CLI::Range(0.0, 3600.0))
        ->type_name("SECONDS");
    prove->add_option("--range", o.ranges, prove_range_help)->type_name("INPUT=LOW:HIGH");
    prove->add_flag("--error", o.error,
        "Also bound how far rounding moves each layer and output of a quantized .pt2 file");
    write_by(*prove, {"--json"});
    prove->footer(prove_examples);
    prove->callback([&] { status = guarded(o.model, [&] { return headrace::cli::prove(o); }); });
}

void add_run(CLI::App& app, run_model_options& o, int& status) {
    CLI::App* run = app.add_subcommand("run", "Execute a model on the CPU");
    run->add_option("model", o.model, "A .pt2, .tosa, .pte or .hr file, or a package")->required();
    run->add_option(
        "--method", o.method, "Method of a package or a .pte file; may be left out if there is only one");
    add_data(*run, o.data);
    add_sizes(*run, o.sizes);
    run->add_option("--io", o.io,
        "Description that lower --io wrote: inputs and outputs are then those of the exported program, "
        "floats for quantized values and images as NCHW");
    run->add_option("--in", o.inputs, "Inputs (.npy), in order; default: random");
    run->add_option("--out", o.outputs, "Outputs to write (.npy), in order; default: print a summary");
    write_by(*run, {"--out"});
    run->footer(run_examples);
    run->callback([&] { status = guarded(o.model, [&] { return headrace::cli::run(o); }); });
}

void add_quantize(CLI::App& app, quantize_options& o, int& status) {
    CLI::App* quantize =
        app.add_subcommand("quantize", "Quantize a float .pt2 model, calibrated on samples of its inputs");
    quantize->add_option("model", o.model, "Model written by torch.export.save (.pt2)")->required();
    CLI::Option* samples = quantize->add_option("--samples", o.calibration.samples,
        "For each input, in order: a .npy file of samples, or a directory of such files; or - for such files one "
        "after another on standard input, in turn for each input");
    samples->type_name("FILE|DIR|-");
    quantize
        ->add_option("--observe", o.calibration.observe,
            "File for what is observed of the samples, a part of all: --statistics takes those of all parts")
        ->needs(samples)
        ->type_name("FILE.stats");
    quantize
        ->add_option("--statistics", o.calibration.statistics,
            "Files that --observe wrote, in the order of the samples: the result is that of all samples at once")
        ->excludes(samples)
        ->type_name("FILE.stats");
    add_sizes(*quantize, o.sizes);
    quantize->add_option("-o,--output", o.output, "Quantized model to write (.pt2)");
    add_calibration(*quantize, o.calibration);
    quantize->add_option("-j,--jobs", o.calibration.jobs, "Threads; default: one for each processor")
        ->check(CLI::Range(1, 1024));
    write_by(*quantize, {"--output"});
    add_quiet(*quantize);
    quantize->footer(quantize_examples);
    quantize->callback([&] { status = guarded(o.model, [&] { return headrace::cli::quantize(o); }); });
}

void add_stream(CLI::App& app, stream_command_options& o, int& status) {
    CLI::App* stream = app.add_subcommand(
        "stream", "Turn a .pt2 model of a window into one that computes a step of it and keeps states");
    stream->add_option("model", o.model, "Model written by torch.export.save (.pt2), float or quantized")
        ->required();
    stream
        ->add_option("--axis", o.axes,
            "Input and axis that are a stream: x:2, or 2 if there is one input; x:2,y:2 for several")
        ->required()
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME:AXIS");
    stream->add_option("--step", o.step, "Elements of the axis that each step takes")
        ->required()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
    stream
        ->add_option("--window", o.window,
            "Elements that ops over all of an axis, such as a mean, keep; otherwise they are refused")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
    add_sizes(*stream, o.sizes);
    stream->add_option("-o,--output", o.output, "Model to write (.pt2): its buffers are the states")
        ->required();
    stream->add_flag("--verify", o.verify, "Execute both, and compare what must be equal");
    stream->add_option("--in", o.inputs,
        "Inputs for --verify (.npy), in order, a stream's as long as you like; default: random");
    stream->add_option("--report", o.report, "Write delays, states and multiply-accumulates (JSON)");
    write_by(*stream, {"--output", "--report"});
    add_quiet(*stream);
    stream->footer(stream_examples);
    stream->callback([&] { status = guarded(o.model, [&] { return headrace::cli::stream(o); }); });
}

void add_reduce(CLI::App& app, reduce_command_options& o, int& status) {
    CLI::App* reduce =
        app.add_subcommand("reduce", "Find the smallest model that still fails: nodes, sizes, constants");
    reduce->add_option("model", o.model, "A .pt2, .tosa or .hr file")->required();
    reduce->add_option("-o,--output", o.output, "Model to write (.pt2, or .hr for text); also those tested")
        ->required();
    reduce->add_option("--test", o.test, reduce_test_help)->type_name("COMMAND");
    reduce->add_flag("--crash", o.crash,
        "Keep what makes `lower` end by the same signal, or with the same error apart from numbers and names");
    reduce->add_flag(
        "--differs", o.differs, "Keep what makes `lower --verify` find that a pass changes the result");
    reduce->add_option("--target", o.target, "For --crash and --differs, as for `lower`");
    reduce->add_option("--timeout", o.timeout, "A test that takes longer does not hold; default: 60")
        ->check(CLI::Range(0.01, 1e6))
        ->type_name("SECONDS");
    reduce->add_flag("--keep-sizes", o.keep_sizes, "Tensors keep their sizes");
    reduce->add_flag("--keep-constants", o.keep_constants, "Constants do not become zeros or ones");
    add_sizes(*reduce, o.sizes);
    add_quiet(*reduce);
    reduce->footer(reduce_examples);
    reduce->callback([&] { status = guarded(o.model, [&] { return headrace::cli::reduce(o); }); });
}

void add_compare(CLI::App& app, compare_options& o, int& status) {
    CLI::App* compare = app.add_subcommand(
        "compare", "Compare a model with another form of it, or with a board, layer by layer");
    compare->add_option("reference", o.reference, "The reference: a .pt2, .tosa or .pte file, or a package")
        ->required();
    compare->add_option("other", o.other, "The model that was made from it; none with --board or --cycles");
    compare->add_option("--in", o.samples, compare_in_help)->type_name("FILE|DIR");
    compare->add_option("--board", o.board, compare_board_help);
    compare->add_option("--debug-buffer", o.debug_buffer,
        "Tensors of an etdump; default: the file of its name that ends in .bin");
    compare->add_option("--cycles", o.cycles, compare_cycles_help);
    compare->add_option("--core", o.core, "With --cycles: compare with the estimates for this processor");
    compare->add_option("--vela-csv", o.vela_csv,
        "With --cycles: compare with Vela's figures, which it writes to MODEL_per-layer.csv");
    add_sizes(*compare, o.sizes);
    compare->add_option(
        "--method", o.method, "Method of the second model, if it is a package or a .pte file");
    compare->add_option(
        "--io", o.io, "Description that lower --io wrote with it: what its integers stand for");
    compare->add_option("--through", o.through,
        "The quantized .pt2 that it was lowered from, by whose names layers are matched");
    compare->add_option("--sort", o.sort, compare_sort_help)
        ->check(CLI::IsMember({"own", "sqnr", "difference", "cosine", "saturated", "model"}));
    compare->add_option("--top", o.top, "Lines of the table; default: all layers");
    compare->add_option("--json", o.json, "Write all figures (JSON)");
    compare->add_option("--dot", o.dot, "Write a picture, for Graphviz: dot -Tsvg FILE > picture.svg");
    compare->add_option("--html", o.html,
        "Write a page for the browser: both models, the second coloured by the noise of each layer");
    compare->add_option("-j,--jobs", o.jobs, "Threads; default: one for each processor")
        ->check(CLI::Range(1, 1024));
    write_by(*compare, {"--json", "--dot"});
    compare->footer(compare_examples);
    compare->callback([&] { status = guarded(o.reference, [&] { return headrace::cli::compare(o); }); });
}

void add_embed(CLI::App& app, embed_options& o, int& status) {
    CLI::App* embed =
        app.add_subcommand("embed", "Write a C source and header that link a model into a firmware image");
    embed
        ->add_option("file", o.file,
            "A flatbuffer, a .pte file, or what Vela writes with --output-format raw; the source includes it by "
            "this path")
        ->required();
    embed->add_option("--name", o.name, "Prefix of the symbols: NAME_model, NAME_model_size, NAME_io")
        ->required();
    embed->add_option("--io", o.io, "Description that lower --io wrote, for NAME_io");
    embed->add_option("-o,--output", o.output, "Directory for NAME_model.c and NAME_model.h");
    embed->footer(embed_examples);
    embed->callback([&] { status = guarded(o.file, [&] { return headrace::cli::embed(o); }); });
}

/// Adds commands that print texts derived from the options, for packages and shells; hidden, since they are
/// rarely used.
void add_texts(CLI::App& app) {
    CLI::App* script = app.add_subcommand("completions", "Print a completion script for a shell");
    script->group("");
    script->footer("");
    auto shell = std::make_shared<std::string>();
    script->add_option("shell", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    script->callback([&app, shell] { fmt::print("{}", completions(app, *shell)); });
    CLI::App* page = app.add_subcommand("man", "Print the manual page, for man -l -");
    page->group("");
    page->footer("");
    page->callback([&app] { fmt::print("{}", manual_page(app, headrace::version)); });
}

int report_parse_error(const CLI::App& app, std::span<const char* const> words, const CLI::ParseError& e) {
    const CLI::App* command = chosen_command(app, words);
    report_usage(format_usage_error(app, words, e.what()));
    fmt::print(stderr, "`headrace {}--help` lists the options.\n",
        command == nullptr ? "" : command->get_name() + ' ');
    return status_usage;
}

std::string version_line() { return fmt::format("headrace {}", headrace::version); }

int run_program(int argc, char** argv) {
    CLI::App app(about, "headrace");
    app.footer(statuses);
    app.require_subcommand(1);
    app.allow_windows_style_options(false);  // paths may begin with /
    app.set_version_flag("--version", version_line());
    int status = status_ok;
    lower_options lower;
    unpack_options unpack;
    show_options show;
    opt_options opt;
    plan_options plan;
    run_model_options run;
    quantize_options quantize;
    stream_command_options stream;
    reduce_command_options reduce;
    compare_options compare;
    embed_options embed;
    contract_options contract;
    prove_options prove;
    const std::pair<std::string_view, std::function<void()>> commands[] = {
        {"lower", [&] { add_lower(app, lower, status); }},
        {"unpack", [&] { add_unpack(app, unpack, status); }},
        {"show", [&] { add_show(app, show, status); }},
        {"opt", [&] { add_opt(app, opt, status); }},
        {"plan", [&] { add_plan(app, plan, status); }},
        {"run", [&] { add_run(app, run, status); }},
        {"quantize", [&] { add_quantize(app, quantize, status); }},
        {"stream", [&] { add_stream(app, stream, status); }},
        {"reduce", [&] { add_reduce(app, reduce, status); }},
        {"compare", [&] { add_compare(app, compare, status); }},
        {"embed", [&] { add_embed(app, embed, status); }},
        {"contract", [&] { add_contract(app, contract, status); }},
        {"prove", [&] { add_prove(app, prove, status); }},
    };
    const std::string_view first = argc > 1 ? argv[1] : "";
    const auto* const chosen =
        std::ranges::find(commands, first, [](const auto& command) { return command.first; });
    // The options, about a hundred, are created only for commands that are needed.
    if (chosen != std::end(commands)) {
        chosen->second();
    } else {
        for (const auto& command : commands) command.second();
        add_texts(app);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
        return report_parse_error(app, std::span(argv + 1, argv + argc), e);
    }
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    open_standard_streams();
    if (argc == 2 && std::string_view(argv[1]) == "--version") {  // others ask for it often: before all else
        fmt::print("{}\n", version_line());
        return flush_output(status_ok);
    }
    remove_temporary_files_at_end();
    headrace::guard_mapped_files();
    const int status = guarded("", [&] { return run_program(argc, argv); });
    return flush_output(status);
}
