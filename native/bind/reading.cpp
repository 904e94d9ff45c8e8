// Python's view of a database that is read without Python: what a connection of its own module does, with one native call for each statement.
#include "rows/reading.hpp"

#include <algorithm>

#include "base/idle.hpp"
#include "bind/lock_turns.hpp"
#include "bind/sqlite.hpp"

namespace lookalike {
namespace {

constexpr int kError = 1;  // SQLITE_ERROR

// The connection of one reading or more, and what makes an exception of SQLite's error and its words.
class Held {
   public:
    Held(nb::object sqlite, const std::string& address, nb::callable error)
        : sqlite_(std::move(sqlite)), connection_(nb::cast<const Sqlite&>(sqlite_).functions(), address), error_(std::move(error)) {}

    // Without the interpreter's lock.
    template <class Work>
    auto asked(Work&& work) {
        return raising([&] {
            const WithoutLock released;
            return work(connection_);
        });
    }
    // With it: for what takes less time than to let it go.
    template <class Work>
    auto raising(Work&& work) {
        try {
            return work();
        } catch (const SqliteError& error) {
            raise(error.code, error.what());
        }
    }
    [[noreturn]] void raise(int code, const char* message) const {
        const nb::object exception = error_(code, message);
        PyErr_SetObject(exception.type().ptr(), exception.ptr());
        throw nb::python_error();
    }
    ReadConnection& connection() { return connection_; }
    std::unique_ptr<ReadRows> spare() {
        return idle_.take([] { return ReadRows(); });
    }
    void give_back(std::unique_ptr<ReadRows> rows) {
        rows->clear();
        idle_.give_back(std::move(rows));
    }

    nb::object row(const ReadRows& rows, std::size_t i) const {
        nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(rows.width())));
        if (!made.is_valid()) throw nb::python_error();
        for (std::size_t column = 0; column < rows.width(); ++column)
            PyTuple_SetItem(made.ptr(), static_cast<Py_ssize_t>(column), value(rows, rows.value(i, column), column).release().ptr());
        return made;
    }

   private:
    nb::object value(const ReadRows& rows, const ReadRows::Value& of, std::size_t column) const {
        switch (of.type) {
            case kSqliteNull: return nb::none();
            case kSqliteInteger: return nb::int_(of.number);
            case kSqliteFloat: return nb::float_(of.real);
            case kSqliteText: {
                const std::string_view text = rows.bytes(of);
                nb::object made = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
                if (made.is_valid()) return made;
                if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw nb::python_error();
                PyErr_Clear();
                raise(kError, ("Could not decode to UTF-8 column " + std::to_string(column)).c_str());
            }
            default: {
                const std::string_view bytes = rows.bytes(of);
                return nb::bytes(bytes.data(), bytes.size());
            }
        }
    }

    nb::object sqlite_;
    Idle<ReadRows> idle_;
    ReadConnection connection_;
    nb::callable error_;
};

// What a statement found, as a cursor of Python's module gives it.
class Found {
   public:
    Found(std::shared_ptr<Held> held, ReadConnection::Run run, std::unique_ptr<ReadRows> rows) : held_(std::move(held)), run_(run), rows_(std::move(rows)) {}
    Found(Found&&) = default;
    Found& operator=(Found&&) = delete;
    ~Found() {
        if (!held_) return;
        if (run_ != 0) held_->connection().stop(run_);
        held_->give_back(std::move(rows_));
    }

    // None at the end.
    nb::object one() {
        while (next_ == rows_->count()) {
            if (run_ == 0) return nb::none();
            take_more();
        }
        return held_->row(*rows_, next_++);
    }
    nb::list all() {
        nb::list found;
        for (nb::object row = one(); !row.is_none(); row = one()) found.append(row);
        return found;
    }
    nb::object next() {
        nb::object row = one();
        if (row.is_none()) throw nb::stop_iteration();
        return row;
    }

