#include "passages/repeats.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/hash.hpp"
#include "base/parallel.hpp"

namespace lookalike {
namespace {

constexpr unsigned kPlaceBits = 40;                   // of a unit in a corpus
constexpr std::size_t kBlock = 1 << 15;               // windows whose anchors are looked for at a time
constexpr std::size_t kBuckets = 256;                 // parts of a slice, each sorted by one thread
constexpr std::size_t kBitsPerAnchor = 16;            // one anchor in sixteen is taken for one that came twice, and costs time
constexpr unsigned kFewestBits = 12, kMostBits = 36;  // of the table, as powers of two
constexpr std::size_t kRoom = 3;                      // times an entry takes until it is sorted: lists grow by doubling
constexpr std::uint64_t kNone = ~std::uint64_t{0};

unsigned table_bits(std::size_t units, std::size_t per_window, std::size_t memory) {
    const std::size_t anchors = 2 * units / (per_window + 1) + 1;
    const auto wanted = static_cast<unsigned>(std::bit_width(kBitsPerAnchor * anchors));
    const auto allowed = static_cast<unsigned>(std::bit_width(memory));  // a quarter of the memory for both tables
    return std::clamp(std::min(wanted, allowed), kFewestBits, kMostBits);
}

}  // namespace

template <class T>
RepeatFinder::Zeros<T> RepeatFinder::zeros(std::size_t count) {
    Zeros<T> found(static_cast<T*>(std::calloc(count + 1, sizeof(T))));
    if (!found) throw std::bad_alloc();
    return found;
}

RepeatFinder::RepeatFinder(std::span<const std::uint64_t> units, std::span<const std::int64_t> offsets, std::size_t length, bool within, unsigned workers,
                           std::size_t memory, const Secret& secret)
    : units_(units), offsets_(offsets), length_(length), anchor_length_((length + 1) / 2), anchors_per_window_(length - anchor_length_ + 1), within_(within),
      workers_(workers), memory_(memory), hash_(secret, length), turned_(length), anchor_hash_(anchor_length_) {
    if (units.size() >> kPlaceBits) throw std::invalid_argument("a corpus of more than 2^40 units: split it");
    const unsigned bits = table_bits(units.size(), anchors_per_window_, memory);
    shift_ = 64 - bits;
    once_ = std::vector<std::atomic<std::uint64_t>>((std::size_t{1} << bits) / 64);
    twice_ = std::vector<std::atomic<std::uint64_t>>(once_.size());
    group_of_ = zeros<std::uint32_t>(units.size());
    cut_ = zeros<std::uint64_t>(units.size() / 64 + 1);
    first_kept_.push_back(kNone);
}

// Calls visit(first window, how many, hash) for stretches of windows that share their anchor: the smallest of the hashes in a window, the rightmost of
// equals. At the edges of blocks a stretch may come in two parts.
template <class Visit>
void RepeatFinder::for_each_anchor(std::size_t document, std::vector<std::uint64_t>& hashes, Visit&& visit) const {
    const auto begin = static_cast<std::size_t>(offsets_[document]), end = static_cast<std::size_t>(offsets_[document + 1]);
    if (end - begin < length_) return;
    const std::size_t windows = end - begin - length_ + 1, per_window = anchors_per_window_;
    for (std::size_t done = 0; done < windows; done += kBlock) {
        const std::size_t here = std::min(kBlock, windows - done), count = here + per_window - 1;
        const std::uint64_t* const units = units_.data() + begin + done;
        hashes.resize(count);
        std::uint64_t turned = anchor_hash_.first(units);
        hashes[0] = turned * kGolden;
        for (std::size_t i = 1; i < count; ++i) {
            turned = anchor_hash_.next(turned, units + i - 1);
            hashes[i] = turned * kGolden;
        }
        const auto smallest_in = [&](std::size_t window) {
            std::size_t smallest = window;
            for (std::size_t i = window + 1; i < window + per_window; ++i) {
                if (hashes[i] <= hashes[smallest]) smallest = i;
            }
            return smallest;
        };
        std::size_t first = 0, smallest = smallest_in(0);
        for (std::size_t window = 1; window < here; ++window) {
            const std::size_t last = window + per_window - 1;
            std::size_t found = smallest;
            if (hashes[last] <= hashes[smallest]) {
                found = last;
            } else if (smallest < window) {
                found = smallest_in(window);
            }
            if (found == smallest) continue;
            visit(begin + done + first, window - first, hashes[smallest]);
            first = window;
            smallest = found;
        }
        visit(begin + done + first, here - first, hashes[smallest]);
    }
}

void RepeatFinder::mark(std::size_t first, std::size_t last) {
    for_each_document(last - first, workers_, [&] {
        return [&, hashes = std::vector<std::uint64_t>()](std::size_t i) mutable {
            for_each_anchor(first + i, hashes, [&](std::uint64_t, std::size_t, std::uint64_t hash) {
                const std::uint64_t place = mix(hash) >> shift_, bit = std::uint64_t{1} << place % 64;
                if (once_[place / 64].load(std::memory_order_relaxed) & bit || once_[place / 64].fetch_or(bit, std::memory_order_relaxed) & bit) {
                    twice_[place / 64].fetch_or(bit, std::memory_order_relaxed);
                }
            });
        };
    });
}

void RepeatFinder::find(std::size_t first, std::size_t last) {
    // Each worker hands over its runs at the end of a document: few, and in any order.
    for_each_document(last - first, workers_, [&] {
        return [&, hashes = std::vector<std::uint64_t>(), runs = std::vector<Run>()](std::size_t i) mutable {
            runs.clear();
            std::size_t windows = 0;
            for_each_anchor(first + i, hashes, [&](std::uint64_t window, std::size_t count, std::uint64_t hash) {
                const std::uint64_t place = mix(hash) >> shift_;  // the smallest of many hashes are alike in their first bits
                if (!(twice_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1)) return;
                windows += count;
                if (!runs.empty() && runs.back().first + runs.back().count == window) {
                    runs.back().count += count;
                } else {
                    runs.push_back({window, count});
                }
            });
            if (runs.empty()) return;
            const std::lock_guard lock(guard_);
            runs_.insert(runs_.end(), runs.begin(), runs.end());
            candidates_ += windows;
        };
    });
}

std::size_t RepeatFinder::slices() const { return std::max<std::size_t>(1, kRoom * sizeof(Entry) * candidates_ / std::max<std::size_t>(memory_, 1) + 1); }

void RepeatFinder::collect(std::size_t slice) {
    __extension__ using Wide = unsigned __int128;
    const std::size_t parts = slices() * kBuckets, first_part = slice * kBuckets;
    std::vector<std::vector<std::vector<Entry>>> all(workers_);  // by worker and bucket
    std::atomic<std::size_t> taken{0};
    for_each_document(runs_.size(), workers_, [&] {
        std::vector<std::vector<Entry>>& own = all[taken.fetch_add(1)];
        own.resize(kBuckets);
        return [&](std::size_t i) {
            const Run& run = runs_[i];
            const std::uint64_t* units = units_.data() + run.first;
            std::uint64_t hash = hash_.first(units), turned = turned_.first(units);
            for (std::uint64_t window = 0;; ++window, ++units) {
                const auto part = static_cast<std::size_t>((static_cast<Wide>(hash) * parts) >> 61);
                if (part - first_part < kBuckets) {
                    const std::uint64_t more = turned * kBlockMultiplier >> kPlaceBits << kPlaceBits;
                    own[part - first_part].push_back({hash, more | (run.first + window)});
                }
                if (window + 1 == run.count) break;
                hash = hash_.next(hash, units);
                turned = turned_.next(turned, units);
            }
        };
    });
    for_each_document(kBuckets, workers_, [&] {
        return [&, entries = std::vector<Entry>()](std::size_t bucket) mutable {
            entries.clear();
            for (auto& own : all) {
                if (own.empty()) continue;  // there were fewer threads
                entries.insert(entries.end(), own[bucket].begin(), own[bucket].end());
                own[bucket] = {};
            }
            group(entries);
        };
    });
    const std::uint64_t groups = groups_.load();
    if (groups >= ~std::uint32_t{0}) throw std::invalid_argument("more than 2^32 different passages: split the corpus");
    first_kept_.resize(groups + 1, kNone);
}

// Numbers the groups of two or more equal windows.
void RepeatFinder::group(std::vector<Entry>& entries) {
    std::sort(entries.begin(), entries.end());
    constexpr std::uint64_t kPlaces = (std::uint64_t{1} << kPlaceBits) - 1;
    for (std::size_t first = 0, last; first < entries.size(); first = last) {
        last = first + 1;
        while (last < entries.size() && entries[last].hash == entries[first].hash && entries[last].place >> kPlaceBits == entries[first].place >> kPlaceBits) {
            ++last;
        }
        if (last - first < 2) continue;
        const auto number = static_cast<std::uint32_t>(groups_.fetch_add(1, std::memory_order_relaxed) + 1);
        for (std::size_t i = first; i < last; ++i) group_of_[entries[i].place & kPlaces] = number;
    }
}

std::size_t RepeatFinder::document_of(std::uint64_t unit) const {
    const auto found = std::upper_bound(offsets_.begin(), offsets_.end(), static_cast<std::int64_t>(unit));
    return static_cast<std::size_t>(found - offsets_.begin()) - 1;
}

void RepeatFinder::cut(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t unit = first; unit < last; ++unit) cut_[unit / 64] |= std::uint64_t{1} << unit % 64;
}

