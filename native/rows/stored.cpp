#include "rows/stored.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/row_check.hpp"

namespace lookalike {
namespace {

enum : int { kId = 0, kText = 1, kMeta = 2, kChecks = 3 };                                                      // columns of a row
enum : int { kDocuments = 0, kNextRow, kSealedRow, kGeneration, kVersion, kChanges, kStore, kChain, kBefore };  // of the state
enum : int { kNewRow = 0, kNewDigest, kNewBands, kNewChecks };                                                  // of a row that was added
enum : int { kNewSimhash = 1, kSimhashChecks };                                                                 // the same by SimHash
enum : int { kRemoval = 0, kRemovedRow };                                                                       // of one that was removed
constexpr std::size_t kIdCheck = 0, kSimhashCheck = 1, kDigestCheck = 2, kTextCheck = 3, kMetaCheck = 4, kBandsCheck = 5;
constexpr std::int64_t kMostTail = 256;  // documents that are compared one by one, and as many that are left out

bool has_bytes(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 && status.st_size > 0;
}

// Resets a statement when it was used: until then the transaction goes on.
class Used {
   public:
    explicit Used(SqliteStatement& statement) : statement_(statement) {}
    Used(const Used&) = delete;
    Used& operator=(const Used&) = delete;
    ~Used() { statement_.reset(); }

   private:
    SqliteStatement& statement_;
};

// The checks of a row that was read.
class Checks {
   public:
    Checks(SqliteStatement& from, int column, std::int64_t row) : from_(from), stored_(from.blob(column)), row_(row) {}

    // Whether a value is what was written: a number, a text or bytes, or nothing at all.
    bool hold(int column, std::size_t place) const { return stored_check(stored_.data(), stored_.size(), place) == check(column); }

   private:
    std::uint32_t check(int column) const {
        switch (from_.type(column)) {
            case kSqliteNull: return 0;
            case kSqliteInteger: return row_check(from_.number(column), row_);
            case kSqliteText: {
                const std::string_view text = from_.text(column);
                return row_check(text.data(), text.size(), row_);
            }
            default: {
                const std::string_view bytes = from_.blob(column);
                return row_check(bytes.data(), bytes.size(), row_);
            }
        }
    }

