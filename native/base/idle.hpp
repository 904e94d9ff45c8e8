// Buffers that are not in use, kept for the next who needs some: by one thread at a time, and the interpreter's lock says whose turn it is to take them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace lookalike {

template <class Buffers>
class Idle {
   public:
    // Those of an earlier use, or what `make` makes.
    template <class Make>
    std::unique_ptr<Buffers> take(const Make& make) {
        if (idle_.empty()) return std::make_unique<Buffers>(make());
        std::unique_ptr<Buffers> found = std::move(idle_.back());
        idle_.pop_back();
        return found;
    }
    void give_back(std::unique_ptr<Buffers> used) { idle_.push_back(std::move(used)); }

   private:
    std::vector<std::unique_ptr<Buffers>> idle_;
};

}  // namespace lookalike
