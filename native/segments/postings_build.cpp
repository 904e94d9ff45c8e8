// Building and merging segments of the passage index.
#include <limits>
#include <numeric>

#include "segments/postings.hpp"

namespace lookalike::postings {
namespace {

constexpr unsigned kPostingsABucket = 4;  // as a power of two: 8 to 16 on average

struct Item {
    std::uint64_t hash;
    std::uint32_t place;
    auto operator<=>(const Item&) const = default;
};

// By hash, then by place. Two stable passes over the top bits leave short runs that are not in order yet; equal hashes are one
// long run, but one that is in order where the places came in order.
void sort_items(std::vector<Item>& items, unsigned width) {
    constexpr unsigned kDigit = 11;
    constexpr std::size_t kFew = 1 << 12;  // counting costs more than it saves
    if (items.size() < kFew) {
        std::sort(items.begin(), items.end());
        return;
    }
    const unsigned untouched = width - std::min(width, 2 * kDigit);
    std::vector<Item> other(items.size());
    for (unsigned at = untouched; at < width; at += kDigit) {
        const auto digit = [&](const Item& item) { return item.hash >> at & ((1U << kDigit) - 1); };
        std::vector<std::size_t> next((1U << kDigit) + 1);
        for (const Item& item : items) ++next[digit(item) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (const Item& item : items) other[next[digit(item)]++] = item;
        items.swap(other);
    }
    for (auto first = items.begin(); first != items.end();) {
        auto last = first + 1;
        while (last != items.end() && last->hash >> untouched == first->hash >> untouched) ++last;
        if (!std::is_sorted(first, last)) std::sort(first, last);
        first = last;
    }
}

// The columns in order of hash; those of the documents are there already.
void write_postings(std::vector<Item> items, Columns& out) {
    std::uint64_t most = 1;
    for (const Item& item : items) most = std::max(most, item.hash);
    // Some recipes have hashes of 16 bits: the directory covers the bits that are in use.
    const unsigned width = static_cast<unsigned>(std::bit_width(most));
    sort_items(items, width);

    const unsigned wanted = static_cast<unsigned>(std::bit_width(items.size()));
    const unsigned covered = std::min(width, wanted > kPostingsABucket ? wanted - kPostingsABucket : 1);
    const unsigned bits = width - covered;
    const std::size_t bytes = (bits + 7) / 8;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    out.suffix_bits = {static_cast<std::uint8_t>(bits)};
    out.directory.assign((std::size_t{1} << covered) + 1, 0);
    out.suffixes.assign(items.size() * bytes + kSuffixPadding, 0);
    out.places.resize(items.size());
    const DocumentFinder document_of(out.firsts);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::uint64_t suffix = items[i].hash & mask;
        std::memcpy(out.suffixes.data() + i * bytes, &suffix, sizeof suffix);  // zeros that the next one overwrites
        out.places[i] = items[i].place;
        ++out.directory[(items[i].hash >> bits) + 1];
        if (i && items[i].hash == items[i - 1].hash && document_of(items[i].place) == document_of(items[i - 1].place)) {
            out.repeats.push_back(static_cast<std::uint32_t>(i));
        }
    }
    std::partial_sum(out.directory.begin(), out.directory.end(), out.directory.begin());
}

// Appends documents and their spans.
class DocumentWriter {
   public:
    DocumentWriter(Columns& out, std::size_t documents, std::size_t fingerprints) : out_(out) {
        out_.rows.reserve(documents);
        out_.firsts.reserve(documents + 1);
        out_.firsts.push_back(0);
        out_.starts.reserve(fingerprints);
        out_.lengths.reserve(fingerprints);
    }
    void span(TextSpan span) {
        const std::uint32_t length = span.end - span.start;
        const std::uint32_t upper = span.start >> 16 << 16 | length >> 16;
        if (upper != upper_) out_.uppers.push_back(std::uint64_t{out_.starts.size()} << 32 | upper);
        upper_ = upper;
        out_.starts.push_back(static_cast<std::uint16_t>(span.start));
        out_.lengths.push_back(static_cast<std::uint16_t>(length));
    }
    void end_document(std::int64_t row) {
        out_.rows.push_back(row);
        out_.firsts.push_back(static_cast<std::uint32_t>(out_.starts.size()));
        upper_ = 0;
    }

