#include "rows/reading.hpp"

#include <algorithm>

#include "base/row_check.hpp"

namespace lookalike {
namespace {

constexpr int kMisuse = 21;  // SQLITE_MISUSE

template <class... Each>
struct Either : Each... {
    using Each::operator()...;
};
template <class... Each>
Either(Each...) -> Either<Each...>;  // older compilers do not see it by themselves

// Resets a statement whatever happens, unless it is to go on: until then its transaction does.
class Ending {
   public:
    explicit Ending(SqliteStatement& statement) : statement_(&statement) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() {
        if (statement_ != nullptr) statement_->reset();
    }
    void go_on() { statement_ = nullptr; }

   private:
    SqliteStatement* statement_;
};

}  // namespace

void ReadRows::add(const SqliteStatement& from) {
    width_ = static_cast<std::size_t>(from.columns());
    for (int column = 0; column < static_cast<int>(width_); ++column) {
        Value value{from.type(column), 0, 0, 0};
        if (value.type == kSqliteInteger) {
            value.number = from.number(column);
        } else if (value.type == kSqliteFloat) {
            value.real = from.real(column);
        } else if (value.type != kSqliteNull) {
            const std::string_view bytes = value.type == kSqliteText ? from.text(column) : from.blob(column);
            value.number = static_cast<std::int64_t>(bytes_.size());
            value.size = bytes.size();
            bytes_.append(bytes);
        }
        values_.push_back(value);
    }
}

void ReadRows::clear() {
    values_.clear();
    if (bytes_.capacity() > 2 * kPieceBytes) {
        bytes_ = {};  // of a long text: nobody needs so much soon
    } else {
        bytes_.clear();
    }
}

bool ReadRows::are_whole(std::span<const std::size_t> places, bool all_checked) const {
    for (std::size_t row = 0; row < count(); ++row) {
        if (!is_whole(row, places, all_checked)) return false;
    }
    return true;
}

bool ReadRows::is_whole(std::size_t row, std::span<const std::size_t> places, bool all_checked) const {
    if (width_ != places.size() + 2 || value(row, 0).type != kSqliteInteger) return false;
    const Value& checks = value(row, width_ - 1);
    if (checks.type == kSqliteNull) return !all_checked;
    if (checks.type != kSqliteBlob) return false;
    const std::string_view stored = bytes(checks);
    const std::int64_t number = value(row, 0).number;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Value& of = value(row, i + 1);
        if (of.type == kSqliteFloat) return false;
        const std::string_view own = bytes(of);
        const std::uint32_t check = of.type == kSqliteNull      ? 0
                                    : of.type == kSqliteInteger ? row_check(of.number, number)
                                                                : row_check(own.data(), own.size(), number);
        if (check != stored_check(stored.data(), stored.size(), places[i])) return false;
    }
    return true;
}

const SqliteConnection& ReadConnection::connection() const {
    if (!connection_) throw SqliteError(kMisuse, "the connection is closed");
    return *connection_;
}

void ReadConnection::require(bool fine) const {
    if (!fine) throw connection().error();
}

ReadConnection::Kept& ReadConnection::prepared(const std::string& sql) {
    auto found = std::ranges::find_if(kept_, [&](const Kept& kept) { return kept.run == 0 && kept.sql == sql; });
    if (found == kept_.end()) {
        if (kept_.size() >= kMostKept) {
            const auto oldest = std::find_if(kept_.rbegin(), kept_.rend(), [](const Kept& kept) { return kept.run == 0; });
            if (oldest != kept_.rend()) kept_.erase(std::next(oldest).base());
        }
        found = kept_.insert(kept_.end(), Kept{sql, connection().prepare(sql)});
    }
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
}

ReadConnection::Kept* ReadConnection::running(Run run) {
    const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) { return run != 0 && kept.run == run; });
    return found == kept_.end() ? nullptr : &*found;
}

bool ReadConnection::fill(SqliteStatement& statement, ReadRows& found) {
    while (!found.is_piece()) {
        const Turn turn(sqlite_turns(), this);
        const int result = statement.step();
        if (result == kSqliteDone) return false;
        require(result == kSqliteRow);
        found.add(statement);
    }
    return true;
}

void ReadConnection::run(const std::string& sql) {
    SqliteStatement& statement = *prepared(sql).statement;
    const Ending ending(statement);
    require(statement.step() == kSqliteDone);
}

void ReadConnection::begin() {
    const std::lock_guard turn(turns_);
    run("BEGIN");
}

void ReadConnection::end() {
    const std::lock_guard turn(turns_);
    for (Kept& kept : kept_) {
        if (std::exchange(kept.run, 0) != 0) kept.statement->reset();
    }
    if (connection().in_transaction()) run("ROLLBACK");
}

void ReadConnection::close() {
    const std::lock_guard turn(turns_);
    kept_.clear();
    connection_.reset();
}

ReadConnection::Run ReadConnection::start(const std::string& sql, std::span<const ReadParameter> parameters, ReadRows& found) {
    const std::lock_guard turn(turns_);
    Kept& kept = prepared(sql);
    SqliteStatement& statement = *kept.statement;
    Ending ending(statement);
    if (statement.parameters() != static_cast<int>(parameters.size())) throw SqliteError(kMisuse, "a statement has another number of parameters");
    int place = 0;
    for (const ReadParameter& parameter : parameters) {
        ++place;
        require(std::visit(
            Either{[&](std::monostate) { return statement.bind_nothing(place); }, [&](std::int64_t number) { return statement.bind(place, number); },
                   [&](double number) { return statement.bind(place, number); }, [&](const ReadText& text) { return statement.bind_text(place, text.utf8); },
                   [&](const ReadBytes& bytes) { return statement.bind_bytes(place, bytes.bytes); }},
            parameter));
    }
    if (!fill(statement, found)) return 0;
    ending.go_on();
    return kept.run = ++last_;
}

ReadConnection::Run ReadConnection::more(Run run, ReadRows& found) {
    const std::lock_guard turn(turns_);
    Kept* const kept = running(run);
    if (kept == nullptr) throw SqliteError(kMisuse, "the reading has ended");
    Ending ending(*kept->statement);
    kept->run = 0;
    if (!fill(*kept->statement, found)) return 0;
    ending.go_on();
    return kept->run = run;
}

void ReadConnection::stop(Run run) {
    const std::lock_guard turn(turns_);
    if (Kept* const kept = running(run)) {
        kept->statement->reset();
        kept->run = 0;
    }
}

std::size_t ReadConnection::each(const std::string& sql, std::span<const std::int64_t> numbers, ReadRows& found) {
    const std::lock_guard turn(turns_);
    SqliteStatement& statement = *prepared(sql).statement;
    std::size_t done = 0;
    for (; done < numbers.size() && !found.is_piece(); ++done) {
        const Ending ending(statement);
        require(statement.bind(1, numbers[done]));
        const Turn reading(sqlite_turns(), this);
        int result = kSqliteRow;
        while ((result = statement.step()) == kSqliteRow) found.add(statement);
        require(result == kSqliteDone);
    }
    return done;
}

}  // namespace lookalike
