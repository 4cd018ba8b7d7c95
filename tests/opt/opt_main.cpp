// SPDX-License-Identifier: MIT
// Tests programs for user-defined dialects: what they read, transform and refuse.

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/opt/opt_command_line.hpp>
#include <headrace/opt/opt_main.hpp>

using namespace headrace;

namespace {

namespace own {
struct dialect;
/// Twice its operand, which has at most two axes.
struct twice : op<dialect, "own.twice", "x"> {
    struct args {
        value x;
    };
};
struct same : op<dialect, "own.same", "x"> {
    struct args {
        value x;
    };
};
struct dialect : dialect_of<"own", twice, same> {};

result<void> infer_results(twice, const args<twice>& a, inference& out) {
    if (out.of(a.x).rank() > 2) return invalid("own.twice: more than two dimensions");
    out.add(out.of(a.x));
    return {};
}

struct drop_same : pass {
    using targeted_ops = ops<same>;
    using produces = ops<>;
    value operator()(const args<same>& a, emit<produces>&) const { return a.x; }
};
struct refuse_twice : pass {
    using targeted_ops = ops<twice>;
    using produces = ops<>;
    value operator()(const args<twice>&, emit<produces>& e) const { return e.unsupported("it is refused"); }
};
}  // namespace own

// An op like `twice`, with everything that a dialect can have.
namespace whole {
struct dialect;
struct twice : op<dialect, "whole.twice", "x"> {
    struct args {
        value x;
    };
};
struct power : op<dialect, "whole.power", "x, exponent"> {
    struct args {
        value x;
        std::int64_t exponent = 2;
    };
};
struct dialect : dialect_of<"whole", twice, power> {};

template <one_of<ops<twice, power>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    out.add(out.of(a.x));
    return {};
}
result<void> verify_op(power, const args<power>& a, const node&) {
    if (a.exponent < 1 || a.exponent > 3) return invalid("the exponent is between 1 and 3");
    return {};
}
void evaluate(twice, const args<twice>& a, evaluation& e) {
    std::vector<double> numbers = e.input(a.x).to<double>();
    for (double& x : numbers) x *= 2;
    e.output().assign(numbers);
}
void evaluate(power, const args<power>& a, evaluation& e) {
    evaluate_as<aten::pow_tensor_scalar>({.self = a.x, .exponent = a.exponent}, e);
}

struct select : pass {
    using targeted_ops = ops<aten::add_tensor, aten::pow_tensor_scalar>;
    using produces = ops<twice, power>;
    value operator()(const args<aten::add_tensor>& a, emit<produces>& e) const {
        if (!(a.self == a.other)) return e.unsupported("two values are added");
        return e.make<twice>({a.self});
    }
    value operator()(const args<aten::pow_tensor_scalar>& a, emit<produces>& e) const {
        const auto exponent = static_cast<std::int64_t>(a.exponent.to_double());
        if (exponent > 3) return e.unsupported("the exponent is too large");
        return e.make<power>({a.self, exponent});
    }
};
struct wrong_twice : pass {
    using targeted_ops = ops<twice>;
    using produces = ops<power>;
    value operator()(const args<twice>& a, emit<produces>& e) const { return e.make<power>({a.x, 1}); }
};
struct powers_known : property {};
struct square_again : pass {
    using requires_before = pass_list<powers_known>;
    using targeted_ops = ops<twice>;
    using produces = ops<power>;
    value operator()(const args<twice>& a, emit<produces>& e) const { return e.make<power>({a.x, 2}); }
};
struct lowering : pipeline<from<aten::add_tensor, aten::pow_tensor_scalar>, to<dialect>, select> {};
struct also : pipeline<from<aten::add_tensor, aten::pow_tensor_scalar>, to<dialect>, select, wrong_twice> {};
}  // namespace whole

struct folder {
    std::filesystem::path path;
    folder() {
        char name[] = "/tmp/headrace_opt_main_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    std::string write(const char* name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
};

int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "own_opt");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    return opt_main<dialects<own::dialect>, pass_list<own::drop_same, own::refuse_twice>>(
        static_cast<int>(argv.size()), argv.data());
}

