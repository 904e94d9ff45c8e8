// Python's view of winnowing, passages and alignment.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/growing_array.hpp"
#include "base/in_order.hpp"
#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "sketch/shared_text.hpp"
#include "sketch/winnow.hpp"
#include "text/align.hpp"

namespace lookalike {
namespace {

// Kept shingle hashes and their first tokens.
std::pair<Output<std::uint64_t>, Output<std::uint32_t>> winnow_shingles(Hashes shingles, std::size_t window) {
    check_window(window);
    if (shingles.size() > kMaxText) throw nb::value_error("a text of more than 4 Gi shingles: split it");
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> kept;
    {
        const WithoutLock released;
        winnow(view(shingles), window, kept);
        values.reserve(kept.size());
        for (const std::uint32_t position : kept) values.push_back(shingles.data()[position]);
    }
    return {give(std::move(values)), give(std::move(kept))};
}

// Hashes of the tokens of one text after the other, with their spans.
class SpannedTokens {
   public:
    explicit SpannedTokens(const TextOptions& options) : tokens_(options) {}

    void run(const TextView& text) {
        count_ = 0;
        tokens_.run(text, Sink{*this});
    }

    std::size_t count() const { return count_; }
    const std::uint64_t* hashes() const { return hashes_.data(); }
    const std::uint32_t* starts() const { return starts_.data(); }
    const std::uint32_t* ends() const { return ends_.data(); }

   private:
    struct Sink {
        SpannedTokens& to;
        std::uint64_t* room() {
            to.reserve(TokenHashes::kMostTokens);
            return to.hashes_.data() + to.count_;
        }
        std::uint32_t* starts() {
            to.reserve(TokenHashes::kMostTokens);
            return to.starts_.data() + to.count_;
        }
        std::uint32_t* ends() {
            to.reserve(TokenHashes::kMostTokens);
            return to.ends_.data() + to.count_;
        }
        void add(std::size_t count) { to.count_ += count; }
    };

    void reserve(std::size_t more) {
        hashes_.grow(count_ + more, count_);
        starts_.grow(count_ + more, count_);
        ends_.grow(count_ + more, count_);
    }

    TokenHashes tokens_;
    Scratch<std::uint64_t> hashes_;
    Scratch<std::uint32_t> starts_, ends_;
    std::size_t count_ = 0;
};

struct KeptHashes {
    GrowingArray<std::uint64_t> values;
    GrowingArray<std::uint32_t> starts, ends;

    KeptSpans room(std::size_t count) { return {values.room(count), starts.room(count), ends.room(count)}; }

    std::size_t size() const { return values.size(); }
    bool has_room(std::size_t count) const { return values.has_room(count) && starts.has_room(count) && ends.has_room(count); }
    void clear() {
        values.clear();
        starts.clear();
        ends.clear();
    }
    PagesAhead next_pages() {
        if (const PagesAhead next = values.next_pages(); next.bytes) return next;
        if (const PagesAhead next = starts.next_pages(); next.bytes) return next;
        return ends.next_pages();
    }
    void lengthen(std::size_t count) {
        values.add(count);
        starts.add(count);
        ends.add(count);
    }
    void copy_to(KeptHashes& to, std::size_t at) const {
        std::copy_n(values.data(), size(), to.values.data() + at);
        std::copy_n(starts.data(), size(), to.starts.data() + at);
        std::copy_n(ends.data(), size(), to.ends.data() + at);
    }
};

// Winnows one text after the other, into lists that it is given.
class TextWinnower {
   public:
    TextWinnower(const TextOptions& options, std::size_t window) : options_(options), tokens_(options), winnower_(window) {}

    // Returns how many hashes were kept.
    std::size_t run(const TextView& text, KeptHashes& kept) {
        tokens_.run(text);
        const std::size_t count = tokens_.count();
        if (count == 0) return 0;
        const unsigned n = static_cast<unsigned>(std::min<std::size_t>(options_.ngram, count));
        const std::size_t many = count - n + 1;
        if (shingles_.size() < many) shingles_.resize(many);
        options_.hashing.shingles(tokens_.hashes(), many, n, shingles_.data());
        const std::size_t found = winnower_.run({shingles_.data(), many}, tokens_.starts(), tokens_.ends() + n - 1, kept.room(many + KeptSpans::kAhead));
        kept.lengthen(found);
        return found;
    }

   private:
    TextOptions options_;
    SpannedTokens tokens_;
    std::vector<std::uint64_t> shingles_;
    SpanWinnower winnower_;
};

// The kept hashes of a column of texts, with their spans, that comes in pieces: all of them go into one result.
class WinnowedTexts {
   public:
    // Values, starts, ends, and offsets of the texts.
    using Columns = std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>, Output<std::int64_t>>;

    WinnowedTexts(unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t window, unsigned workers)
        : options_(check_text(mode, fold, ngram, seed)), window_(check_window(window)), workers_(check_workers(workers)) {}

