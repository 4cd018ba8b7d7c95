// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/samples/input_samples.hpp.

#include <headrace/lowering/samples/input_samples.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/file/npy.hpp>
#include <headrace/ir/listing.hpp>

namespace headrace {

input_samples::input_samples(const node& input)
    : type_(input.results[0].meta->dtype),
      shape_(input.results[0].meta->shape.begin(), input.results[0].meta->shape.end()),
      name_(input.name()) {}

result<void> input_samples::add(const std::string& path) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) return add_file(path);
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator at(path, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (at->path().extension() == ".npy") files.push_back(at->path().string());
    }
    if (failed) return malformed({path, ": ", failed.message()});
    if (files.empty()) return malformed({path, ": there is no .npy file in this directory"});
    std::ranges::sort(files);
    for (const std::string& file : files) {
        HEADRACE_TRY(add_file(file));
    }
    return {};
}

error input_samples::unfit(const std::string& file, std::string_view what) const {
    return malformed(join_text(file, ": ", what, " for input ", printable(name_), ", which has ",
        name_of(type_), shape_text(shape_), "; give one sample of this shape, or several along axis 0"));
}

// Returns the number of samples in an array; 0 if it does not fit the input.
std::int64_t input_samples::samples_in(const int_list& shape) const {
    const sizes given = shape;
    const sizes wanted(shape_);
    if (std::ranges::equal(given, wanted)) return 1;
    if (given.size() == wanted.size() + 1 && std::ranges::equal(given.subspan(1), wanted)) return given[0];
    const bool batches = given.size() == wanted.size() && !wanted.empty() && wanted[0] > 0 &&
        given[0] % wanted[0] == 0 && std::ranges::equal(given.subspan(1), wanted.subspan(1));
    return batches ? given[0] / wanted[0] : 0;
}

// Returns the number of samples in an array; an error if it does not fit the input.
result<std::size_t> input_samples::count_in(
    const std::string& place, dtype type, const int_list& shape) const {
    const bool same_kind = is_floating(type) == is_floating(type_) && is_boolean(type) == is_boolean(type_);
    if (!same_kind) return unfit(place, join_text("numbers of type ", name_of(type)));
    const std::int64_t count = samples_in(shape);
    if (count == 0 || std::ranges::find(shape_, 0) != shape_.end())
        return unfit(place, join_text("shape ", shape_text(shape)));
    return static_cast<std::size_t>(count);
}

result<void> input_samples::add_file(const std::string& path) {
    HEADRACE_TRY(array, read_npy_head(path));
    HEADRACE_TRY(count, count_in(path, array.meta.dtype, array.meta.shape));
    files_.push_back({path, count_, count, array.meta.dtype});
    count_ += count;
    return {};
}

result<bool> input_samples::add_next(const std::shared_ptr<array_stream>& stream) {
    const std::string place = join_text(stream->name(), ": sample ", count_);
    auto next = stream->next();
    if (!next) return next.error().in(join_text(place, " for input ", printable(name_)));
    if (!next.value()) return false;
    array_stream::array kept = *std::move(next).value();
    HEADRACE_TRY(count, count_in(place, kept.type, int_list(kept.shape)));
    files_.push_back({stream->name(), count_, count, kept.type, stream, std::move(kept)});
    count_ += count;
    return true;
}

// Threads read consecutive samples, so few files are in use at a time.
result<input_samples::file_bytes> input_samples::bytes_of(const sample_file& file) const {
    constexpr std::size_t kept = 4;
    const std::lock_guard lock(mutex_);
    for (const auto& [known, bytes] : recent_) {
        if (known == &file) return bytes;
    }
    HEADRACE_TRY(array, file.stream ? file.stream->read(file.kept) : read_npy(file.path));
    if (array.meta.dtype != file.type ||
        samples_in(array.meta.shape) != static_cast<std::int64_t>(file.count))
        return malformed({file.path, ": the file was changed while its samples were read"});
    if (recent_.size() == kept) recent_.pop_front();
    recent_.emplace_back(&file, std::make_shared<const std::vector<std::byte>>(std::move(array.data)));
    return recent_.back().second;
}

result<tensor> input_samples::at(std::size_t i) const {
    const auto after =
        std::ranges::upper_bound(files_, i, {}, [](const sample_file& file) { return file.first; });
    const sample_file& file = *std::prev(after);
    HEADRACE_TRY(bytes, bytes_of(file));
    const std::size_t size = bytes->size() / file.count;
    const std::size_t number = i - file.first;
    const tensor viewed =
        tensor::view(file.type, {shape_.begin(), shape_.end()}, bytes->data() + number * size);
    tensor taken = viewed.cast(type_);
    if (file.type == type_) {  // the file may be dropped before the sample
        taken = tensor(type_, viewed.shape());
        std::ranges::copy(viewed.bytes(), taken.mutable_bytes().begin());
    }
    const std::string place = join_text(file.path, ": sample ", file.stream ? i : number);
    HEADRACE_TRY(check_integers(place, viewed, taken));
    HEADRACE_TRY(check_numbers(place, i, taken));
    return taken;
}

// Refuses integers of another type that the input's type does not hold: the cast wraps them.
result<void> input_samples::check_integers(
    const std::string& place, const tensor& given, const tensor& taken) const {
    if (given.type() == type_ || is_floating(type_)) return {};
    for (std::int64_t k = 0; k != given.size(); ++k) {
        if (given.real(k) != taken.real(k))
            return malformed(join_text(place, " for input ", printable(name_), " has ",
                static_cast<std::int64_t>(given.real(k)), " as element ", k, ", which is no ", name_of(type_),
                "; give integers as the device delivers them"));
    }
    return {};
}

// Refuses NaN. Infinities are recorded: masks may have them, and whether the input is a mask is known later.
result<void> input_samples::check_numbers(const std::string& place, std::size_t i, const tensor& t) const {
    if (t.type() != dtype::float32) return {};
    const auto numbers = t.data<float>();
    const auto refused = [&](auto at, std::string_view what) {
        return malformed(join_text(place, " for input ", printable(name_), " has ", what, " as element ",
            at - numbers.begin(), "; ranges need finite numbers"));
    };
    const auto undefined = std::ranges::find_if(numbers, [](float x) { return std::isnan(x); });
    if (undefined != numbers.end()) return refused(undefined, "NaN");
    const auto infinite = std::ranges::find_if(numbers, [](float x) { return std::isinf(x); });
    if (infinite == numbers.end()) return {};
    // The first one is reported, whichever thread finds it.
    const std::lock_guard lock(mutex_);
    if (!infinite_ || i < infinite_->first) infinite_.emplace(i, refused(infinite, "an infinite number"));
    return {};
}

std::optional<error> input_samples::infinite() const {
    const std::lock_guard lock(mutex_);
    return infinite_ ? std::optional(infinite_->second) : std::nullopt;
}

}  // namespace headrace
