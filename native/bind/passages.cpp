// Python's view of winnowing, passages and alignment.
#include <algorithm>
#include <list>
#include <mutex>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
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
        nb::gil_scoped_release release;
        winnow(view(shingles), window, kept);
        values.reserve(kept.size());
        for (const std::uint32_t position : kept) values.push_back(shingles.data()[position]);
    }
    return {give(std::move(values)), give(std::move(kept))};
}

// Hashes of the tokens of one text after the other, with their spans.
class SpannedTokens {
   public:
    explicit SpannedTokens(const TextOptions& options) : options_(options) {}

    void run(std::span<const std::uint8_t> utf8) {
        count_ = 0;
        simple_.start();
        if (!options_.hashing.key() && SimpleTokens::suits(utf8, options_.mode, options_.fold)) {
            while (const std::size_t taken = simple_.take(utf8, options_.mode)) {
                reserve(SimpleTokens::kRoom);
                simple_.hash(hashes_.data() + count_);
                std::copy_n(simple_.starts(), simple_.count(), starts_.data() + count_);
                std::copy_n(simple_.ends(), simple_.count(), ends_.data() + count_);
                count_ += simple_.count();
                utf8 = utf8.subspan(taken);
            }
        }
        if (!utf8.empty()) run_folded(utf8, simple_.position());
    }

    std::size_t count() const { return count_; }
    const std::uint64_t* hashes() const { return hashes_.data(); }
    std::uint32_t start(std::size_t token) const { return starts_[token]; }
    std::uint32_t end(std::size_t token) const { return ends_[token]; }

   private:
    void reserve(std::size_t more) {
        hashes_.grow(count_ + more, count_);
        starts_.grow(count_ + more, count_);
        ends_.grow(count_ + more, count_);
    }

    // What begins `before` code points behind the start of the text.
    void run_folded(std::span<const std::uint8_t> utf8, std::uint32_t before) {
        folder_.run(utf8, options_.mode, options_.fold, true);
        reserve(folder_.size());
        const std::uint32_t *const begins = folder_.span_begins(), *const ends = folder_.span_ends();
        const auto take = [&](std::size_t many, auto&& first, auto&& last) {  // the first and the last byte of each token
            std::uint32_t *const to_starts = starts_.data() + count_, *const to_ends = ends_.data() + count_;
            for (std::size_t i = 0; i < many; ++i) to_starts[i] = begins[first(i)] + before;
            for (std::size_t i = 0; i < many; ++i) to_ends[i] = ends[last(i)] + before;
            count_ += many;
        };
        folder_.for_each_stretch(
            [&](const TokenEdges& found) {
                options_.hashing.tokens(folder_.bytes(), found.begins, found.ends, found.ended, hashes_.data() + count_);
                take(found.ended, [&](std::size_t i) { return found.begins[i]; }, [&](std::size_t i) { return found.ends[i] - 1; });
            },
            [&](std::size_t first, std::size_t many, unsigned width) {
                hash_tokens_of(options_.hashing, folder_.bytes() + first, width, many, hashes_.data() + count_);
                if (width == 1) return take(many, [=](std::size_t i) { return first + i; }, [=](std::size_t i) { return first + i; });
                take(many, [=](std::size_t i) { return first + width * i; }, [=](std::size_t i) { return first + width * (i + 1) - 1; });
            });
    }

    TextOptions options_;
    SimpleTokens simple_;
    Folder folder_;
    Scratch<std::uint64_t> hashes_;
    Scratch<std::uint32_t> starts_, ends_;
    std::size_t count_ = 0;
};