std::vector<Passage> RepeatFinder::decide(std::span<const std::int64_t> documents) {
    std::vector<Passage> found;
    for (const std::int64_t document : documents) decide_document(static_cast<std::size_t>(document), found);
    return found;
}

void RepeatFinder::decide_document(std::size_t document, std::vector<Passage>& found) {
    const auto begin = static_cast<std::uint64_t>(offsets_[document]), end = static_cast<std::uint64_t>(offsets_[document + 1]);
    if (end - begin < length_) return;
    const std::uint64_t behind = end - length_ + 1;  // the last window
    const std::uint64_t* const units = units_.data();
    const auto* const any = std::find_if(group_of_.get() + begin, group_of_.get() + behind, [](std::uint32_t group) { return group != 0; });
    if (any == group_of_.get() + behind) return;
    const std::uint64_t from = static_cast<std::uint64_t>(any - group_of_.get());
    std::uint64_t cut_until = begin, copy = kNone, copy_end = 0;  // `copy`: the place of the copy of the window before this one
    pending_.clear();
    // A window is known to stay whole when all those are decided that begin in it.
    const auto keep = [&](std::uint64_t window) {
        const std::uint32_t group = group_of_[window];
        if (group == 0 || cut_until > window || first_kept_[group] != kNone) return;
        if (within_) {
            first_kept_[group] = window;
        } else {
            pending_.emplace_back(group, window);
        }
    };
    for (std::uint64_t window = from; window < behind; ++window) {
        if (window >= from + length_) keep(window - length_);
        // Where the copy goes on, so does the passage; otherwise the first copy is asked for.
        std::uint64_t source = kNone;
        const bool goes_on = copy != kNone && copy + length_ < copy_end && units[copy + length_] == units[window + length_ - 1] && !is_cut(copy + length_);
        if (goes_on) {
            source = copy + 1;
        } else if (const std::uint32_t group = group_of_[window]; group != 0 && first_kept_[group] != kNone) {
            const std::uint64_t first = first_kept_[group];
            if (std::memcmp(units + first, units + window, length_ * sizeof(std::uint64_t)) == 0) source = first;
        }
        if (source != kNone) {
            if (goes_on) {
                ++found.back().length;
            } else {
                const std::size_t owner = document_of(source);
                copy_end = static_cast<std::uint64_t>(offsets_[owner + 1]);
                found.push_back({static_cast<std::int64_t>(document), static_cast<std::int64_t>(window - begin), static_cast<std::int64_t>(length_),
                                 static_cast<std::int64_t>(owner), static_cast<std::int64_t>(source) - offsets_[owner]});
            }
            cut(std::max(cut_until, window), window + length_);
            cut_until = window + length_;
        }
        copy = source;
    }
    for (std::uint64_t window = behind - std::min(behind - from, std::uint64_t{length_}); window < behind; ++window) keep(window);
    for (const auto& [group, window] : pending_) {
        if (first_kept_[group] == kNone) first_kept_[group] = window;
    }
}

}  // namespace lookalike
