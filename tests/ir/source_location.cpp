// SPDX-License-Identifier: MIT
// Tests which line of a stack trace belongs to the model, and how messages name it.
#include <catch2/catch.hpp>

#include <headrace/ir/source_location.hpp>

using namespace headrace;

TEST_CASE("the innermost frame outside of PyTorch is the model's", "[source_location]") {
    constexpr std::string_view trace =
        "  File \"/home/me/train.py\", line 3, in main\n    export(m)\n"
        "  File \"/home/me/net.py\", line 42, in forward\n    return self.conv(x)\n"
        "  File \"/usr/lib/python3/dist-packages/torch/nn/modules/conv.py\", line 7, in forward\n    "
        "conv2d()\n";
    CHECK(model_frame(trace) == "File \"/home/me/net.py\", line 42, in forward\n    return self.conv(x)");
    CHECK(line_of_frame(model_frame(trace)) == "/home/me/net.py:42");
    // If all frames are PyTorch's, the innermost.
    const std::string_view rest = trace.substr(trace.find("  File \"/usr"));
    CHECK(line_of_frame(model_frame(rest)) == "/usr/lib/python3/dist-packages/torch/nn/modules/conv.py:7");
    CHECK(model_frame("").empty());
    CHECK(model_frame("no frames").empty());
}

TEST_CASE("what is not a frame gives no line", "[source_location]") {
    CHECK(line_of_frame("").empty());
    CHECK(line_of_frame("File \"net.py\"").empty());
    CHECK(line_of_frame("File \"net.py\", line x, in f").empty());
    CHECK(line_of_frame("File \"\", line 4, in f").empty());
    CHECK(line_of_frame("File \"net.py\", line 4") == "net.py:4");
    CHECK(line_of_frame("File \"a\x1b[1m.py\", line 4, in f") == "a\\x1b[1m.py:4");
}
