// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/pickle.hpp.

#include <headrace/io/pt2/pickle.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/tensor.hpp>

namespace headrace::pt2 {

const pickled_value& pickle_reader::read() {
    while (at_ != bytes_.size()) {
        const auto code = static_cast<unsigned char>(take(1)[0]);
        if (code == '.') return *pop();
        if (!read_scalar(code) && !read_memo(code) && !read_group(code) && !read_change(code))
            fail_unsupported("the pickle has the opcode " + std::to_string(code) +
                ", which dictionaries of tensors do not need");
    }
    fail_malformed("the pickle ends without a value");
}

std::string_view pickle_reader::take(std::size_t count) {
    if (count > bytes_.size() - at_) fail_malformed("the pickle is cut short");
    const auto* first = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += count;
    return {first, count};
}

std::uint64_t pickle_reader::take_number(std::size_t count) {
    std::uint64_t number = 0;
    std::size_t shift = 0;
    for (const char c : take(count)) {
        number |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
        shift += 8;
    }
    return number;
}

std::string_view pickle_reader::take_line() {
    const auto* first = reinterpret_cast<const char*>(bytes_.data() + at_);
    const std::string_view rest(first, bytes_.size() - at_);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) fail_malformed("the pickle is cut short");
    at_ += end + 1;
    return rest.substr(0, end);
}

pickled_value& pickle_reader::push(kind k) {
    values_.push_back({.kind = k});
    stack_.push_back(&values_.back());
    return values_.back();
}

pickled_value* pickle_reader::pop() {
    if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size()))
        fail_malformed("the pickle takes a value where there is none");
    pickled_value* last = stack_.back();
    stack_.pop_back();
    return last;
}

std::vector<const pickled_value*> pickle_reader::pop_marked() {
    if (marks_.empty() || marks_.back() > stack_.size()) fail_malformed("the pickle lacks a mark");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<const pickled_value*> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
}

bool pickle_reader::read_scalar(unsigned char code) {
    switch (code) {
        case 0x80:  // PROTO
            return static_cast<void>(take(1)), true;
        case 0x95:  // FRAME
            return static_cast<void>(take(8)), true;
        case 'N':
            return push(kind::none), true;
        case 0x88:
        case 0x89:  // NEWTRUE, NEWFALSE
            return push_number(code == 0x88), true;
        case 'K':
            return push_number(static_cast<std::int64_t>(take_number(1))), true;
        case 'M':
            return push_number(static_cast<std::int64_t>(take_number(2))), true;
        case 'J':
            return push_number(static_cast<std::int32_t>(take_number(4))), true;
        case 0x8a:  // LONG1
            return push_long(static_cast<std::size_t>(take_number(1))), true;
        case 'G':  // BINFLOAT: layouts have no floats
            return static_cast<void>(take(8)), push(kind::none), true;
        case 'X':
            return push_text(static_cast<std::size_t>(take_number(4))), true;
        case 0x8c:  // SHORT_BINUNICODE
            return push_text(static_cast<std::size_t>(take_number(1))), true;
        case 'c':
            return push_global(), true;
        case 0x93:  // STACK_GLOBAL
            return push_stack_global(), true;
        default:
            return false;
    }
}

void pickle_reader::push_long(std::size_t size) {
    if (size > 8) fail_malformed("the pickle has an integer of more than 64 bits");
    const std::uint64_t number = take_number(size);
    const std::size_t unused = 64 - 8 * size;
    push_number(size == 0 ? 0 : static_cast<std::int64_t>(number << unused) >> unused);
}

void pickle_reader::push_global() {
    const std::string_view module = take_line();
    push_name(module, take_line());
}

void pickle_reader::push_stack_global() {
    const std::string_view name = pop()->text;
    push_name(pop()->text, name);
}

void pickle_reader::push_name(std::string_view module, std::string_view name) {
    names_.push_back(std::string(module) + ' ' + std::string(name));
    push(kind::global).text = names_.back();
}

bool pickle_reader::read_memo(unsigned char code) {
    switch (code) {
        case 'q':
            return put(take_number(1)), true;
        case 'r':
            return put(take_number(4)), true;
        case 0x94:  // MEMOIZE
            return put(memo_.size()), true;
        case 'h':
            return get(take_number(1)), true;
        case 'j':
            return get(take_number(4)), true;
        default:
            return false;
    }
}

void pickle_reader::put(std::uint64_t number) {
    pickled_value* top = pop();
    stack_.push_back(top);
    memo_[number] = top;
}

void pickle_reader::get(std::uint64_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) fail_malformed("the pickle refers to a value that it has not kept");
    stack_.push_back(found->second);
}

bool pickle_reader::read_group(unsigned char code) {
    switch (code) {
        case '(':
            return marks_.push_back(stack_.size()), true;
        case 't':
            return push_tuple(pop_marked()), true;
        case ')':
        case ']':
            return push(kind::tuple), true;
        case '}':
            return push(kind::dictionary), true;
        case 0x85:
        case 0x86:
        case 0x87: {  // TUPLE1 to TUPLE3
            std::vector<const pickled_value*> items(code - 0x84U);
            for (std::size_t i = items.size(); i-- != 0;) items[i] = pop();
            return push_tuple(std::move(items)), true;
        }
        default:
            return false;
    }
}

