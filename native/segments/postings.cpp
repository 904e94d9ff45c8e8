#include "segments/postings.hpp"

#include <limits>
#include <stdexcept>

#include "base/own_pages.hpp"

namespace lookalike::postings {
namespace {

constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void check_count(std::size_t fingerprints) {
    if (fingerprints > kMost) refuse(std::to_string(fingerprints) + " fingerprints: a segment holds at most " + std::to_string(kMost) + ", make several");
}

void check_rows(std::span<const std::int64_t> rows) {
    if (rows.size() > kMost) refuse("rows: a segment holds at most " + std::to_string(kMost) + " documents, make several");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] < 0 || (i && rows[i] <= rows[i - 1]))
            refuse("rows: " + std::to_string(rows[i]) + " at " + std::to_string(i) + "; they must ascend from 0 or more");
    }
}

DocumentFinder::DocumentFinder(std::span<const std::uint32_t> firsts) : firsts_(firsts) {
    std::uint32_t document = 0;
    for (std::uint64_t place = 0; place < firsts.back(); place += kBlock) {
        while (document + 2 < firsts.size() && firsts[document + 1] <= place) ++document;
        blocks_.push_back(document);
    }
    blocks_.push_back(static_cast<std::uint32_t>(firsts.size() < 2 ? 0 : firsts.size() - 2));
}

Segment::Segment(const View& view) : view_(view) {
    check_documents();
    document_of_ = DocumentFinder(view_.firsts);
    check_spans();
    check_postings();
}

namespace {

void check_ascent(std::span<const std::uint32_t> firsts, std::size_t size, const char* name) {
    const bool framed = !firsts.empty() && firsts.front() == 0 && firsts.back() == size;
    if (!framed || !std::is_sorted(firsts.begin(), firsts.end())) refuse(std::string(name) + ": expected to ascend from 0 to " + std::to_string(size));
}

}  // namespace

void Segment::check_documents() const {
    check_count(view_.places.size());
    check_rows(view_.rows);
    if (view_.firsts.size() != view_.rows.size() + 1) refuse("firsts: expected one more than rows");
    check_ascent(view_.firsts, view_.places.size(), "firsts");
}

void Segment::check_spans() const {
    const std::size_t count = view_.places.size();
    if (view_.starts.size() != count || view_.lengths.size() != count) refuse("starts, lengths: expected one per place");
    for (std::size_t i = 0; i < view_.uppers.size(); ++i) {
        const std::uint64_t place = view_.uppers[i] >> 32;
        if (place >= count || (i && place <= view_.uppers[i - 1] >> 32)) refuse("uppers: place " + std::to_string(place) + " is out of order");
    }
    // Without upper halves the largest end is below 1 << 17. With them, ends are checked from each change on.
    for (std::size_t i = 0; i < view_.uppers.size(); ++i) {
        const auto first = static_cast<std::uint32_t>(view_.uppers[i] >> 32);
        const std::uint32_t document = document_of_(first);
        const std::uint64_t next = i + 1 < view_.uppers.size() ? view_.uppers[i + 1] >> 32 : count;
        const std::uint64_t last = std::min<std::uint64_t>(next, view_.firsts[document + 1]);
        const std::uint64_t upper = static_cast<std::uint32_t>(view_.uppers[i]);
        for (std::uint64_t place = first; place < last; ++place) {
            const std::uint64_t end = (upper >> 16 << 16 | view_.starts[place]) + ((upper & 0xFFFF) << 16 | view_.lengths[place]);
            if (end > std::numeric_limits<std::uint32_t>::max()) refuse("uppers: the span of place " + std::to_string(place) + " ends beyond 32 bits");
        }
    }
}

void Segment::check_postings() {
    const std::size_t count = view_.places.size(), buckets = view_.directory.size() - 1;
    if (view_.suffix_bits.size() != 1 || view_.directory.size() < 3 || !std::has_single_bit(buckets)) {
        refuse("suffix_bits, directory: expected one number, and one more entry than a power of two");
    }
    bits_ = view_.suffix_bits[0];
    if (bits_ + static_cast<unsigned>(std::countr_zero(buckets)) > 64) refuse("suffix_bits: " + std::to_string(bits_) + " and the directory exceed 64 bits");
    bytes_ = (bits_ + 7) / 8;
    mask_ = (std::uint64_t{1} << bits_) - 1;
    if (view_.suffixes.size() != count * bytes_ + kSuffixPadding) refuse("suffixes: expected " + std::to_string(count * bytes_ + kSuffixPadding) + " bytes");
    check_ascent(view_.directory, count, "directory");

    std::vector<bool> seen(count);
    std::size_t repeats = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        const std::size_t first = view_.directory[bucket];
        for (std::size_t at = first; at < std::min<std::size_t>(view_.directory[bucket + 1], count); ++at) {
            const std::uint32_t place = view_.places[at];
            if (place >= count || seen[place]) refuse("places: " + std::to_string(place) + " is too large or there twice");
            seen[place] = true;
            std::uint64_t whole = 0;
            std::memcpy(&whole, view_.suffixes.data() + at * bytes_, bytes_);
            if (whole > mask_) refuse("suffixes: one has more bits than suffix_bits says");
            if (at == first || suffix(at - 1) < whole) continue;
            const std::uint32_t before = view_.places[at - 1];
            if (suffix(at - 1) > whole || before > place) refuse("suffixes, places: posting " + std::to_string(at) + " is out of order");
            if (document_of_(before) != document_of_(place)) continue;
            if (repeats == view_.repeats.size() || view_.repeats[repeats] != at) refuse("repeats: posting " + std::to_string(at) + " is missing");
            ++repeats;
        }
    }
    if (repeats != view_.repeats.size()) refuse("repeats: there are more than repeated postings");
}