    void add(Bytes data, Offsets offsets) { add_batch(Batch<std::uint8_t>(data, offsets)); }
    void add_held(const HeldTexts& texts) { add_batch(texts); }

    // Of what has been added. Nothing of it stays here.
    Columns columns() {
        KeptHashes kept;
        std::vector<std::int64_t> offsets{0};
        {
            const WithoutLock released;
            const std::lock_guard lock(guard_);
            std::swap(kept, kept_);
            std::swap(offsets, offsets_);
        }
        return {give(std::move(kept.values)), give(std::move(kept.starts)), give(std::move(kept.ends)), give(std::move(offsets))};
    }

   private:
    template <class Texts>
    void add_batch(const Texts& texts) {
        const WithoutLock released;
        const std::lock_guard lock(guard_);
        std::vector<std::size_t> counts(texts.count());
        make_room(texts);
        if (workers_ == 1) {
            TextWinnower winnower(options_, window_);
            for (std::size_t i = 0; i < texts.count(); ++i) counts[i] = winnower.run(texts[i], kept_);
        } else {
            run_in_threads(texts, counts);
        }
        offsets_.reserve(offsets_.size() + counts.size());
        for (const std::size_t count : counts) offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(count));
    }

    template <class Texts>
    void make_room(const Texts& texts) {
        std::size_t characters = 0, most = 0;  // in all, and of a text
        for (std::size_t i = 0; i < texts.count(); ++i) {
            const std::size_t here = std::visit([](const auto& units) { return units.size(); }, TextView(texts[i]));
            characters += here;
            most = std::max(most, here);
        }
        // Of random hashes two of window + 1 are kept. A few more: what is never written takes no memory.
        (void)kept_.room(characters * 2 / (window_ + 1) / 8 * 9 + most + KeptSpans::kAhead);
    }

    template <class Texts>
    void run_in_threads(const Texts& texts, std::vector<std::size_t>& counts) {
        // A piece is as many texts as leave their kept hashes in the cache, from which they are copied to their place.
        const std::size_t together = std::clamp<std::size_t>(texts.count() / (std::size_t{64} * workers_), 1, 32);
        const std::size_t pieces = (texts.count() + together - 1) / together;
        InOrder<KeptHashes> in_order(pieces, kept_);
        std::atomic<std::size_t> next{0};  // one piece at a time: those that wait for others would leave the cache
        for_each_document(workers_, workers_, [&] {
            return [&, winnower = TextWinnower(options_, window_)](std::size_t) mutable {
                for (std::size_t piece; (piece = next++) < pieces;) {
                    std::unique_ptr<KeptHashes> kept = in_order.take();
                    for (std::size_t i = piece * together; i < std::min((piece + 1) * together, texts.count()); ++i) {
                        counts[i] = winnower.run(texts[i], *kept);
                    }
                    in_order.put(piece, std::move(kept));
                }
            };
        });
    }

    TextOptions options_;
    std::size_t window_;
    unsigned workers_;
    std::mutex guard_;  // of what follows: the interpreter's lock is let go for the work
    KeptHashes kept_;
    std::vector<std::int64_t> offsets_{0};
};

using Runs = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;

Runs as_tuples(const std::vector<SharedRun>& runs) {
    Runs out;
    out.reserve(runs.size());
    for (const SharedRun& run : runs) out.emplace_back(run.left, run.right, run.length);
    return out;
}

void check_anchors(const Anchors& side, unsigned n) {
    if (side.values.size() != side.positions.size()) throw nb::value_error("passages: expected one position per value");
    for (std::size_t i = 0; i < side.positions.size(); ++i) {
        if (side.positions[i] >= side.tokens.size() || (i && side.positions[i] <= side.positions[i - 1])) {
            throw nb::value_error("passages: positions must ascend within the tokens");
        }
    }
    check_ngram(n);
}

// (left token, right token, number of tokens) of each shared run.
Runs passages(Hashes left_tokens, Hashes left_values, Input<std::uint32_t> left_positions, Hashes right_tokens, Hashes right_values,
              Input<std::uint32_t> right_positions, unsigned ngram) {
    const Anchors left{view(left_tokens), view(left_values), view(left_positions)};
    const Anchors right{view(right_tokens), view(right_values), view(right_positions)};
    check_anchors(left, ngram);
    check_anchors(right, ngram);
    const WithoutLock released;
    return as_tuples(shared_runs(left, right, ngram));
}

void check_tokens(const Hashes& left, const Hashes& right) {
    if (left.size() > kMaxText || right.size() > kMaxText) throw nb::value_error("a text of more than 4 Gi tokens: split it");
}

// Runs that stand on both sides in the same order.
Runs align_tokens(Hashes left, Hashes right, Input<std::uint32_t> sizes) {
    check_tokens(left, right);
    if (sizes.size() != 0 && sizes.size() != left.size()) throw nb::value_error("sizes: expected one for each token of the left side, or none");
    const WithoutLock released;
    return as_tuples(align(view(left), view(right), view(sizes)));
}

// Runs of at least `shortest` tokens among what the kept runs leave over, in any order.
Runs moved_tokens(Hashes left, Hashes right, const Runs& kept, unsigned shortest) {
    check_ngram(shortest);
    check_tokens(left, right);
    std::vector<SharedRun> runs;
    for (const auto& [at_left, at_right, length] : kept) {
        if (std::uint64_t{at_left} + length > left.size() || std::uint64_t{at_right} + length > right.size()) {
            throw nb::value_error("kept: a run reaches beyond the tokens");
        }
        runs.push_back({at_left, at_right, length});
    }
    const WithoutLock released;
    return as_tuples(moved_runs(view(left), view(right), runs, shortest));
}

// A text whose passages are looked for in others, one by one.
class PassageQuery {
   public:
    PassageQuery(nb::handle text, unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t window)
        : options_(check_text(mode, fold, ngram, seed)), window_(check_window(window)), text_(read(HeldUtf8(text))) {}