int run_whole(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "whole_opt");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    return opt_main<dialects<whole::dialect>, whole::lowering, whole::also, pass_list<whole::square_again>>(
        static_cast<int>(argv.size()), argv.data());
}
std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("the graph after each pass that changed it is kept as text", "[opt_main]") {
    const folder there;
    const std::string in = there.write("in.hr",
        "headrace 1\n%x: float32[2] = input\n%a: float32[2] = aten.add.Tensor(%x, "
        "%x)\noutput %a\n");
    const auto stages = [&](const char* name) {
        std::string names;
        std::set<std::string> sorted;
        for (const auto& entry : std::filesystem::directory_iterator(there.path / name))
            sorted.insert(entry.path().filename().string());
        for (const std::string& stage : sorted) names += stage + " ";
        return names;
    };
    const std::string all = (there.path / "all").string();
    REQUIRE(run_whole({"lower", in, "--ir", all, "-o", (there.path / "out.hr").string()}) == 0);
    CHECK(stages("all") == "000_input.hr 001_select.hr ");
    CHECK(text_of(there.path / "all" / "001_select.hr") == text_of(there.path / "out.hr"));
    const std::string some = (there.path / "some").string();
    REQUIRE(run_whole({"lower", in, "--pipeline", "also", "--ir", some, "--ir-around", "wrong_twice"}) == 0);
    CHECK(stages("some") == "001_select.hr 002_wrong_twice.hr ");
    CHECK(run_whole({"lower", in, "--ir", some, "--ir-around", "no_pass"}) == 2);
    CHECK(run_whole({"lower", in, "--ir-around", "select"}) == 2);
    CHECK(run_whole({"lower", in, "--ir", (there.path / "in.hr" / "below").string()}) == 2);
}

TEST_CASE("a program for another dialect transforms its graphs", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2, 3] = input
%y: float32[2, 3] = own.same(%x)
%z: ? = own.twice(%y)
output %z
)");
    const std::string out = (at.path / "y.hr").string();
    CHECK(run({"opt", model, "--passes", "drop_same", "-o", out}) == 0);
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    CHECK(text.str() == R"(headrace 1

%x: float32[2, 3] = input
%z: float32[2, 3] = own.twice(%x)
output %z
)");
    CHECK(run({"show", out, "-o", (at.path / "z.hr").string()}) == 0);
    CHECK(run({"opt", model, "--all", "-o", out}) == 1);  // a node is refused
    CHECK(run({"opt", model, "--passes", "drop_same", "-o", "/no/such/folder/y.hr"}) == 2);
    CHECK(run({"run", model}) != 0);  // no kernel computes these ops
}

TEST_CASE("a program for another dialect refuses what is broken", "[opt_main]") {
    const folder at;
    const auto show = [&](const std::string& nodes) {
        const std::string model = at.write("x.hr", "headrace 1\n%x: int8[2, 3, 4] = input\n" + nodes);
        return run({"show", model, "-o", (at.path / "y.hr").string()});
    };
    CHECK(show("output %x") == 0);
    CHECK(show("%y: int8[2, 3, 4] = own.twice(%x)\noutput %y") == 3);  // its own rule
    CHECK(show("%y: int8[2, 3, 5] = aten.relu.default(%x)\noutput %y") == 3);
    CHECK(show("%y: ? = own.same(%x)\noutput %y") == 3);  // no rule infers its type
    CHECK(show("%y: ? = own.other(%x)\noutput %y") == 3);
    CHECK(run({}) == 2);
    CHECK(run({"show"}) == 2);
    CHECK(run({"show", "x.hr", "--all"}) == 2);
    CHECK(run({"opt", "x.hr"}) == 2);
    CHECK(run({"opt", "x.hr", "--passes", "drop_sam"}) == 2);
    CHECK(run({"opt", (at.path / "none.hr").string(), "--all"}) == 3);
    CHECK(run({"run", "x.hr", "-o", "y.hr"}) == 2);
}

