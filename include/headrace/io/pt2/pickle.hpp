// SPDX-License-Identifier: MIT
// Defines headrace::pt2::pickled_tensors, which reads the tensors of a dictionary that torch.save has
// pickled, without running the pickle.
#ifndef HEADRACE_IO_PT2_PICKLE_HPP
#define HEADRACE_IO_PT2_PICKLE_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/io/pt2/tensor.hpp>

namespace headrace::pt2 {

/// A tensor of a pickle: its layout in the storage with that key.
struct pickled_tensor {
    tensor_layout layout;
    std::string_view storage;
};

/// A value of a pickle. Calls, and the objects that they make, are kept as the callee and its arguments.
struct pickled_value {
    enum class kind_type : std::uint8_t { none, number, text, global, tuple, dictionary, call, storage };
    kind_type kind = kind_type::none;
    std::int64_t number = 0;
    std::string_view text{};                    ///< global: module and name, separated by a space
    std::vector<const pickled_value*> items{};  ///< dictionary: keys and values; call: callee and arguments
};

/// Reads the opcodes of protocols 2 to 4 that dictionaries of tensors consist of (pickletools lists them).
/// Nothing is looked up and nothing is called. Throws headrace::failure.
class pickle_reader {
public:
    /// The bytes must outlive the values that are read.
    explicit pickle_reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] const pickled_value& read();

private:
    using kind = pickled_value::kind_type;

    [[nodiscard]] std::string_view take(std::size_t count);
    /// Takes a little-endian number.
    [[nodiscard]] std::uint64_t take_number(std::size_t count);
    [[nodiscard]] std::string_view take_line();

    pickled_value& push(kind k);
    [[nodiscard]] pickled_value* pop();
    /// Pops the values above the last mark.
    [[nodiscard]] std::vector<const pickled_value*> pop_marked();
    void push_number(std::int64_t number) { push(kind::number).number = number; }
    void push_text(std::size_t size) { push(kind::text).text = take(size); }

    bool read_scalar(unsigned char code);
    void push_long(std::size_t size);
    void push_global();
    void push_stack_global();
    void push_name(std::string_view module, std::string_view name);

    bool read_memo(unsigned char code);
    void put(std::uint64_t number);
    void get(std::uint64_t number);

    bool read_group(unsigned char code);
    void push_tuple(std::vector<const pickled_value*> items) { push(kind::tuple).items = std::move(items); }

    bool read_change(unsigned char code);
    /// Arguments are copied: the limit keeps a few bytes from copying long lists again and again.
    [[nodiscard]] static const std::vector<const pickled_value*>& arguments_in(const pickled_value& tuple);
    void append(const std::vector<const pickled_value*>& items);

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    std::deque<pickled_value> values_;
    std::deque<std::string> names_;
    std::vector<pickled_value*> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint64_t, pickled_value*> memo_;
};

/// The tensors of a pickled dictionary by name. Of other entries, only the names are known.
class pickled_tensors {
public:
    /// The bytes must outlive the object.
    explicit pickled_tensors(std::span<const std::byte> bytes);
    [[nodiscard]] bool contains(std::string_view name) const { return tensors_.contains(name); }
    [[nodiscard]] pickled_tensor tensor(std::string_view name) const;

private:
    [[nodiscard]] static bool is_call_of(const pickled_value& v, std::string_view name) {
        return v.kind == pickled_value::kind_type::call && v.items[0]->text == name;
    }
    [[nodiscard]] static extents extents_of(const pickled_value& tuple);
    /// Returns the dtype of a typed storage, or of a dtype, by its name.
    [[nodiscard]] static dtype dtype_of_global(std::string_view name);

    pickle_reader reader_;
    std::unordered_map<std::string_view, const pickled_value*> tensors_;
};

}  // namespace headrace::pt2

#endif
