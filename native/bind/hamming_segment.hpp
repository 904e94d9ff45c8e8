// Fingerprints by Hamming distance, over arrays of Python.
#pragma once

#include <algorithm>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "segments/hamming_index.hpp"

namespace lookalike {

inline constexpr unsigned kMaxDistance = 16;

inline void check_distance(unsigned k) {
    if (k > kMaxDistance) throw nb::value_error("k: choose 0 to 16");
}

// Fingerprints as words, checked: one each, or for 128 bits two, the low half first.
inline std::span<const std::uint64_t> check_words(const Hashes& words, unsigned bits) {
    if (bits == 128 && words.size() % 2) throw nb::value_error("fingerprints of 128 bits are pairs of words");
    const std::span<const std::uint64_t> checked = view(words);
    if (bits == 32 && std::any_of(checked.begin(), checked.end(), [](std::uint64_t word) { return word >> 32; })) {
        throw nb::value_error("a fingerprint has more than 32 bits");
    }
    return checked;
}

inline std::span<const std::uint64_t> check_words(const Hashes& words, const Input<std::int64_t>& ids, unsigned bits) {
    if (words.size() != ids.size() * (bits == 128 ? 2 : 1)) throw nb::value_error("ids: expected one per fingerprint");
    return check_words(words, bits);
}

inline std::vector<Code> read_codes(const Hashes& words, unsigned bits) {
    const std::span<const std::uint64_t> checked = check_words(words, bits);
    std::vector<Code> codes(checked.size() / (bits == 128 ? 2 : 1));
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_at(checked, i, bits);
    return codes;
}

// What a batch found, in one piece of memory, which costs a single query less than four: where the matches of each query begin and the last end,
// how many each query had before the limit, the ids of all matches, and their distances, a byte each. And how many matches there are.
using FoundBlock = std::tuple<Output<std::int64_t>, std::size_t>;

// `searched` has search_together(queries, k, scratch, matches).
template <class Searched>
FoundBlock search_batch(const Searched& searched, const std::vector<Code>& queries, unsigned k, std::size_t limit, unsigned workers) {
    const std::size_t together = std::clamp<std::size_t>(queries.size(), 1, HammingSegment::kTogether);
    std::vector<std::int64_t> block(2 * queries.size() + 1);
    const auto offsets = [&] { return std::span(block).first(queries.size() + 1); };
    const auto totals = [&] { return std::span(block).subspan(queries.size() + 1, queries.size()); };
    std::vector<std::vector<Match>> found((queries.size() + together - 1) / together);  // those of a group, one query after the other
    for_each_document(found.size(), workers, [&] {
        return [&, scratch = std::vector<NumberedHit>(), matches = std::vector<std::vector<Match>>(together)](std::size_t group) mutable {
            const std::size_t first = group * together, count = std::min(together, queries.size() - first);
            for (std::vector<Match>& each : matches) each.clear();
            searched.search_together(std::span(queries).subspan(first, count), k, scratch, matches);
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t kept = std::min(matches[i].size(), limit);
                totals()[first + i] = static_cast<std::int64_t>(matches[i].size());
                offsets()[first + i + 1] = static_cast<std::int64_t>(kept);
                found[group].insert(found[group].end(), matches[i].begin(), matches[i].begin() + static_cast<std::ptrdiff_t>(kept));
            }
        };
    });
    for (std::size_t i = 0; i < queries.size(); ++i) block[i + 1] += block[i];
    const auto count = static_cast<std::size_t>(block[queries.size()]);
    const std::size_t before = block.size();
    block.resize(before + count + (count + sizeof block[0] - 1) / sizeof block[0]);
    std::int64_t* id = block.data() + before;
    auto* distance = reinterpret_cast<std::uint8_t*>(id + count);
    for (const auto& matches : found) {
        for (const Match& match : matches) {
            *id++ = match.id;
            *distance++ = static_cast<std::uint8_t>(match.distance);
        }
    }
    nb::gil_scoped_acquire acquire;
    return {give(std::move(block)), count};
}

// A segment, and the buffers that it reads where they lie in somebody else's memory.
class HeldHammingSegment {
   public:
    static HeldHammingSegment* build(Hashes words, Input<std::int64_t> ids, unsigned bits) {
        const std::span<const std::uint64_t> checked = check_words(words, ids, check_bits(bits));
        const WithoutLock released;
        return new HeldHammingSegment(HammingSegment::build(checked, view(ids), bits));
    }

