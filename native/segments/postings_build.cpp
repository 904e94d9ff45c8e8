// Building and merging segments of the passage index.
#include <limits>
#include <numeric>
#include <optional>

#include "base/own_pages.hpp"
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

// Appends postings in order of hash, then place; the columns of the documents are there already.
class PostingWriter {
   public:
    PostingWriter(Columns& out, std::size_t count, std::uint64_t most) : out_(out), document_of_(out.firsts), count_(count), most_(most) {
        // Some recipes have hashes of 16 bits: the directory covers the bits that are in use.
        const unsigned wanted = static_cast<unsigned>(std::bit_width(count));
        const unsigned covered = std::min(width(), wanted > kPostingsABucket ? wanted - kPostingsABucket : 1);
        bits_ = width() - covered;
        bytes_ = (bits_ + 7) / 8;
        out_.suffix_bits = {static_cast<std::uint8_t>(bits_)};
        out_.directory.assign((std::size_t{1} << covered) + 1, 0);
        out_.suffixes.assign(count * bytes_ + kSuffixPadding, 0);
        out_.places.reserve(count);
    }
    // How many bits of the hashes are in use.
    unsigned width() const { return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(most_, 1))); }

    void add(const std::vector<Item>& items) {
        const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
        for (const Item& item : items) {
            const std::size_t at = out_.places.size();
            if (at == count_ || item.hash > most_) return;  // a mapped file has changed meanwhile
            const std::uint64_t suffix = item.hash & mask;
            std::memcpy(out_.suffixes.data() + at * bytes_, &suffix, sizeof suffix);  // zeros that the next one overwrites
            ++out_.directory[(item.hash >> bits_) + 1];
            if (at && item.hash == last_.hash && document_of_(item.place) == document_of_(last_.place)) {
                out_.repeats.push_back(static_cast<std::uint32_t>(at));
            }
            out_.places.push_back(item.place);
            last_ = item;
        }
    }
    void finish() {
        out_.suffixes.resize(out_.places.size() * bytes_ + kSuffixPadding);
        std::partial_sum(out_.directory.begin(), out_.directory.end(), out_.directory.begin());
    }

   private:
    Columns& out_;
    const DocumentFinder document_of_;
    const std::size_t count_;
    const std::uint64_t most_;
    unsigned bits_ = 0;
    std::size_t bytes_ = 0;
    Item last_{};
};

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

constexpr std::size_t kSortedTogether = 1 << 20;  // postings, where hashes are spread evenly

// Sorts `count` postings a part of the hashes at a time, and writes them: this takes little memory, and stays in the cache. `take` appends those
// from a first hash up to a last one, each of which it is asked for once, in order.
template <class Take>
void add_in_parts(Columns& out, std::size_t count, std::uint64_t most, Take&& take) {
    PostingWriter postings(out, count, most);
    const std::size_t parts = count / kSortedTogether + 1;
    std::vector<Item> items;
    std::uint64_t first = 0;
    for (std::size_t part = 1; part <= parts; ++part) {
        const std::uint64_t last = part == parts ? most : most / parts * part;
        items.clear();
        if (first <= last) take(first, last, items);  // few different hashes may leave a part without any
        sort_items(items, postings.width());
        postings.add(items);
        first = last + 1;
    }
    postings.finish();
}

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
    for (std::size_t document = 0, place = 0; document < rows.size(); ++document) {
        for (; base + place < static_cast<std::size_t>(offsets[document + 1]); ++place) {
            const TextSpan span{starts[base + place], ends[base + place]};
            if (span.start > span.end) refuse("starts, ends: a span from " + std::to_string(span.start) + " to " + std::to_string(span.end));
            writer.span(span);
        }
        writer.end_document(rows[document]);
    }
    const std::span<const std::uint64_t> hashes = values.subspan(base, count);
    add_in_parts(out, count, hashes.empty() ? 0 : *std::max_element(hashes.begin(), hashes.end()),
                 [&](std::uint64_t first, std::uint64_t last, std::vector<Item>& items) {
                     for (std::size_t place = 0; place < count; ++place) {
                         if (hashes[place] >= first && hashes[place] <= last) items.push_back({hashes[place], static_cast<std::uint32_t>(place)});
                     }
                 });
    return out;
}

namespace {

// The postings of a segment that is merged, with their places in the result; those of removed documents are left out.
class MergedPostings {
   public:
    static constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

    explicit MergedPostings(const Segment& segment) : segment_(segment), homes_(segment.documents(), kGone), cursor_(segment) {}
    // The first place of a document in the result.
    void settle(std::uint32_t document, std::size_t place) { homes_[document] = static_cast<std::uint32_t>(place); }

    // To be called when all documents are settled. Where none was removed and none of another segment lies between them, all places move by one number.
    void finish_settling() {
        const std::span<const std::uint32_t> firsts = segment_.view().firsts;
        for (std::size_t document = 0; document < homes_.size(); ++document) {
            if (homes_[document] == kGone || homes_[document] - firsts[document] != homes_[0] - firsts[0]) return;
        }
        if (!homes_.empty()) shift_ = homes_[0] - firsts[0];
    }

    std::uint64_t largest_hash() const {
        return segment_.largest_hash([&](std::uint32_t place) { return homes_[segment_.document_of(place)] != kGone; });
    }
    // Those up to a hash that were not taken yet.
    void take(std::uint64_t last, bool read_once, std::vector<Item>& items) {
        const std::size_t first = cursor_.posting();
        for (; shift_ && !cursor_.ended() && cursor_.hash() <= last; cursor_.step()) items.push_back({cursor_.hash(), cursor_.place() + *shift_});
        for (; !cursor_.ended() && cursor_.hash() <= last; cursor_.step()) {
            const std::uint32_t place = cursor_.place(), document = segment_.document_of(place);
            if (homes_[document] != kGone) items.push_back({cursor_.hash(), place - segment_.view().firsts[document] + homes_[document]});
        }
        if (read_once) segment_.let_go(first, cursor_.posting());
    }

   private:
    const Segment& segment_;
    std::vector<std::uint32_t> homes_;
    std::optional<std::uint32_t> shift_;
    Segment::Cursor cursor_;
};

void merge_postings(std::vector<MergedPostings>& sources, std::size_t count, bool read_once, Columns& out) {
    std::uint64_t most = 0;
    for (const MergedPostings& source : sources) most = std::max(most, source.largest_hash());
    add_in_parts(out, count, most, [&](std::uint64_t, std::uint64_t last, std::vector<Item>& items) {
        for (MergedPostings& source : sources) source.take(last, read_once, items);
    });
}

}  // namespace

Columns merge(std::span<const Segment* const> segments, std::span<const std::int64_t> removed, bool read_once) {
    struct Source {
        std::int64_t row;
        std::uint32_t segment, document;
        bool operator<(const Source& other) const { return row < other.row; }
    };
    std::vector<Source> sources;
    std::size_t count = 0;
    std::vector<MergedPostings> postings;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const View& view = segments[s]->view();
        postings.emplace_back(*segments[s]);
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
        postings[s].settle(document, out.starts.size());
        const Within own(view.firsts[document], view.firsts[document + 1], view.starts.size());
        for (auto place = static_cast<std::uint32_t>(own.begin); place < own.end; ++place) writer.span(segments[s]->span_of(place, document));
        writer.end_document(row);
    }
    for (const Segment* const segment : segments) {
        if (!read_once) break;
        page_out(segment->view().starts);
        page_out(segment->view().lengths);
    }
    for (MergedPostings& source : postings) source.finish_settling();
    merge_postings(postings, count, read_once, out);
    return out;
}

}  // namespace lookalike::postings