   private:
    // Another thread may ask meanwhile: to it this is at its end.
    void take_more() {
        std::unique_ptr<ReadRows> more = held_->spare();
        const ReadConnection::Run run = std::exchange(run_, 0);  // whatever happens, it has ended
        run_ = held_->asked([&](ReadConnection& connection) { return connection.more(run, *more); });
        held_->give_back(std::exchange(rows_, std::move(more)));
        next_ = 0;
    }

    std::shared_ptr<Held> held_;
    ReadConnection::Run run_;
    std::unique_ptr<ReadRows> rows_;
    std::size_t next_ = 0;
};

class Reader {
   public:
    Reader(nb::handle_t<Sqlite> sqlite, const std::string& address, nb::callable error)
        : held_(std::make_shared<Held>(nb::borrow(sqlite), address, std::move(error))) {}

    void begin() {
        held_->raising([&] { held_->connection().begin(); });
    }
    void end() {
        held_->raising([&] { held_->connection().end(); });
    }
    void close() { held_->connection().close(); }

    Found execute(const std::string& sql, nb::sequence parameters) {
        std::vector<nb::object> held;  // as long as they are bound
        std::vector<ReadParameter> values;
        for (const nb::handle each : parameters) {
            held.push_back(nb::borrow(each));
            values.push_back(parameter(each.ptr()));
        }
        std::unique_ptr<ReadRows> rows = held_->spare();
        const ReadConnection::Run run = held_->asked([&](ReadConnection& connection) { return connection.start(sql, values, *rows); });
        return Found(held_, run, std::move(rows));
    }

    // What a statement finds for each number behind the base; each counts once. And whether all of it is what was written.
    nb::tuple each(const std::string& sql, std::int64_t base, std::vector<std::int64_t> numbers, const std::vector<std::size_t>& places, bool all_checked) {
        std::erase_if(numbers, [&](std::int64_t& number) { return __builtin_add_overflow(base, number, &number); });  // there is no such row
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        nb::list found;
        bool whole = true;
        std::unique_ptr<ReadRows> rows = held_->spare();
        for (std::span<const std::int64_t> left(numbers); !left.empty();) {
            left = left.subspan(held_->asked([&](ReadConnection& connection) {
                const std::size_t done = connection.each(sql, left, *rows);
                whole = whole && rows->are_whole(places, all_checked);
                return done;
            }));
            for (std::size_t i = 0; i < rows->count(); ++i) found.append(held_->row(*rows, i));
            rows->clear();
        }
        held_->give_back(std::move(rows));
        return nb::make_tuple(found, whole);
    }

   private:
    static ReadParameter parameter(PyObject* value) {
        if (value == Py_None) return std::monostate{};
        if (PyFloat_Check(value)) return PyFloat_AsDouble(value);
        if (PyUnicode_Check(value)) {
            Py_ssize_t size = 0;
            const char* const data = PyUnicode_AsUTF8AndSize(value, &size);  // the string keeps it
            if (data == nullptr) throw nb::python_error();
            return ReadText{{data, static_cast<std::size_t>(size)}};
        }
        if (PyBytes_Check(value)) return ReadBytes{{PyBytes_AsString(value), static_cast<std::size_t>(PyBytes_Size(value))}};
        if (!PyLong_Check(value)) throw nb::type_error("a parameter is a number, a str, bytes or None");
        const long long number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        return static_cast<std::int64_t>(number);
    }

    std::shared_ptr<Held> held_;
};

}  // namespace

void bind_reading(nb::module_& m) {
    nb::class_<Found>(m, "FoundRows")
        .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
        .def("__next__", &Found::next)
        .def("fetchone", &Found::one)
        .def("fetchall", &Found::all);
    nb::class_<Reader>(m, "SqliteReader")
        .def(nb::init<nb::handle_t<Sqlite>, const std::string&, nb::callable>(), "sqlite"_a, "address"_a, "error"_a)
        .def("begin", &Reader::begin)
        .def("end", &Reader::end)
        .def("close", &Reader::close)
        .def("execute", &Reader::execute, "sql"_a, "parameters"_a = nb::make_tuple())
        .def("each", &Reader::each, "sql"_a, "base"_a, "numbers"_a, "places"_a, "all_checked"_a);
}

}  // namespace lookalike