namespace {

// std::lower_bound where the answer is likely to be near: steps that double, then a binary search between the last two.
template <class Iterator, class T>
Iterator next_from(Iterator first, Iterator last, const T& wanted) {
    std::ptrdiff_t step = 1;
    while (step < last - first && first[step] < wanted) {
        first += step;
        step *= 2;
    }
    return std::lower_bound(first, first + std::min(step, last - first), wanted);
}

}  // namespace

TextSpan Segment::span_of(std::uint32_t place, std::uint32_t document) const {
    std::uint32_t upper = 0;
    if (!view_.uppers.empty()) {
        const auto next = std::upper_bound(view_.uppers.begin(), view_.uppers.end(), std::uint64_t{place} << 32 | 0xFFFFFFFF);
        if (next != view_.uppers.begin() && next[-1] >> 32 >= view_.firsts[document]) upper = static_cast<std::uint32_t>(next[-1]);
    }
    if (place >= view_.starts.size()) return {0, 0};
    const std::uint32_t start = upper >> 16 << 16 | view_.starts[place];
    return {start, start + (upper << 16 | view_.lengths[place])};
}

Segment::Run Segment::find(std::uint64_t hash) const {
    const std::uint64_t bucket = hash >> bits_, wanted = hash & mask_;
    if (bucket >= view_.directory.size() - 1) return {0, 0};
    // The first posting from `first` on whose suffix is not below, or where `beyond`, above the one that is wanted.
    const auto search = [&](std::size_t first, bool beyond) {
        std::size_t last = std::min<std::size_t>(view_.directory[bucket + 1], view_.places.size());
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            const std::uint64_t found = suffix(middle);
            if (found < wanted || (beyond && found == wanted)) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first;
    };
    const std::size_t first = search(std::min<std::size_t>(view_.directory[bucket], view_.places.size()), false);
    return {first, search(first, true)};
}

std::uint32_t Segment::count_documents(const Run& run) const {
    const auto first = std::lower_bound(view_.repeats.begin(), view_.repeats.end(), run.first);
    const auto last = std::lower_bound(first, view_.repeats.end(), run.last);
    return static_cast<std::uint32_t>(run.last - run.first) - static_cast<std::uint32_t>(last - first);
}

void Segment::let_go(std::size_t first, std::size_t last) const {
    const Within own(first, last, view_.places.size());
    page_out(view_.places.subspan(own.begin, own.end - own.begin));
    page_out(view_.suffixes.subspan(own.begin * bytes_, (own.end - own.begin) * bytes_));
}

std::vector<std::uint32_t> Segment::documents_of(std::span<const std::int64_t> removed) const {
    std::vector<std::uint32_t> found;
    if (view_.rows.empty()) return found;
    auto row = view_.rows.begin();
    for (auto wanted = std::lower_bound(removed.begin(), removed.end(), *row); wanted != removed.end() && *wanted <= view_.rows.back(); ++wanted) {
        row = next_from(row, view_.rows.end(), *wanted);
        if (row == view_.rows.end()) break;
        if (*row == *wanted) found.push_back(static_cast<std::uint32_t>(row - view_.rows.begin()));
    }
    return found;
}

std::uint32_t Segment::count_among(const Run& run, std::span<const std::uint32_t> documents) const {
    std::uint32_t count = 0;
    if (run.last - run.first < documents.size()) {
        for_each_document_of(run, [&](std::uint32_t document) { count += std::binary_search(documents.begin(), documents.end(), document); });
        return count;
    }
    auto place = view_.places.begin() + static_cast<std::ptrdiff_t>(run.first);
    const auto last = view_.places.begin() + static_cast<std::ptrdiff_t>(run.last);
    for (const std::uint32_t document : documents) {
        place = next_from(place, last, view_.firsts[document]);
        if (place == last) break;
        count += *place < view_.firsts[document + 1];
    }
    return count;
}

std::size_t Segment::sharing(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> removed, std::size_t limit, std::vector<Sharing>& out) const {
    std::vector<Run> runs;
    std::size_t postings = 0;
    for (const std::uint64_t hash : hashes) {
        runs.push_back(find(hash));
        postings += runs.back().last - runs.back().first;
    }
    out.clear();
    constexpr std::size_t kSparse = 16;  // from one posting in so many documents on, a pass over all documents costs less than sorting
    if (postings < documents() / kSparse) {
        std::vector<std::uint32_t> found;  // a document for each of its hashes
        for (const Run& run : runs) for_each_document_of(run, [&](std::uint32_t document) { found.push_back(document); });
        std::sort(found.begin(), found.end());
        for (const std::uint32_t document : found) {
            if (out.empty() || out.back().document != document) out.push_back({document, 0});
            ++out.back().hashes;
        }
    } else {
        std::vector<std::uint32_t> hashes_of(documents());
        for (const Run& run : runs) for_each_document_of(run, [&](std::uint32_t document) { ++hashes_of[document]; });
        for (std::uint32_t document = 0; document < hashes_of.size(); ++document) {
            if (hashes_of[document]) out.push_back({document, hashes_of[document]});
        }
    }
    if (!removed.empty()) {
        auto gone = removed.begin();
        std::erase_if(out, [&](const Sharing& one) {
            gone = next_from(gone, removed.end(), view_.rows[one.document]);
            return gone != removed.end() && *gone == view_.rows[one.document];
        });
    }
    const std::size_t total = out.size();
    const auto better = [](const Sharing& a, const Sharing& b) { return a.hashes != b.hashes ? a.hashes > b.hashes : a.document < b.document; };
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min(limit, total)), out.end(), better);
    out.resize(std::min(limit, total));
    return total;
}

}  // namespace lookalike::postings