    static HeldHammingSegment* open(unsigned bits, nb::dict sections) {
        check_bits(bits);
        std::map<std::string, Column32> narrow;
        std::map<std::string, Column64> wide;
        Held held;
        for (auto [key, value] : sections) {
            const std::string name = nb::cast<std::string>(key);
            Input<std::uint32_t> words32;
            Input<std::uint64_t> words64;
            if (nb::try_cast(value, words32, false)) {
                narrow.emplace(name, view(words32));
                held.narrow.push_back(std::move(words32));
            } else if (nb::try_cast(value, words64, false)) {
                wide.emplace(name, view(words64));
                held.wide.push_back(std::move(words64));
            } else {
                throw nb::value_error(("section " + name + ": expected a contiguous array of uint32 or uint64").c_str());
            }
        }
        const WithoutLock released;
        return new HeldHammingSegment(HammingSegment::open(bits, std::move(narrow), std::move(wide)), std::move(held));
    }

    static HeldHammingSegment* merge(std::vector<const HeldHammingSegment*> segments, Input<std::int64_t> removed) {
        if (segments.empty()) throw nb::value_error("segments: nothing to merge");
        if (std::ranges::find(segments, nullptr) != segments.end()) throw nb::type_error("segments: None is not a segment");
        const WithoutLock released;
        const unsigned bits = segments[0]->segment_.bits();
        const std::span<const std::int64_t> gone = view(removed);
        std::vector<std::uint64_t> words;
        std::vector<std::int64_t> ids;
        for (const HeldHammingSegment* each : segments) {
            const HammingSegment& segment = each->segment_;
            if (segment.bits() != bits) throw std::invalid_argument("segments of different widths");
            for (std::size_t entry = 0; entry < segment.size(); ++entry) {
                const Within places = segment.ids_of(entry);
                for (std::size_t place = places.begin; place < places.end; ++place) {
                    if (std::binary_search(gone.begin(), gone.end(), segment.id(place))) continue;
                    push_words(segment.code(entry), bits, words);
                    ids.push_back(segment.id(place));
                }
            }
        }
        return new HeldHammingSegment(HammingSegment::build(words, ids, bits));
    }

    const HammingSegment& segment() const { return segment_; }
    std::size_t size() const { return segment_.ids(); }
    unsigned bits() const { return segment_.bits(); }

    // Copies: what is written to a file is needed once.
    nb::dict sections() const {
        nb::dict out;
        const auto put = [&](const std::string& name, auto column) { out[nb::cast(name)] = nb::cast(give(std::vector(column.begin(), column.end()))); };
        segment_.columns(put, put);
        return out;
    }

    Output<std::int64_t> ids() const {
        std::vector<std::int64_t> out(segment_.ids());
        for (std::size_t place = 0; place < out.size(); ++place) out[place] = segment_.id(place);
        std::sort(out.begin(), out.end());
        return give(std::move(out));
    }

    FoundBlock search(Hashes words, unsigned k, std::size_t limit, unsigned workers) const {
        check_distance(k);
        check_workers(workers);
        const std::vector<Code> queries = read_codes(words, segment_.bits());
        const WithoutLock released;
        return search_batch(*this, queries, k, limit, workers);
    }

    void search_together(std::span<const Code> queries, unsigned k, std::vector<NumberedHit>& scratch, std::span<std::vector<Match>> matches) const {
        scratch.clear();
        segment_.search_together(queries, k, scratch);
        segment_.for_ids(scratch,
                         [&](std::uint32_t number, std::size_t place, std::uint32_t distance) { matches[number].push_back({segment_.id(place), distance}); });
        for (std::vector<Match>& each : matches) sort_matches(each, 0);
    }

   private:
    // The arrays themselves: a dict of them may be changed by whoever gave it.
    struct Held {
        std::vector<Input<std::uint32_t>> narrow;
        std::vector<Input<std::uint64_t>> wide;
    };

    explicit HeldHammingSegment(HammingSegment segment, Held held = {}) : held_(std::move(held)), segment_(std::move(segment)) {}

    Held held_;
    HammingSegment segment_;
};

}  // namespace lookalike
