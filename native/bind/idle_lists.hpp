// Memory that is used again: lists that were handed out for a while, and came back.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/paged_list.hpp"

namespace lookalike {

template <class T>
std::size_t memory_of(const PagedList<T>& list) {
    return list.bytes();
}
template <class T>
std::size_t memory_of(const std::vector<T>& list) {
    return list.capacity() * sizeof(T);
}

// Lists that nobody looks at any more, from any thread.
template <class List>
class IdleLists {
   public:
    IdleLists() { lists_.reserve(kMostLists); }

    List take() {
        const std::lock_guard lock(guard_);
        if (lists_.empty()) return {};
        List found = std::move(lists_.back());
        lists_.pop_back();
        return found;
    }
    void give(List&& list) {
        const std::lock_guard lock(guard_);
        if (memory_of(list) <= kMostBytes && lists_.size() < kMostLists) lists_.push_back(std::move(list));
    }

   private:
    static constexpr std::size_t kMostLists = 16;
    static constexpr std::size_t kMostBytes = 16 << 20;  // a very long text's are better given back to the system
    std::mutex guard_;
    std::vector<List> lists_;
};

// What was handed out; where it came from, it goes back to.
template <class List>
struct LentList {
    List list;
    std::shared_ptr<IdleLists<List>> idle;

    LentList(List&& given, std::shared_ptr<IdleLists<List>> from) : list(std::move(given)), idle(std::move(from)) {}
    ~LentList() {
        if (idle) idle->give(std::move(list));
    }
    LentList(const LentList&) = delete;
    LentList& operator=(const LentList&) = delete;
};

}  // namespace lookalike
