// SPDX-License-Identifier: MIT
// Defines headrace::read_in_order, which makes items on many threads and has them read in order.
#ifndef HEADRACE_QUANTIZATION_READ_IN_ORDER_HPP
#define HEADRACE_QUANTIZATION_READ_IN_ORDER_HPP

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/quantization/parallel_for.hpp>

namespace headrace {

namespace detail {

/// The shared state of the threads of read_in_order. A thread that has made an item runs all pending reads
/// before it makes another: items are read while they are still in a cache, and few are kept.
template <class Item, class Read>
class ordered_items {
public:
    ordered_items(std::size_t items, std::size_t readers, const Read& read)
        : items_(items), readers_(readers), read_(read) {}

    /// Returns the index of the next item to make, once there is room for it; none after a failure.
    [[nodiscard]] std::optional<std::size_t> take() {
        constexpr std::size_t max_kept = 16;
        std::unique_lock lock(mutex_);
        const std::size_t i = taken_++;
        while (i >= done_ + max_kept && !failed_) {
            if (!read_one(lock)) changed_.wait(lock);
        }
        return failed_ ? std::nullopt : std::optional(i);
    }

    void add(std::size_t i, Item item) {
        std::unique_lock lock(mutex_);
        if (readers_.empty()) {
            ++done_;
        } else {
            items_[i].item = std::move(item);
            while (readable_ != items_.size() && items_[readable_].item) ++readable_;
        }
        tell_others(lock);
        while (read_one(lock)) {
        }
    }

    /// Prevents further items from being made.
    void fail() {
        const std::lock_guard lock(mutex_);
        failed_ = true;
        changed_.notify_all();
    }

private:
    struct slot {
        std::optional<Item> item;
        std::size_t reads = 0;
    };
    struct reader {
        std::size_t next = 0;
        bool is_busy = false;
    };

    // The mutex is unlocked, so that woken threads need not wait for it.
    void tell_others(std::unique_lock<std::mutex>& lock) {
        lock.unlock();
        changed_.notify_all();
        lock.lock();
    }

    // Returns false if all available items have been read, or are being read by another thread.
    bool read_one(std::unique_lock<std::mutex>& lock) {
        const auto r = std::ranges::find_if(
            readers_, [&](const reader& one) { return !one.is_busy && one.next < readable_; });
        if (r == readers_.end()) return false;
        r->is_busy = true;
        slot& from = items_[r->next];
        lock.unlock();
        read_(static_cast<std::size_t>(r - readers_.begin()), *from.item);
        lock.lock();
        r->is_busy = false;
        ++r->next;
        if (++from.reads == readers_.size()) {
            lock.unlock();  // destroying an item takes long
            from.item.reset();
            lock.lock();
            ++done_;
            tell_others(lock);
        }
        return true;
    }

    std::vector<slot> items_;
    std::vector<reader> readers_;
    const Read& read_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t taken_ = 0;
    std::size_t readable_ = 0;  // items before this index are available
    std::size_t done_ = 0;      // number of items that all readers have read
    bool failed_ = false;
};

}  // namespace detail

/// Calls `make(i)`, a result<Item>, for each i below `items`, and `read(r, item)` for each item and each r
/// below `readers`: for one r sequentially in the order of i, for different r in parallel. Few items are kept
/// at a time. Returns the error of the lowest i that cannot be made.
template <class Item, class Make, class Read>
[[nodiscard]] result<void> read_in_order(std::size_t items, const Make& make, std::size_t readers,
    const Read& read, const parallel_for& in_parallel) {
    detail::ordered_items<Item, Read> shared(items, readers, read);
    std::vector<std::optional<error>> failures(items);
    in_parallel(items, [&](std::size_t) {
        try {
            const std::optional<std::size_t> i = shared.take();
            if (!i) return;
            if (result<Item> item = make(*i)) {
                shared.add(*i, std::move(item).value());
            } else {
                failures[*i] = std::move(item).error();
                shared.fail();
            }
        } catch (...) {
            shared.fail();  // wakes threads that wait for room
            throw;
        }
    });
    return first_of(failures);
}

}  // namespace headrace

#endif
