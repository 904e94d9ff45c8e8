#include "word_mover/word_mover_search.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/parallel.hpp"
#include "word_mover/ground_distance.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kSolvedTogether = 32;  // between two looks at the bound: fixed, so that counts do not depend on threads
constexpr std::size_t kCentroidsTogether = 256;
constexpr std::size_t kMaxKeptCells = std::size_t{1} << 26;  // 256 MiB of distances between words; beyond, they are made again when needed
constexpr double kRounding = 1e-9;                           // between two ways to add up the same distances

class Search {
   public:
    Search(const Collection& collection, std::span<const float> query, Counts query_counts, std::size_t k, unsigned workers)
        : collection_(collection), query_(query), counts_(query_counts), k_(k), workers_(workers) {}

    NearestFound run() {
        bound_by_centroids();
        const std::size_t first = std::min(k_, candidates_.size());
        std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(first), candidates_.end());
        solve(std::span(candidates_).first(first));
        candidates_.erase(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(first));
        found_.by_centroid = drop([&](double bound) { return bound > farthest() + collection_.slack; });
        keep_distances();
        bound_by_relaxation();
        const auto too_far = [&](double bound) { return bound > farthest() * (1 + kRounding); };
        found_.by_relaxed = drop(too_far);
        std::sort(candidates_.begin(), candidates_.end());
        std::size_t next = 0;
        while (next < candidates_.size() && !too_far(candidates_[next].distance)) {
            const std::size_t count = std::min(kSolvedTogether, candidates_.size() - next);
            solve(std::span(candidates_).subspan(next, count));
            next += count;
        }
        found_.by_relaxed += candidates_.size() - next;
        return std::move(found_);
    }

   private:
    static constexpr std::uint32_t kNoRow = 0xFFFFFFFF;

    void bound_by_centroids() {
        const std::vector<float> middle = centroid(query_.data(), counts_, collection_.dimensions);
        std::vector<float> bounds(collection_.size());
        const std::size_t blocks = (bounds.size() + kCentroidsTogether - 1) / kCentroidsTogether;
        for_each_document(blocks, workers_, [&] {
            return [&](std::size_t block) {
                const std::size_t begin = block * kCentroidsTogether, count = std::min(kCentroidsTogether, bounds.size() - begin);
                ground_distances(middle.data(), 1, collection_.centroids.data() + begin * collection_.dimensions, count, collection_.dimensions,
                                 bounds.data() + begin);
            };
        });
        for (std::uint32_t text = 0; text < bounds.size(); ++text) {
            if (collection_.offsets[text] < collection_.offsets[text + 1]) candidates_.push_back({bounds[text], text});
        }
        found_.texts = candidates_.size();
    }

    // Relaxed distances in the place of distances of centroids.
    void bound_by_relaxation() {
        for_each_document(candidates_.size(), workers_, [&] {
            return [&, cells = std::vector<float>()](std::size_t place) mutable {
                NearText& candidate = candidates_[place];
                const Ground ground = distances(candidate.text, cells);
                candidate.distance = relaxed_distance(counts_, collection_.of(candidate.text, collection_.counts), ground);
            };
        });
    }

    void solve(std::span<const NearText> texts) {
        std::vector<NearText> solved(texts.begin(), texts.end());
        for_each_document(solved.size(), workers_, [&] {
            return [&, cells = std::vector<float>(), mover = WordMover()](std::size_t place) mutable {
                const Ground ground = distances(solved[place].text, cells);
                solved[place].distance = mover.distance(counts_, collection_.of(solved[place].text, collection_.counts), ground);
            };
        });
        found_.solved += solved.size();
        found_.nearest.insert(found_.nearest.end(), solved.begin(), solved.end());
        std::sort(found_.nearest.begin(), found_.nearest.end());
        if (found_.nearest.size() > k_) found_.nearest.resize(k_);
    }

    double farthest() const { return found_.nearest.size() < k_ ? std::numeric_limits<double>::infinity() : found_.nearest.back().distance; }

    template <class TooFar>
    std::size_t drop(TooFar&& too_far) {
        return std::erase_if(candidates_, [&](const NearText& candidate) { return too_far(candidate.distance); });
    }

    // Texts share words: the distances of each word to those of the query are made once.
    void keep_distances() {
        std::vector<std::uint32_t> needed;
        kept_rows_.assign(collection_.vectors.size() / collection_.dimensions, kNoRow);
        for (const NearText& candidate : candidates_) {
            for (const std::uint32_t word : collection_.of(candidate.text, collection_.words)) {
                if (kept_rows_[word] != kNoRow) continue;
                if ((needed.size() + 1) * counts_.size() > kMaxKeptCells) break;
                kept_rows_[word] = static_cast<std::uint32_t>(needed.size());
                needed.push_back(word);
            }
        }
        kept_.resize(needed.size() * counts_.size());
        for_each_document(needed.size(), workers_, [&] { return [&](std::size_t row) { make_distances(needed[row], kept_.data() + row * counts_.size()); }; });
    }

    void make_distances(std::uint32_t word, float* out) const {
        ground_distances(collection_.vectors.data() + word * collection_.dimensions, 1, query_.data(), counts_.size(), collection_.dimensions, out);
    }

    // A row a word of the text, a column a word of the query.
    Ground distances(std::uint32_t text, std::vector<float>& cells) const {
        const std::span<const std::uint32_t> words = collection_.of(text, collection_.words);
        const std::size_t width = counts_.size();
        cells.resize(words.size() * width);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::uint32_t row = kept_rows_.empty() ? kNoRow : kept_rows_[words[i]];
            if (row == kNoRow) {
                make_distances(words[i], cells.data() + i * width);
            } else {
                std::memcpy(cells.data() + i * width, kept_.data() + row * width, width * sizeof(float));
            }
        }
        return {cells.data(), 1, width};
    }

    const Collection& collection_;
    std::span<const float> query_;
    Counts counts_;
    std::size_t k_;
    unsigned workers_;
    std::vector<NearText> candidates_;  // with the best bound known
    std::vector<float> kept_;
    std::vector<std::uint32_t> kept_rows_;
    NearestFound found_;
};

}  // namespace

NearestFound nearest_texts(const Collection& collection, std::span<const float> query, Counts query_counts, std::size_t k, unsigned workers) {
    return Search(collection, query, query_counts, k, workers).run();
}

}  // namespace lookalike