    // The passages that a text shares with this one, as places on both sides, and how much of each side lies in them. None where one of them is
    // shorter than a passage.
    nb::object shared(nb::handle other) const {
        const HeldUtf8 held(other);
        SharedText found;
        bool short_text = false;
        {
            const WithoutLock released;
            const WinnowedText right(options_, held.utf8(), window_);
            const std::size_t fewest = std::min(text_.tokens.size(), right.tokens.size());
            short_text = fewest != 0 && fewest < options_.ngram;
            if (!short_text) found = shared_text(text_, right, options_.ngram);
        }
        if (short_text) return nb::none();
        nb::list passages;
        for (const auto& [left, right] : found.passages) passages.append(nb::make_tuple(left.first, left.second, right.first, right.second));
        return nb::make_tuple(passages, found.left, found.right);
    }

    // Between which shares of this text those lie that a comparison would give, of texts that share so many of these spans each.
    std::vector<std::pair<double, double>> bounds(const std::vector<std::size_t>& counts, const std::vector<TextSpan>& spans,
                                                  const std::vector<TextSpan>& skipped, std::size_t further) const {
        if (further > kMaxText) throw nb::value_error("further: too many tokens");
        std::size_t sum = 0;
        for (const std::size_t count : counts) {
            if (count > spans.size() - sum) throw nb::value_error("counts: expected as many together as there are spans");
            sum += count;
        }
        std::vector<std::pair<double, double>> found;
        found.reserve(counts.size());
        const WithoutLock released;
        ShareBounds bounds(text_, skipped, further);
        std::span<const TextSpan> left(spans);
        for (const std::size_t count : counts) {
            found.push_back(bounds.of(left.first(count)));
            left = left.subspan(count);
        }
        return found;
    }

    std::size_t tokens() const { return text_.tokens.size(); }

   private:
    WinnowedText read(const HeldUtf8& held) const {
        const WithoutLock released;
        return WinnowedText(options_, held.utf8(), window_);
    }

    TextOptions options_;
    std::size_t window_;
    WinnowedText text_;
};

}  // namespace

void bind_passages(nb::module_& m) {
    m.def("winnow_shingles", &winnow_shingles, "shingles"_a.noconvert(), "window"_a);
    nb::class_<WinnowedTexts>(m, "WinnowedTexts")
        .def(nb::init<unsigned, bool, unsigned, const Seed&, std::size_t, unsigned>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "window"_a, "workers"_a)
        .def("add", &WinnowedTexts::add, "data"_a.noconvert(), "offsets"_a.noconvert())
        .def("add", &WinnowedTexts::add_held, "texts"_a)
        .def("columns", &WinnowedTexts::columns);
    m.def("passages", &passages, "left_tokens"_a.noconvert(), "left_values"_a.noconvert(), "left_positions"_a.noconvert(), "right_tokens"_a.noconvert(),
          "right_values"_a.noconvert(), "right_positions"_a.noconvert(), "ngram"_a);
    nb::class_<PassageQuery>(m, "PassageQuery")
        .def(nb::init<nb::handle, unsigned, bool, unsigned, const Seed&, std::size_t>(), "text"_a, "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "window"_a)
        .def("shared", &PassageQuery::shared, "text"_a)
        .def("bounds", &PassageQuery::bounds, "counts"_a, "spans"_a, "skipped"_a, "further"_a)
        .def_prop_ro("tokens", &PassageQuery::tokens);
    m.def("align_tokens", &align_tokens, "left"_a.noconvert(), "right"_a.noconvert(), "sizes"_a.noconvert());
    m.def("moved_tokens", &moved_tokens, "left"_a.noconvert(), "right"_a.noconvert(), "kept"_a, "shortest"_a);
}

}  // namespace lookalike