bool pickle_reader::read_change(unsigned char code) {
    switch (code) {
        case 'Q': {  // BINPERSID
            const std::vector<const pickled_value*>& items = arguments_in(*pop());
            push(kind::storage).items = items;
            return true;
        }
        case 'R': {  // REDUCE
            const std::vector<const pickled_value*>& arguments = arguments_in(*pop());
            const pickled_value* callee = pop();
            if (callee->text == "collections OrderedDict") return push(kind::dictionary), true;
            pickled_value& made = push(kind::call);
            made.items.push_back(callee);
            made.items.insert(made.items.end(), arguments.begin(), arguments.end());
            return true;
        }
        case 'b':  // BUILD: the state of an object
            return static_cast<void>(pop()), true;
        case 's':
        case 'a': {  // SETITEM, APPEND
            std::vector<const pickled_value*> items{pop()};
            if (code == 's') items.insert(items.begin(), pop());
            return append(items), true;
        }
        case 'u':
        case 'e':  // SETITEMS, APPENDS
            return append(pop_marked()), true;
        default:
            return false;
    }
}

const std::vector<const pickled_value*>& pickle_reader::arguments_in(const pickled_value& tuple) {
    constexpr std::size_t most = 16;
    if (tuple.items.size() > most) fail_malformed("the pickle has a call with more than 16 arguments");
    return tuple.items;
}

void pickle_reader::append(const std::vector<const pickled_value*>& items) {
    pickled_value* to = pop();
    to->items.insert(to->items.end(), items.begin(), items.end());
    stack_.push_back(to);
}

pickled_tensors::pickled_tensors(std::span<const std::byte> bytes) : reader_(bytes) {
    const pickled_value& all = reader_.read();
    if (all.kind != pickled_value::kind_type::dictionary || all.items.size() % 2 != 0)
        fail_malformed("the pickle is not a dictionary");
    for (std::size_t i = 0; i != all.items.size(); i += 2) tensors_[all.items[i]->text] = all.items[i + 1];
}

pickled_tensor pickled_tensors::tensor(std::string_view name) const {
    const pickled_value* v = tensors_.at(name);
    if (is_call_of(*v, "torch._utils _rebuild_parameter") && v->items.size() > 1) v = v->items[1];
    const bool by_storage = is_call_of(*v, "torch._utils _rebuild_tensor_v2");
    const bool by_dtype = is_call_of(*v, "torch._utils _rebuild_tensor_v3");
    if ((!by_storage && !by_dtype) || v->items.size() < (by_dtype ? 8U : 5U))
        fail_unsupported(
            "its data is not that of a plain torch.Tensor; export it again with torch 2.9 or "
            "newer");
    const pickled_value& storage = *v->items[1];
    if (storage.kind != pickled_value::kind_type::storage || storage.items.size() < 3)
        fail_malformed("the pickle has a tensor without a storage");
    pickled_tensor t;
    t.storage = storage.items[2]->text;
    t.layout.dtype = dtype_of_global((by_dtype ? v->items[7] : storage.items[1])->text);
    t.layout.offset = v->items[2]->number;
    t.layout.sizes = extents_of(*v->items[3]);
    t.layout.strides = extents_of(*v->items[4]);
    if (t.layout.offset < 0) fail_malformed("it has a negative storage offset");
    complete(t.layout);
    return t;
}

extents pickled_tensors::extents_of(const pickled_value& tuple) {
    extents read;
    if (tuple.items.size() > largest_rank) fail_malformed("it has more than 64 dimensions");
    for (const pickled_value* item : tuple.items) {
        if (item->kind != pickled_value::kind_type::number || item->number < 0)
            fail_malformed("the pickle has a size or a stride that is no number of 0 or more");
        read.items[read.count++] = item->number;
    }
    return read;
}

dtype pickled_tensors::dtype_of_global(std::string_view name) {
    struct known {
        std::string_view name;
        headrace::dtype type;
    };
    static constexpr known all[] = {
        {"torch FloatStorage", dtype::float32},
        {"torch LongStorage", dtype::int64},
        {"torch HalfStorage", dtype::float16},
        {"torch BFloat16Storage", dtype::bfloat16},
        {"torch DoubleStorage", dtype::float64},
        {"torch IntStorage", dtype::int32},
        {"torch ShortStorage", dtype::int16},
        {"torch CharStorage", dtype::int8},
        {"torch ByteStorage", dtype::uint8},
        {"torch BoolStorage", dtype::boolean},
        {"torch ComplexFloatStorage", dtype::complex64},
        {"torch ComplexDoubleStorage", dtype::complex128},
        {"torch float8_e4m3fn", dtype::float8_e4m3},
        {"torch float8_e5m2", dtype::float8_e5m2},
        {"torch uint16", dtype::uint16},
        {"torch uint32", dtype::uint32},
        {"torch uint64", dtype::uint64},
        {"torch complex32", dtype::complex32},
    };
    for (const known& k : all) {
        if (k.name == name) return k.type;
    }
    fail_unsupported("no such element type: " + in_quotes(name));
}

}  // namespace headrace::pt2
