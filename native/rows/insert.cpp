#include "rows/insert.hpp"

#include <algorithm>
#include <array>

#include "base/row_check.hpp"

namespace lookalike {
namespace {

constexpr unsigned char kUtf8 = 1;  // SQLITE_UTF8
constexpr char kEmpty[] = "";       // SQLite takes a null pointer for NULL
// No destructor, which is SQLITE_STATIC: values stay where they are until the row is inserted.
constexpr void (*kStays)(void*) = nullptr;

template <class... Each>
struct Either : Each... {
    using Each::operator()...;
};
template <class... Each>
Either(Each...) -> Either<Each...>;  // older compilers do not see it by themselves

std::uint32_t check_of(const ReadyValue& value, std::int64_t row) {
    return std::visit(Either{[](NoValue) { return std::uint32_t{0}; }, [&](std::int64_t number) { return row_check(number, row); },
                             [&](const Utf8Value& text) { return row_check(text.utf8.data(), text.utf8.size(), row); },
                             [&](const BytesValue& bytes) { return row_check(bytes.bytes.data(), bytes.bytes.size(), row); }},
                      value);
}

// A value that is hashed byte by byte; nothing for others.
const std::string_view* bytes_of(const ReadyValue& value) {
    if (const auto* text = std::get_if<Utf8Value>(&value)) return &text->utf8;
    const auto* bytes = std::get_if<BytesValue>(&value);
    return bytes ? &bytes->bytes : nullptr;
}

}  // namespace

// A column of rows that are checked and stored together: just before that, while all of it is near, texts become UTF-8.
class ReadyColumn {
   public:
    void take(const RowColumn& column, std::size_t first, std::size_t count) {
        count_ = count;
        for (std::size_t k = 0; k < count; ++k) values_[k] = ready(column, first + k, encoded_[k]);
    }
    const ReadyValue& operator[](std::size_t k) const { return values_[k]; }

    // Those of rows from `row` on, each behind `width` others.
    void check(std::int64_t row, std::uint32_t* checks, std::size_t width) const {
        std::array<std::string_view, kCheckedTogether> hashed;
        std::size_t found = 0;
        for (std::size_t k = 0; k < count_; ++k) {
            if (const std::string_view* bytes = bytes_of(values_[k])) hashed[found++] = *bytes;
        }
        if (found == kCheckedTogether) {
            const std::array<std::uint32_t, kCheckedTogether> all = row_checks(hashed, row);
            for (std::size_t k = 0; k < kCheckedTogether; ++k) checks[k * width] = all[k];
        } else {
            for (std::size_t k = 0; k < count_; ++k) checks[k * width] = check_of(values_[k], row + static_cast<std::int64_t>(k));
        }
    }

   private:
    static ReadyValue ready(const RowColumn& column, std::size_t i, std::vector<std::uint8_t>& buffer) {
        return std::visit(Either{[&](std::span<const std::int64_t> numbers) { return ReadyValue(numbers[i]); },
                                 [&](const PiecesColumn& pieces) { return ReadyValue(BytesValue{{pieces.bytes + i * pieces.width, pieces.width}}); },
                                 [&](const std::vector<RowValue>& values) { return ready(values[i], buffer); }},
                          column);
    }
    static ReadyValue ready(const RowValue& value, std::vector<std::uint8_t>& buffer) {
        return std::visit(Either{[&](const TextView& text) {
                                     const Utf8 utf8 = as_utf8(text, buffer);
                                     const std::string_view bytes(reinterpret_cast<const char*>(utf8.data()), utf8.size());
                                     return has_surrogates(text) ? ReadyValue(BytesValue{bytes}) : ReadyValue(Utf8Value{bytes});
                                 },
                                 [](const auto& other) { return ReadyValue(other); }},
                          value);
    }

    std::array<std::vector<std::uint8_t>, kCheckedTogether> encoded_;
    std::array<ReadyValue, kCheckedTogether> values_;
    std::size_t count_ = 0;
};

RowWriter::~RowWriter() {
    if (watches_log_) sqlite_.wal_hook(connection_, nullptr, nullptr);
    sqlite_.finalize(statement_);
}

void RowWriter::watch_log() {
    watches_log_ = true;
    sqlite_.wal_hook(
        connection_,
        [](void* self, sqlite3*, const char*, int pages) {
            static_cast<RowWriter*>(self)->log_pages_ = pages;
            return 0;
        },
        this);
}

bool RowWriter::prepare(const std::string& sql) {
    if (statement_ != nullptr && sql == sql_) return true;
    sqlite_.finalize(statement_);
    statement_ = nullptr;
    sql_ = sql;
    return sqlite_.prepare(connection_, sql.c_str(), static_cast<int>(sql.size()), &statement_, nullptr) == 0 && statement_ != nullptr;
}

bool RowWriter::bind(int parameter, const ReadyValue& value) {
    const auto start = [](std::string_view bytes) { return bytes.data() == nullptr ? kEmpty : bytes.data(); };
    return 0 ==
           std::visit(Either{[&](NoValue) { return sqlite_.bind_null(statement_, parameter); },
                             [&](std::int64_t number) { return sqlite_.bind_int64(statement_, parameter, number); },
                             [&](const Utf8Value& text) { return sqlite_.bind_text(statement_, parameter, start(text.utf8), text.utf8.size(), kStays, kUtf8); },
                             [&](const BytesValue& bytes) { return sqlite_.bind_blob(statement_, parameter, start(bytes.bytes), bytes.bytes.size(), kStays); }},
                      value);
}

bool RowWriter::insert_row(std::int64_t row, std::span<const ReadyColumn> columns, std::size_t k, std::span<const std::uint32_t> checks) {
    int parameter = 0;
    if (!bind(++parameter, row)) return false;
    for (const ReadyColumn& column : columns) {
        if (!bind(++parameter, column[k])) return false;
    }
    if (!bind(++parameter, BytesValue{{reinterpret_cast<const char*>(checks.data()), checks.size_bytes()}})) return false;
    return sqlite_.step(statement_) == kSqliteDone && sqlite_.reset(statement_) == 0;
}

RowsInserted RowWriter::insert(const std::string& sql, const NewRows& rows) {
    const auto failed = [&]() -> RowsInserted { return {sqlite_.extended_errcode(connection_), sqlite_.errmsg(connection_), {}}; };
    const HeldConnection held(sqlite_, connection_);
    if (!prepare(sql)) return failed();
    const std::size_t width = 1 + *std::max_element(rows.places.begin(), rows.places.end());
    RowsInserted done{0, {}, std::vector<std::uint32_t>(width * rows.count)};
    const std::span<std::uint32_t> checks(done.checks);
    std::vector<ReadyColumn> ready(rows.columns.size());
    for (std::size_t i = 0; i < rows.count; ++i) {
        const std::size_t k = i % kCheckedTogether;
        for (std::size_t c = 0; k == 0 && c < ready.size(); ++c) {
            ready[c].take(rows.columns[c], i, std::min(kCheckedTogether, rows.count - i));
            ready[c].check(rows.first_checked + static_cast<std::int64_t>(i), checks.data() + i * width + rows.places[c], width);
        }
        if (!insert_row(rows.first_row + static_cast<std::int64_t>(i), ready, k, checks.subspan(i * width, width))) {
            done = failed();
            sqlite_.reset(statement_);  // or it would keep its transaction from being undone
            break;
        }
    }
    return done;
}

}  // namespace lookalike