// Kept hashes with their spans, for a batch of texts: values, starts, ends, and offsets of the texts.
std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>, Output<std::int64_t>> winnow_texts(Bytes data, Offsets offsets, unsigned mode,
                                                                                                                   bool fold, unsigned ngram, const Seed& seed,
                                                                                                                   std::size_t window, unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    const TextOptions options = check_text(mode, fold, ngram, seed);
    check_window(window);
    check_workers(workers);
    struct Kept {
        std::vector<std::uint64_t> values;
        std::vector<std::uint32_t> starts, ends;
    };
    struct Place {  // where the kept hashes of a text lie: in which worker's lists, from where on, how many
        const Kept* lists = nullptr;
        std::size_t first = 0, count = 0;
    };
    Kept all;
    std::vector<std::int64_t> ends_of{0};
    {
        nb::gil_scoped_release release;
        std::vector<Place> places(texts.count());
        std::list<Kept> lists;  // one per worker
        std::mutex guard;
        for_each_document(texts.count(), workers, [&] {
            const std::lock_guard lock(guard);
            return [&, &kept = lists.emplace_back(), tokens = SpannedTokens(options), shingles = std::vector<std::uint64_t>(),
                    positions = std::vector<std::uint32_t>()](std::size_t i) mutable {
                tokens.run(texts[i]);
                const std::size_t count = tokens.count();
                if (count == 0) return;
                const unsigned n = static_cast<unsigned>(std::min<std::size_t>(options.ngram, count));
                shingles.resize(count - n + 1);
                options.hashing.shingles(tokens.hashes(), shingles.size(), n, shingles.data());
                winnow(shingles, window, positions);
                const std::size_t first = kept.values.size(), all_now = first + positions.size();
                places[i] = {&kept, first, positions.size()};
                kept.values.resize(all_now);
                kept.starts.resize(all_now);
                kept.ends.resize(all_now);
                for (std::size_t k = 0; k < positions.size(); ++k) kept.values[first + k] = shingles[positions[k]];
                for (std::size_t k = 0; k < positions.size(); ++k) kept.starts[first + k] = tokens.start(positions[k]);
                for (std::size_t k = 0; k < positions.size(); ++k) kept.ends[first + k] = tokens.end(positions[k] + n - 1);
            };
        });
        for (const Place& place : places) ends_of.push_back(ends_of.back() + static_cast<std::int64_t>(place.count));
        if (lists.size() == 1) {
            all = std::move(lists.front());  // one worker took the texts in order
        } else {
            for (const Place& place : places) {
                if (place.count == 0) continue;
                const auto append = [&](auto& to, const auto& from) {
                    const auto first = from.begin() + static_cast<std::ptrdiff_t>(place.first);
                    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(place.count));
                };
                append(all.values, place.lists->values);
                append(all.starts, place.lists->starts);
                append(all.ends, place.lists->ends);
            }
        }
    }
    return {give(std::move(all.values)), give(std::move(all.starts)), give(std::move(all.ends)), give(std::move(ends_of))};
}

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
    nb::gil_scoped_release release;
    return as_tuples(shared_runs(left, right, ngram));
}

void check_tokens(const Hashes& left, const Hashes& right) {
    if (left.size() > kMaxText || right.size() > kMaxText) throw nb::value_error("a text of more than 4 Gi tokens: split it");
}

// Runs that stand on both sides in the same order.
Runs align_tokens(Hashes left, Hashes right, Input<std::uint32_t> sizes) {
    check_tokens(left, right);
    if (sizes.size() != 0 && sizes.size() != left.size()) throw nb::value_error("sizes: expected one for each token of the left side, or none");
    nb::gil_scoped_release release;
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
    nb::gil_scoped_release release;
    return as_tuples(moved_runs(view(left), view(right), runs, shortest));
}

}  // namespace
}  // namespace lookalike

void bind_passages(nb::module_& m) {
    using namespace lookalike;
    using namespace nb::literals;
    m.def("winnow_shingles", &winnow_shingles, "shingles"_a.noconvert(), "window"_a);
    m.def("winnow_texts", &winnow_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "window"_a, "workers"_a);
    m.def("passages", &passages, "left_tokens"_a.noconvert(), "left_values"_a.noconvert(), "left_positions"_a.noconvert(), "right_tokens"_a.noconvert(),
          "right_values"_a.noconvert(), "right_positions"_a.noconvert(), "ngram"_a);
    m.def("align_tokens", &align_tokens, "left"_a.noconvert(), "right"_a.noconvert(), "sizes"_a.noconvert());
    m.def("moved_tokens", &moved_tokens, "left"_a.noconvert(), "right"_a.noconvert(), "kept"_a, "shortest"_a);
}