TEST_CASE("a program for another dialect lowers, executes, plans and verifies", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2] = input
%sum: ? = aten.add.Tensor(%x, %x)
%y: ? = aten.pow.Tensor_Scalar(%sum, 3)
output %y
)");
    const std::string lowered = (at.path / "y.hr").string();
    CHECK(run_whole({"lower", model, "--verify", "-o", lowered}) == 0);
    CHECK(text_of(lowered) == R"(headrace 1

%x: float32[2] = input
%sum: float32[2] = whole.twice(%x)
%y: float32[2] = whole.power(%sum, exponent=3)
output %y
)");
    const float numbers[] = {1, -2};
    const std::string in = (at.path / "in.npy").string();
    const std::string out = (at.path / "out.npy").string();
    REQUIRE(write_npy(in, {dtype::float32, {2}, {}}, std::as_bytes(std::span(numbers))));
    CHECK(run_whole({"run", lowered, "--in", in, "--out", out}) == 0);
    const auto got = read_npy(out);
    REQUIRE(got);
    float given[2];
    REQUIRE(got.value().data.size() == sizeof given);
    std::memcpy(given, got.value().data.data(), sizeof given);
    CHECK(given[0] == 8);
    CHECK(given[1] == -64);
    CHECK(run_whole({"run", lowered}) == 0);
    CHECK(run_whole({"plan", lowered, "--verify", "--in", in}) == 0);
    CHECK(run_whole({"plan", lowered}) == 0);
    CHECK(run_whole({"run", lowered, "--in", in, "--out", out, out}) == 2);
    // The other pipeline changes the results.
    CHECK(run_whole({"lower", model, "--pipeline", "also", "-o", lowered}) == 0);
    CHECK(run_whole({"lower", model, "--pipeline", "also", "--verify", "-o", lowered}) == 3);
    CHECK(run_whole({"opt", model, "--passes", "select,wrong_twice", "--verify"}) == 3);
    CHECK(run_whole({"lower", model, "--pipeline", "none"}) == 2);
    CHECK(run({"lower", model}) == 2);  // this program has no pipeline
    CHECK(run_whole({"show", model, "--verify"}) == 2);
    CHECK(run_whole({"plan", model, "-o", lowered}) == 2);
}

TEST_CASE("a program for another dialect keeps the graph before a pass that fails", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2] = input
%sum: ? = aten.add.Tensor(%x, %x)
output %sum
)");
    const std::string kept = (at.path / "kept.hr").string();
    const std::string text = R"(// RUN: --passes wrong_twice --verify
headrace 1

%x: float32[2] = input
%sum: float32[2] = whole.twice(%x)
output %sum
)";
    CHECK(run_whole({"lower", model, "--pipeline", "also", "--verify", "--reproducer", kept}) == 3);
    CHECK(text_of(kept) == text);
    std::filesystem::remove(kept);
    CHECK(run_whole({"opt", model, "--passes", "select,wrong_twice", "--verify", "--reproducer", kept}) == 3);
    CHECK(text_of(kept) == text);
    CHECK(run_whole({"opt", kept}) == 3);  // the fault occurs again
    CHECK(run_whole({"opt", kept, "--passes", "select", "-o", (at.path / "y.hr").string()}) == 0);
    CHECK(run_whole({"opt", model, "--passes", "select", "--reproducer", (at.path / "none.hr").string(), "-o",
              (at.path / "y.hr").string()}) == 0);
    CHECK_FALSE(std::filesystem::exists(at.path / "none.hr"));
    CHECK(run_whole({"opt", model}) == 2);  // neither passes nor a reproducer
}

TEST_CASE("a program for another dialect gives life to nodes that Headrace does not know", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2] = input
%y: float32[2] = opaque whole.power(x=%x, exponent=3)
output %y
)");
    const std::string out = (at.path / "y.hr").string();
    CHECK(run_whole({"show", model, "-o", out}) == 0);
    CHECK(text_of(out).find("= whole.power(%x, exponent=3)") != std::string::npos);
    CHECK(run_whole({"run", model}) == 0);
    CHECK(run({"run", model}) != 0);
    at.write(
        "x.hr", "headrace 1 %x: float32[2] = input %y: float32[2] = opaque whole.power(%x, 4) output %y");
    CHECK(run_whole({"show", model}) == 3);  // its verifier
}

TEST_CASE("a program for another dialect names what may not leave its pipeline", "[opt_main]") {
    const folder at;
    const std::string lowered = (at.path / "y.hr").string();
    const auto lower = [&](const std::string& nodes) {
        const std::string model = at.write("x.hr", "headrace 1\n%x: float32[2] = input\n" + nodes);
        return run_whole({"lower", model, "-o", lowered});
    };
    CHECK(lower("%y: ? = aten.pow.Tensor_Scalar(%x, 4)\noutput %y\n") == 1);  // refused
    CHECK(lower("%y: ? = aten.relu.default(%x)\noutput %y\n") == 1);          // no pass takes it
    CHECK(lower("%y: ? = whole.power(%x, exponent=4)\noutput %y\n") == 3);    // its verifier
    CHECK_FALSE(std::filesystem::exists(lowered));
    CHECK(lower("%y: ? = whole.power(%x, exponent=3)\noutput %y\n") == 0);
}

