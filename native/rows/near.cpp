#include "rows/near.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/row_check.hpp"
#include "sketch/verify.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kMostRows = 4096;                     // that are held at once; more of them are for the long way
enum : int { kId = 0, kText = 1, kMeta = 2, kChecks = 3 };  // columns of a row
constexpr std::size_t kIdCheck = 0, kTextCheck = 3, kMetaCheck = 4;

bool file_holds(const std::string& path, const std::string& expected) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char data[2048];
    const ssize_t size = read(file, data, sizeof data);
    close(file);
    return size == static_cast<ssize_t>(expected.size()) && std::memcmp(data, expected.data(), expected.size()) == 0;
}

// A row as it was written; nothing where it is not, or is none that this can read.
std::optional<NearMatch> read_row(SqliteStatement& from, std::int64_t row) {
    const std::string_view checks = from.blob(kChecks);
    const auto is_as_written = [&](std::uint32_t check, std::size_t place) { return check == stored_check(checks.data(), checks.size(), place); };
    NearMatch made{row, 0, std::int64_t{0}, {}, std::nullopt};
    if (from.type(kText) != kSqliteText) return std::nullopt;
    const std::string_view text = from.text(kText);
    if (!is_as_written(row_check(text.data(), text.size(), row), kTextCheck)) return std::nullopt;
    made.text = text;
    if (from.type(kId) == kSqliteInteger) {
        made.id = from.number(kId);
        if (!is_as_written(row_check(from.number(kId), row), kIdCheck)) return std::nullopt;
    } else if (from.type(kId) == kSqliteText) {
        const std::string_view id = from.text(kId);
        if (!is_as_written(row_check(id.data(), id.size(), row), kIdCheck)) return std::nullopt;
        made.id = std::string(id);
    } else {
        return std::nullopt;
    }
    if (from.type(kMeta) == kSqliteText) {
        const std::string_view meta = from.text(kMeta);
        if (!is_as_written(row_check(meta.data(), meta.size(), row), kMetaCheck)) return std::nullopt;
        made.meta = meta;
    } else if (from.type(kMeta) != kSqliteNull || !is_as_written(0, kMetaCheck)) {
        return std::nullopt;
    }
    return made;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// From the beginning of a reading to its end.
class Reading {
   public:
    Reading(StoredRows& stored, const NearState& known) : stored_(stored), holds_(stored.begin(known)) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { stored_.end(); }
    bool holds() const { return holds_; }

   private:
    StoredRows& stored_;
    bool holds_;
};

}  // namespace

bool StoredRows::begin(const NearState& known) {
    // The record first: the database is never behind it.
    if (!file_holds(known.record_path, known.record) || !state_->first(known.collection)) return false;
    for (std::size_t i = 0; i < known.numbers.size(); ++i) {
        if (state_->type(static_cast<int>(i)) != kSqliteInteger || state_->number(static_cast<int>(i)) != known.numbers[i]) return false;
    }
    return state_->blob(static_cast<int>(known.numbers.size())) == known.chain;
}

NearFound NearSearcher::run(std::span<const std::uint8_t> utf8, const NearState& known, StoredRows& stored, double threshold, std::size_t limit) {
    const Reading reading(stored, known);
    if (!reading.holds()) return {NearFound::Answer::kChanged, 0, 0, {}};
    features_.clear();
    hasher_.start(values_.data());
    shingler_.run(utf8, [&](const std::uint64_t* plain, const std::uint64_t* secret, std::size_t count) {
        hasher_.add(plain, count);
        features_.insert(features_.end(), secret, secret + count);
    });
    hasher_.finish();
    band_keys(values_, options_.size, options_.bands, options_.rows, keys_.data());
    groups_.clear();
    std::size_t candidates = 0;
    for (const BandTables* tables : known.tables) candidates += near_groups(*tables, keys_.data(), options_.most_candidates, limit, known.removed, groups_);
    if (groups_.empty()) return {NearFound::Answer::kFound, candidates, 0, {}};
    if (known.tables.size() > 1)
        std::ranges::sort(groups_, [](const NearGroup& a, const NearGroup& b) { return a.shared != b.shared ? a.shared > b.shared : a.rows[0] < b.rows[0]; });
    if (groups_.size() > options_.most_candidates) groups_.resize(options_.most_candidates);
    return verified(known, stored, threshold, limit, candidates);
}

NearFound NearSearcher::verified(const NearState& known, StoredRows& stored, double threshold, std::size_t limit, std::size_t candidates) {
    NearFound unfit{NearFound::Answer::kUnfit, 0, 0, {}};
    std::size_t held = 0;
    for (const NearGroup& group : groups_) held += group.rows.size();
    if (held > kMostRows) return unfit;
    FeatureTable table(features_);
    NearFound found{NearFound::Answer::kFound, candidates, 0, {}};
    for (const NearGroup& group : groups_) {
        const std::size_t first = found.matches.size();
        for (const std::int64_t row : group.rows) {
            if (!stored.row().first(known.first_row + row)) return unfit;
            std::optional<NearMatch> read = read_row(stored.row(), row);
            if (!read) return unfit;
            // Copies are compared once. Digests say which documents are copies, and digests can be forged: so the texts say it.
            const auto same = std::find_if(found.matches.begin() + static_cast<std::ptrdiff_t>(first), found.matches.end(),
                                           [&](const NearMatch& other) { return other.text == read->text; });
            if (same != found.matches.end()) {
                read->score = same->score;
            } else {
                table.start_text();
                verifier_.run(bytes_of(read->text),
                              [&](const std::uint64_t*, const std::uint64_t* features, std::size_t count) { table.add(features, count); });
                const Overlap overlap = table.overlap();
                const std::size_t both = table.query_size() + overlap.size - overlap.common;
                read->score = both == 0 ? 1.0 : static_cast<double>(overlap.common) / static_cast<double>(both);
            }
            // Documents of one group that are not equally alike: somebody forged a digest.
            if (found.matches.size() > first && read->score != found.matches[first].score) return unfit;
            found.matches.push_back(std::move(*read));
        }
        if (found.matches[first].score >= threshold) {
            found.total += group.size;
        } else if (group.size != group.rows.size()) {
            return unfit;  // those that were not read may have been forged
        } else {
            found.matches.erase(found.matches.begin() + static_cast<std::ptrdiff_t>(first), found.matches.end());
        }
    }
    const auto better = [](const NearMatch& a, const NearMatch& b) { return a.score != b.score ? a.score > b.score : a.row < b.row; };
    std::ranges::sort(found.matches, better);
    if (found.matches.size() > limit) found.matches.erase(found.matches.begin() + static_cast<std::ptrdiff_t>(limit), found.matches.end());
    return found;
}

}  // namespace lookalike
