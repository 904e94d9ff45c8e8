#include "rows/near.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "base/row_check.hpp"
#include "rows/acknowledged.hpp"
#include "sketch/verify.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kMostRows = 4096;                     // that are held at once; more of them are for the long way
enum : int { kId = 0, kText = 1, kMeta = 2, kChecks = 3 };  // columns of a row
enum : int { kDocuments = 0, kNextRow, kSealedRow, kGeneration, kVersion, kChanges, kStore, kChain, kBefore };  // of the state
enum : int { kNewRow = 0, kNewDigest, kNewBands, kNewChecks };                                                  // of a row that was added
enum : int { kRemoval = 0, kRemovedRow };                                                                       // of one that was removed
constexpr std::size_t kIdCheck = 0, kDigestCheck = 2, kTextCheck = 3, kMetaCheck = 4, kBandsCheck = 5;
constexpr std::int64_t kMostTail = 256;  // documents that are compared one by one, and as many that are left out

bool has_bytes(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && status.st_size > 0;
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
    explicit Reading(StoredRows& stored) : stored_(stored) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { stored_.end(); }

   private:
    StoredRows& stored_;
};

// The groups of a tail that share a key with the query, with at most `most` rows each. Returns how many there are.
std::size_t tail_groups(const NearTail& tail, std::span<const std::uint32_t> keys, std::size_t most, std::vector<NearGroup>& found) {
    const std::size_t before = found.size();
    for (std::size_t i = 0; i < tail.rows.size(); ++i) {
        const std::uint32_t* const own = tail.keys.data() + i * keys.size();
        std::uint16_t shared = 0;
        for (std::size_t band = 0; band < keys.size(); ++band) shared = static_cast<std::uint16_t>(shared + (own[band] == keys[band]));
        if (shared == 0) continue;
        const auto same = std::find_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                                       [&](const NearGroup& group) { return group.digest == tail.digests[i]; });
        if (same == found.end()) {
            found.push_back({shared, tail.digests[i], 1, {tail.rows[i]}});
        } else {
            ++same->size;
            if (same->rows.size() < most) same->rows.push_back(tail.rows[i]);
        }
    }
    return found.size() - before;
}

}  // namespace

void NearTail::remove(std::size_t place, std::size_t bands) {
    const auto at = static_cast<std::ptrdiff_t>(place), first = static_cast<std::ptrdiff_t>(place * bands);
    rows.erase(rows.begin() + at);
    digests.erase(digests.begin() + at);
    keys.erase(keys.begin() + first, keys.begin() + first + static_cast<std::ptrdiff_t>(bands));
}

bool NearState::is_of_now() const {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    return since <= now && now < until;
}

bool NearState::files_are_whole() const {
    return std::ranges::none_of(files, [](const MappedFile* file) { return file->changed(); });
}

std::shared_ptr<const NearTail> StoredRows::begin(const NearState& known, std::shared_ptr<const NearTail> tail, std::size_t bands) {
    if (!known.is_of_now() || (!log_.empty() && has_bytes(log_))) return nullptr;
    // The record first: the database is never behind it.
    const std::optional<Acknowledged> last = read_acknowledged(known.record_path);
    if (!last || !state_->first(known.collection)) return nullptr;
    for (int column = kDocuments; column <= kChanges; ++column) {
        if (state_->type(column) != kSqliteInteger) return nullptr;
    }
    if (state_->text(kStore) != known.store) return nullptr;
    if (!last->is_in(known.store, static_cast<std::uint64_t>(state_->number(kChanges)), state_->blob(kChain), state_->blob(kBefore))) return nullptr;
    if (state_->number(kSealedRow) != known.sealed_row || state_->number(kGeneration) != known.generation) return nullptr;
    const std::int64_t documents = state_->number(kDocuments), next_row = state_->number(kNextRow), version = state_->number(kVersion);
    if (documents == tail->documents && next_row == tail->next_row && version == tail->version) return tail;
    // Rows are never used twice: each was added, and what there are fewer documents than rows was removed.
    const std::int64_t added = next_row - tail->next_row, removed = added - (documents - tail->documents);
    if (added < 0 || removed < 0 || version <= tail->version) return nullptr;
    if (added > kMostTail - static_cast<std::int64_t>(tail->rows.size()) || removed > kMostTail - static_cast<std::int64_t>(tail->removed.size()))
        return nullptr;
    auto made = std::make_shared<NearTail>(*tail);
    made->documents = documents;
    made->version = version;
    const bool whole = remove_rows(known, bands, removed, *made) && add_rows(known, bands, next_row, *made);
    return whole ? std::move(made) : nullptr;
}

