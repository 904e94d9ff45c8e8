// Pieces of a result that several threads make, put one behind the other as if one thread had made all of them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/growing_array.hpp"

namespace lookalike {

// Whoever makes the piece that others wait for also places theirs. A Piece has
//     size()           how many elements it has,
//     clear()          has none from now on, but keeps its memory,
//     has_room(count)  whether so many more fit without moving it,
//     lengthen(count)  room for so many more, which count,
//     next_pages()     pages that are to be made before they are written,
//     copy_to(to, at)  writes its elements into another piece, from its element `at` on.
template <class Piece>
class InOrder {
   public:
    // Behind what the whole has already.
    InOrder(std::size_t pieces, Piece& whole) : waiting_(pieces), end_(whole.size()), whole_(whole) {}

    // An empty piece, in memory that was used before where there is some: it is still in the cache.
    std::unique_ptr<Piece> take() {
        std::unique_lock lock(guard_);
        make_ready(lock);
        if (free_.empty()) return std::make_unique<Piece>();
        std::unique_ptr<Piece> piece = std::move(free_.back());
        free_.pop_back();
        return piece;
    }

    void put(std::size_t number, std::unique_ptr<Piece> piece) {
        std::vector<std::pair<std::unique_ptr<Piece>, std::size_t>> placed;  // with where it begins
        std::unique_lock lock(guard_);
        waiting_[number] = std::move(piece);
        std::size_t end = end_;
        for (; next_ < waiting_.size() && waiting_[next_]; ++next_) {
            placed.emplace_back(std::move(waiting_[next_]), end);
            end += placed.back().first->size();
        }
        if (placed.empty()) return;
        end_ = end;
        // What others write must not move under their hands.
        if (!whole_.has_room(end_ - whole_.size())) changed_.wait(lock, [&] { return copying_ == 0; });
        if (end_ > whole_.size()) whole_.lengthen(end_ - whole_.size());
        ++copying_;
        lock.unlock();
        for (auto& [each, at] : placed) each->copy_to(whole_, at);
        for (auto& [each, at] : placed) each->clear();
        lock.lock();
        if (--copying_ == 0) changed_.notify_all();
        for (auto& [each, at] : placed) free_.push_back(std::move(each));
    }

   private:
    // The pages that will be written next, made by one thread while others go on: who finds one missing has to wait for it.
    void make_ready(std::unique_lock<std::mutex>& lock) {
        for (PagesAhead pages; (pages = whole_.next_pages()).bytes;) {
            ++copying_;  // as it were
            lock.unlock();
            make_pages(pages.first, pages.bytes);
            lock.lock();
            if (--copying_ == 0) changed_.notify_all();
        }
    }

    std::mutex guard_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Piece>> waiting_, free_;
    std::size_t next_ = 0, end_;  // the first piece that has no place yet, and where it will begin
    std::size_t copying_ = 0;     // threads
    Piece& whole_;
};

}  // namespace lookalike
