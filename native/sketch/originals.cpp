#include "sketch/originals.hpp"

#include <algorithm>
#include <bit>

namespace lookalike {

std::size_t Originals::slot_of(const TokenDigest& digest) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = static_cast<std::size_t>(digest.low) & mask;
    while (slots_[i] != kNobody && !(digests_[slots_[i]] == digest)) i = (i + 1) & mask;
    return i;
}

const Originals::Known* Originals::find(const TokenDigest& digest) const {
    if (slots_.empty()) return nullptr;
    const std::uint32_t found = slots_[slot_of(digest)];
    return found == kNobody ? nullptr : &known_[found];
}

void Originals::add(const TokenDigest& digest, std::uint32_t document, const Decision& decision, std::uint32_t seen) {
    if (3 * slots_.size() <= 4 * (digests_.size() + 1)) grow();
    slots_[slot_of(digest)] = static_cast<std::uint32_t>(digests_.size());
    digests_.push_back(digest);
    known_.push_back(decision.leader == kNobody ? Known{document, seen, 1.0} : Known{decision.leader, seen, decision.similarity});
}

void Originals::reserve(std::size_t documents) {
    digests_.reserve(documents);
    known_.reserve(documents);
    if (digests_.empty()) slots_.assign(std::bit_ceil(std::max<std::size_t>(documents * 4 / 3 + 1, 64)), kNobody);
}

void Originals::grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNobody);
    for (std::uint32_t i = 0; i < digests_.size(); ++i) slots_[slot_of(digests_[i])] = i;
}

}  // namespace lookalike