TEST_CASE("a program for another dialect says how it is used", "[opt_main]") {
    CHECK(run({"--help"}) == 0);
    CHECK(run({"opt", "--help"}) == 0);
    std::vector<std::string> words{"own_opt", "opt", "x.hr", "--pases", "a"};
    const auto refusal = [&] {
        std::vector<char*> argv;
        for (std::string& w : words) argv.push_back(w.data());
        return std::string(parse_opt_command(argv).error().message);
    };
    CHECK(refusal() == "opt has no option --pases; did you mean --passes?");
    words = {"own_opt", "lowr", "x.hr"};
    CHECK(refusal() == "there is no command 'lowr'; did you mean lower?");
    words = {"own_opt", "show", "x.hr", "--quantize-all"};
    CHECK(refusal() == "show has no option --quantize-all");
    words = {"own_opt", "opt", "x.hr", "--passes"};
    CHECK(refusal() == "--passes needs an argument");
    words = {"own_opt", "opt", "x.hr", "y.hr"};
    CHECK(refusal() == "opt takes one file, but 'y.hr' is another");
    words = {"own_opt", "opt"};
    CHECK(refusal() == "opt needs a file");
    words = {"own_opt", "lower", "x.hr", "--partition", "--ir", "d"};
    CHECK(refusal() == "--ir and --reproducer are for a whole graph: leave out --partition");
    words = {"own_opt"};
    CHECK(refusal() == "no command is given");
}

TEST_CASE("a program for another dialect runs a pass alone that requires a property", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2] = input
%y: ? = whole.twice(%x)
output %y
)");
    const std::string out = (at.path / "y.hr").string();
    CHECK(run_whole({"opt", model, "--passes", "square_again", "-o", out}) == 3);
    CHECK(run_whole({"opt", model, "--passes", "square_again", "--assume", "another", "-o", out}) == 3);
    for (const char* driver : {"--check", "--retrace"}) {
        CHECK(run_whole({"opt", model, "--passes", "square_again", "--assume", "another,powers_known", driver,
                  "-o", out}) == 0);
        CHECK(text_of(out).find("%y: float32[2] = whole.power(%x)") != std::string::npos);
    }
    // A reproducer assumes it, too.
    const std::string kept = (at.path / "kept.hr").string();
    CHECK(run_whole({"opt", model, "--passes", "square_again", "--assume", "powers_known", "--verify",
              "--reproducer", kept}) == 3);
    CHECK(text_of(kept).starts_with("// RUN: --passes square_again --verify --assume powers_known\n"));
    CHECK(run_whole({"opt", kept}) == 3);
}

TEST_CASE("a program for another dialect lowers the parts that its pipeline takes", "[opt_main]") {
    const folder at;
    const std::string model = at.write("x.hr", R"(headrace 1
%x: float32[2] = input
%a: ? = aten.add.Tensor(%x, %x)
%b: ? = aten.relu.default(%a)
%c: ? = aten.pow.Tensor_Scalar(%b, 3)
%d: ? = aten.pow.Tensor_Scalar(%c, 4)
output %d
)");
    const std::string out = (at.path / "y.hr").string();
    CHECK(run_whole({"lower", model, "-o", out}) == 1);
    REQUIRE(run_whole({"lower", model, "--partition", "--verify", "-o", out}) == 0);
    const std::string text = text_of(out);
    CHECK(text.find("whole.twice(") != std::string::npos);
    CHECK(text.find("= aten.relu.default(%a)") != std::string::npos);
    CHECK(text.find("exponent=3") != std::string::npos);
    CHECK(text.find("%d: float32[2] = aten.pow.Tensor_Scalar(") != std::string::npos);  // refused
    CHECK(run_whole({"run", out}) == 0);
    CHECK(run_whole({"opt", out, "--passes", "select"}) == 1);  // that of the host is refused again
}

TEST_CASE("graphs of another dialect run by its kernels, and by no others", "[opt_main]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    const tensor_meta pair{dtype::float32, {2}, {}};
    g.set_meta(x.result(), pair);
    const value y = g.create<whole::twice>({x.result()}).result();
    g.set_meta(y, pair);
    g.create<builtin::output>({list<value>(&y, 1)});
    const std::vector inputs{tensor::of(dtype::float32, {2}, std::vector<double>{1, 2})};
    const auto got = run_graph(g, inputs, operators_of<whole::dialect>);
    REQUIRE(got);
    CHECK(got.value()[0].to<double>() == std::vector<double>{2, 4});
    CHECK_THAT(std::string(run_graph(g, inputs).error().message),
        Catch::Contains("has no kernel for this op; declare evaluate(Op,"));
    CHECK(verify<whole::dialect>(g));
}