bool StoredRows::remove_rows(const NearState& known, std::size_t bands, std::int64_t count, NearTail& tail) {
    if (count == 0) return true;
    for (bool more = removed_->first(known.collection, tail.last_removal); more; more = removed_->next(), --count) {
        tail.last_removal = removed_->number(kRemoval);
        const std::int64_t row = removed_->number(kRemovedRow);
        const auto place = std::ranges::lower_bound(tail.rows, row);
        if (place != tail.rows.end() && *place == row) tail.remove(static_cast<std::size_t>(place - tail.rows.begin()), bands);
        tail.removed.insert(std::ranges::upper_bound(tail.removed, row), row);
    }
    return count == 0;
}

bool StoredRows::add_rows(const NearState& known, std::size_t bands, std::int64_t end, NearTail& tail) {
    if (tail.next_row == end) return true;
    if (!expiring_ || expiring_->first(known.first_row + tail.next_row, known.first_row + end)) return false;
    const auto skip_removed = [&] {
        while (tail.next_row < end && std::ranges::binary_search(tail.removed, tail.next_row)) ++tail.next_row;
    };
    bool more = rows_->first(known.first_row + tail.next_row, known.first_row + end);
    for (skip_removed(); more; more = rows_->next(), ++tail.next_row, skip_removed()) {
        const std::string_view checks = rows_->blob(kNewChecks), keys = rows_->blob(kNewBands);
        const auto check = [&](std::size_t place) { return stored_check(checks.data(), checks.size(), place); };
        const std::int64_t row = rows_->number(kNewRow) - known.first_row;
        if (row != tail.next_row) return false;
        const bool has_digest = rows_->type(kNewDigest) == kSqliteInteger, has_keys = rows_->type(kNewBands) == kSqliteBlob;
        if (check(kDigestCheck) != (has_digest ? row_check(rows_->number(kNewDigest), row) : 0)) return false;
        if (check(kBandsCheck) != (has_keys ? row_check(keys.data(), keys.size(), row) : 0)) return false;
        if (!has_keys && rows_->type(kNewBands) == kSqliteNull) continue;  // there is nothing to find it by
        if (!has_digest || keys.size() != bands * sizeof(std::uint32_t)) return false;
        tail.rows.push_back(row);
        tail.digests.push_back(static_cast<std::uint64_t>(rows_->number(kNewDigest)));
        tail.keys.resize(tail.keys.size() + bands);
        std::memcpy(tail.keys.data() + tail.keys.size() - bands, keys.data(), keys.size());
    }
    return tail.next_row == end;
}

NearFound NearSearcher::run(std::span<const std::uint8_t> utf8, const NearState& known, std::shared_ptr<const NearTail>& tail, StoredRows& stored,
                            double threshold, std::size_t limit) {
    const Reading reading(stored);
    std::shared_ptr<const NearTail> now = stored.begin(known, tail, options_.bands);
    if (!now) return {NearFound::Answer::kChanged, 0, 0, {}};
    tail = std::move(now);
    // A file that is cut or overwritten misleads: before a search, so that it does not run into it, and after one, so that it does not count.
    if (!known.files_are_whole()) return {NearFound::Answer::kUnfit, 0, 0, {}};
    NearFound found = search(utf8, known, *tail, stored, threshold, limit);
    return known.files_are_whole() ? std::move(found) : NearFound{NearFound::Answer::kUnfit, 0, 0, {}};
}

NearFound NearSearcher::search(std::span<const std::uint8_t> utf8, const NearState& known, const NearTail& tail, StoredRows& stored, double threshold,
                               std::size_t limit) {
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
    for (const BandTables* tables : known.tables)
        candidates += near_groups(*tables, keys_.data(), options_.most_candidates, limit, {known.removed, tail.removed}, groups_);
    candidates += tail_groups(tail, keys_, limit, groups_);
    if (groups_.empty()) return {NearFound::Answer::kFound, candidates, 0, {}};
    if (known.tables.size() > 1 || !tail.rows.empty())
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