    SqliteStatement& from_;
    std::string_view stored_;
    std::int64_t row_;
};

void push_keys(std::string_view bytes, Tail& tail) {
    const std::size_t before = tail.keys.size();
    tail.keys.resize(before + bytes.size() / sizeof(std::uint32_t));
    std::memcpy(tail.keys.data() + before, bytes.data(), bytes.size());
}

// Takes what a row that was added is searched by, unless it has nothing of the kind. Whether it is what was written.
bool take_near(SqliteStatement& from, std::int64_t row, std::size_t width, Tail& tail) {
    const Checks checks(from, kNewChecks, row);
    if (!checks.hold(kNewDigest, kDigestCheck) || !checks.hold(kNewBands, kBandsCheck)) return false;
    if (from.type(kNewBands) == kSqliteNull) return true;
    const std::string_view keys = from.blob(kNewBands);
    if (from.type(kNewDigest) != kSqliteInteger || from.type(kNewBands) != kSqliteBlob || keys.size() != width * sizeof(std::uint32_t)) return false;
    tail.rows.push_back(row);
    tail.numbers.push_back(static_cast<std::uint64_t>(from.number(kNewDigest)));
    push_keys(keys, tail);
    return true;
}

bool take_simhash(SqliteStatement& from, std::int64_t row, std::size_t width, Tail& tail) {
    const Checks checks(from, kSimhashChecks, row);
    if (!checks.hold(kNewSimhash, kSimhashCheck)) return false;
    if (from.type(kNewSimhash) == kSqliteNull) return true;
    if (width == 0) {
        if (from.type(kNewSimhash) != kSqliteInteger) return false;
        tail.numbers.push_back(static_cast<std::uint64_t>(from.number(kNewSimhash)));
    } else {
        const std::string_view halves = from.blob(kNewSimhash);
        if (from.type(kNewSimhash) != kSqliteBlob || halves.size() != width * sizeof(std::uint32_t)) return false;
        tail.numbers.push_back(0);
        push_keys(halves, tail);
    }
    tail.rows.push_back(row);
    return true;
}

}  // namespace

void Tail::remove(std::size_t place) {
    const std::size_t width = keys.size() / rows.size();
    const auto at = static_cast<std::ptrdiff_t>(place), first = static_cast<std::ptrdiff_t>(place * width);
    rows.erase(rows.begin() + at);
    numbers.erase(numbers.begin() + at);
    keys.erase(keys.begin() + first, keys.begin() + first + static_cast<std::ptrdiff_t>(width));
}

bool KnownState::is_of_now() const {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    return since <= now && now < until;
}

bool KnownState::files_are_whole() const {
    return std::ranges::none_of(files, [](const MappedFile* file) { return file->changed(); });
}

const StoredRows::State* StoredRows::state(std::int64_t collection) {
    // Who takes a database for immutable sees one state of it, as long as the connection lives.
    if (is_immutable() && seen_ && seen_->collection == collection) return &*seen_;
    seen_.reset();
    const Turn turn(sqlite_turns(), this);
    if (!state_->first(collection)) return nullptr;
    for (int column = kDocuments; column <= kChanges; ++column) {
        if (state_->type(column) != kSqliteInteger) return nullptr;
    }
    const auto number = [&](int column) { return state_->number(column); };
    seen_ = State{collection,
                  number(kDocuments),
                  number(kNextRow),
                  number(kSealedRow),
                  number(kGeneration),
                  number(kVersion),
                  static_cast<std::uint64_t>(number(kChanges)),
                  std::string(state_->text(kStore)),
                  std::string(state_->blob(kChain)),
                  std::string(state_->blob(kBefore))};
    if (is_immutable()) state_->reset();
    return &*seen_;
}

void StoredRows::end() {
    if (is_immutable()) return;  // nothing goes on
    const Turn turn(sqlite_turns(), this);
    state_->reset();
}

bool StoredRows::begin(const KnownState& known, std::shared_ptr<const Tail>& tail, SearchedBy by, std::size_t width) {
    if (!known.is_of_now() || (is_immutable() && has_bytes(log_))) return false;
    // The record first: the database is never behind it.
    const Acknowledged* const last = record_.read(known.record_path);
    const State* const now = last ? state(known.collection) : nullptr;
    if (!now || now->store != known.store || !last->is_in(known.store, now->changes, now->chain, now->before)) return false;
    if (now->sealed_row != known.sealed_row || now->generation != known.generation) return false;
    if (now->documents == tail->documents && now->next_row == tail->next_row && now->version == tail->version) return true;
    // Rows are never used twice: each was added, and what there are fewer documents than rows was removed.
    const std::int64_t added = now->next_row - tail->next_row, removed = added - (now->documents - tail->documents);
    if (added < 0 || removed < 0 || now->version <= tail->version) return false;
    if (added > kMostTail - static_cast<std::int64_t>(tail->rows.size()) || removed > kMostTail - static_cast<std::int64_t>(tail->removed.size())) return false;
    auto made = std::make_shared<Tail>(*tail);
    made->documents = now->documents;
    made->version = now->version;
    if (!remove_rows(known, removed, *made) || !add_rows(known, by, width, now->next_row, *made)) return false;
    tail = std::move(made);
    return true;
}

bool StoredRows::remove_rows(const KnownState& known, std::int64_t count, Tail& tail) {
    if (count == 0) return true;
    const Used used(*removed_);
    for (bool more = removed_->first(known.collection, tail.last_removal); more; more = removed_->next(), --count) {
        tail.last_removal = removed_->number(kRemoval);
        const std::int64_t row = removed_->number(kRemovedRow);
        const auto place = std::ranges::lower_bound(tail.rows, row);
        if (place != tail.rows.end() && *place == row) tail.remove(static_cast<std::size_t>(place - tail.rows.begin()));
        tail.removed.insert(std::ranges::upper_bound(tail.removed, row), row);
    }
    return count == 0;
}

bool StoredRows::add_rows(const KnownState& known, SearchedBy by, std::size_t width, std::int64_t end, Tail& tail) {
    if (tail.next_row == end) return true;
    if (!expiring_) return false;
    SqliteStatement& rows = by == SearchedBy::kNear ? *near_ : *simhash_;
    const Used used(*expiring_), also(rows);
    if (expiring_->first(known.first_row + tail.next_row, known.first_row + end)) return false;
    const auto skip_removed = [&] {
        while (tail.next_row < end && std::ranges::binary_search(tail.removed, tail.next_row)) ++tail.next_row;
    };
    bool more = rows.first(known.first_row + tail.next_row, known.first_row + end);
    for (skip_removed(); more; more = rows.next(), ++tail.next_row, skip_removed()) {
        const std::int64_t row = rows.number(kNewRow) - known.first_row;
        if (row != tail.next_row || !(by == SearchedBy::kNear ? take_near : take_simhash)(rows, row, width, tail)) return false;
    }
    return tail.next_row == end;
}

std::optional<StoredMatch> StoredRows::read(const KnownState& known, std::int64_t row) {
    const Turn turn(sqlite_turns(), this);
    SqliteStatement& from = *row_;
    const Used used(from);
    if (!from.first(known.first_row + row)) return std::nullopt;
    const Checks checks(from, kChecks, row);
    if (!checks.hold(kText, kTextCheck) || !checks.hold(kId, kIdCheck) || !checks.hold(kMeta, kMetaCheck)) return std::nullopt;
    StoredMatch made{row, 0, std::int64_t{0}, std::nullopt, std::nullopt};
    if (from.type(kId) == kSqliteInteger) {
        made.id = from.number(kId);
    } else if (from.type(kId) == kSqliteText) {
        made.id = std::string(from.text(kId));
    } else {
        return std::nullopt;
    }
    const auto take = [&](int column, std::optional<std::string>& value) {
        if (from.type(column) == kSqliteText) value = from.text(column);
        return value.has_value() || from.type(column) == kSqliteNull;
    };
    if (!take(kText, made.text) || !take(kMeta, made.meta)) return std::nullopt;
    return made;
}

}  // namespace lookalike
