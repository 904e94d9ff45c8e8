#include "sketch/shared_text.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/secret.hpp"
#include "text/unicode.hpp"

namespace lookalike {
namespace {

double share_of(const WinnowedText& side, std::vector<TextSpan> spans) {
    if (side.values.empty()) return 1.0;
    std::ranges::sort(spans);
    const auto [inside, all] = covered_characters(side.starts, side.ends, spans.size(), [&](std::size_t i) { return spans[i]; });
    return static_cast<double>(inside) / static_cast<double>(all);
}

}  // namespace

WinnowedText::WinnowedText(const TextOptions& options, std::span<const std::uint8_t> utf8, std::size_t window) {
    const Secret& secret = process_secret();
    Folder folder;
    folder.run(utf8, options.mode, options.fold, true);
    folder.for_each_token([&](std::size_t begin, std::size_t end) {
        tokens.push_back(secret.of(folder.bytes() + begin, end - begin));
        starts.push_back(folder.span_begin(begin));
        ends.push_back(folder.span_end(end - 1));
    });
    std::vector<std::uint64_t> shingles;
    TextShingler shingler(options);
    shingler.run(utf8, [&](const std::uint64_t* found, std::size_t count) { shingles.insert(shingles.end(), found, found + count); });
    winnow(shingles, window, positions);
    values.reserve(positions.size());
    for (const std::uint32_t position : positions) values.push_back(shingles[position]);
    if (!positions.empty() && positions.back() >= tokens.size()) throw std::logic_error("a text has other tokens when it is read again");
}

SharedText shared_text(const WinnowedText& left, const WinnowedText& right, unsigned ngram) {
    SharedText found{{}, 0.0, 0.0};
    std::vector<TextSpan> on_left, on_right;
    for (const SharedRun& run : shared_runs(left.anchors(), right.anchors(), ngram)) {
        on_left.emplace_back(left.starts[run.left], left.ends[run.left + run.length - 1]);
        on_right.emplace_back(right.starts[run.right], right.ends[run.right + run.length - 1]);
        found.passages.emplace_back(on_left.back(), on_right.back());
    }
    found.left = share_of(left, std::move(on_left));
    found.right = share_of(right, std::move(on_right));
    return found;
}

ShareBounds::ShareBounds(const WinnowedText& text, std::span<const TextSpan> skipped, std::size_t further)
    : text_(text), skipped_(skipped), further_(further), before_(text.tokens.size() + 1) {
    for (std::size_t i = 0; i < text.tokens.size(); ++i) before_[i + 1] = before_[i] + (text.ends[i] - text.starts[i]);
}

std::pair<double, double> ShareBounds::of(std::span<const TextSpan> spans) { return {share(spans, {}, 0), share(spans, skipped_, further_)}; }

double ShareBounds::share(std::span<const TextSpan> spans, std::span<const TextSpan> more, std::size_t further) {
    if (before_.back() == 0) return 1.0;
    const auto count = static_cast<std::int64_t>(text_.starts.size()), wider = static_cast<std::int64_t>(further);
    const auto place = [&](std::uint32_t at) { return std::ranges::lower_bound(text_.starts, at) - text_.starts.begin(); };
    places_.clear();
    for (const auto& some : {spans, more}) {
        for (const auto& [start, end] : some) places_.emplace_back(place(start) - wider, place(end) + wider);
    }
    std::ranges::sort(places_);
    std::uint64_t inside = 0;
    std::int64_t at = 0;
    for (auto [first, last] : places_) {
        first = std::max(at, first);
        last = std::min(last, count);
        if (last > first) {
            inside += before_[static_cast<std::size_t>(last)] - before_[static_cast<std::size_t>(first)];
            at = last;
        }
    }
    return static_cast<double>(inside) / static_cast<double>(before_.back());
}

}  // namespace lookalike