   private:
    Columns& out_;
    std::uint32_t upper_ = 0;
};

}  // namespace

Columns build(std::span<const std::int64_t> rows, std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values,
              std::span<const std::uint32_t> starts, std::span<const std::uint32_t> ends) {
    if (offsets.size() != rows.size() + 1) refuse("offsets: expected one more than rows");
    if (starts.size() != values.size() || ends.size() != values.size()) refuse("starts, ends: expected one per value");
    check_rows(rows);
    const auto base = static_cast<std::size_t>(offsets.front()), count = static_cast<std::size_t>(offsets.back()) - base;
    check_count(count);
    Columns out;
    DocumentWriter writer(out, rows.size(), count);
    std::vector<Item> items(count);
    for (std::size_t document = 0, place = 0; document < rows.size(); ++document) {
        for (; base + place < static_cast<std::size_t>(offsets[document + 1]); ++place) {
            const TextSpan span{starts[base + place], ends[base + place]};
            if (span.start > span.end) refuse("starts, ends: a span from " + std::to_string(span.start) + " to " + std::to_string(span.end));
            writer.span(span);
            items[place] = {values[base + place], static_cast<std::uint32_t>(place)};
        }
        writer.end_document(rows[document]);
    }
    write_postings(std::move(items), out);
    return out;
}

Columns merge(std::span<const Segment* const> segments, std::span<const std::int64_t> removed) {
    struct Source {
        std::int64_t row;
        std::uint32_t segment, document;
        bool operator<(const Source& other) const { return row < other.row; }
    };
    std::vector<Source> sources;
    std::size_t count = 0;
    std::vector<std::vector<std::uint32_t>> homes;  // the first place of each document in the result
    constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const View& view = segments[s]->view();
        homes.emplace_back(view.rows.size(), kGone);
        std::vector<bool> gone(view.rows.size());
        for (const std::uint32_t document : segments[s]->documents_of(removed)) gone[document] = true;
        for (std::uint32_t document = 0; document < view.rows.size(); ++document) {
            if (gone[document]) continue;
            sources.push_back({view.rows[document], static_cast<std::uint32_t>(s), document});
            count += view.firsts[document + 1] - view.firsts[document];
        }
    }
    check_count(count);
    if (!std::is_sorted(sources.begin(), sources.end())) std::sort(sources.begin(), sources.end());

    Columns out;
    DocumentWriter writer(out, sources.size(), count);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto [row, s, document] = sources[i];
        if (i && row == sources[i - 1].row) refuse("segments: row " + std::to_string(row) + " is in two of them");
        const View& view = segments[s]->view();
        homes[s][document] = static_cast<std::uint32_t>(out.starts.size());
        const Within own(view.firsts[document], view.firsts[document + 1], view.starts.size());
        for (auto place = static_cast<std::uint32_t>(own.begin); place < own.end; ++place) writer.span(segments[s]->span_of(place, document));
        writer.end_document(row);
    }
    std::vector<Item> items;
    items.reserve(count);
    for (std::size_t s = 0; s < segments.size(); ++s) {
        segments[s]->for_each_posting([&](std::uint64_t hash, std::uint32_t place) {
            const std::uint32_t document = segments[s]->document_of(place);
            if (homes[s][document] == kGone) return;
            items.push_back({hash, place - segments[s]->view().firsts[document] + homes[s][document]});
        });
    }
    write_postings(std::move(items), out);
    return out;
}

}  // namespace lookalike::postings
