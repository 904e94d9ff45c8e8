// Python's view of a database that is written without Python: a connection of its own module, for whole batches of rows.
#include <algorithm>
#include <limits>

#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "bind/sqlite.hpp"
#include "rows/insert.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kAhead = 8;  // values that are asked of the memory while others are looked at

// The values of rows as Python has them, held: nobody can change or free them while they are read without the interpreter's lock.
class HeldColumns {
   public:
    // Texts of column `cut` may have half a character (a lone surrogate): they are stored as bytes. Others may not.
    HeldColumns(nb::list columns, std::size_t count, std::optional<std::size_t> cut) {
        for (const nb::handle column : columns) {
            const bool may_be_cut = cut == made_.size();
            made_.push_back(nb::isinstance<nb::list>(column) ? of_values(column, count, may_be_cut) : of_array(column, count));
        }
    }
    std::vector<RowColumn> take() { return std::move(made_); }

   private:
    using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Pieces = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

    RowColumn of_array(nb::handle column, std::size_t count) {
        if (Numbers numbers; nb::try_cast(column, numbers, false)) {
            require(numbers.shape(0) == count);
            held_.push_back(nb::borrow(column));
            return std::span(numbers.data(), count);
        }
        if (Pieces pieces; nb::try_cast(column, pieces, false)) {
            require(pieces.shape(0) == count);
            held_.push_back(nb::borrow(column));
            return PiecesColumn{reinterpret_cast<const char*>(pieces.data()), pieces.shape(1)};
        }
        throw nb::type_error("columns: expected a list, an array of int64, or a matrix of uint8");
    }

    RowColumn of_values(nb::handle column, std::size_t count, bool may_be_cut) {
        nb::object values = nb::steal(PyList_AsTuple(column.ptr()));
        if (!values.is_valid()) throw nb::python_error();
        require(static_cast<std::size_t>(PyTuple_Size(values.ptr())) == count);
        std::vector<RowValue> found(count);
        const auto value_at = [&](std::size_t i) { return PyTuple_GetItem(values.ptr(), static_cast<Py_ssize_t>(i)); };
        for (std::size_t i = 0; i < count; ++i) {
            if (i + kAhead < count) __builtin_prefetch(value_at(i + kAhead));
            found[i] = value_of(value_at(i), may_be_cut);
        }
        held_.push_back(std::move(values));
        return found;
    }

    RowValue value_of(PyObject* value, bool may_be_cut) {
        if (value == Py_None) return NoValue{};
        if (PyUnicode_Check(value)) return may_be_cut ? cut_text(value) : text_of(value);
        if (PyLong_Check(value)) {
            const long long number = PyLong_AsLongLong(value);
            if (number == -1 && PyErr_Occurred()) throw nb::python_error();
            return static_cast<std::int64_t>(number);
        }
        if (PyByteArray_Check(value)) {  // could change
            held_.push_back(nb::steal(PyBytes_FromObject(value)));
            value = held_.back().ptr();
            if (value == nullptr) throw nb::python_error();
        }
        if (!PyBytes_Check(value)) throw nb::type_error("a value of a row is a number of 64 bits, a str, bytes or None");
        return bytes_value(value);
    }

    static RowValue text_of(PyObject* value) {
        const std::optional<TextView> text = storable(value);
        if (!text) throw nb::python_error();
        return *text;
    }

    // Its characters are looked at when they are encoded, and not from far away here, with the lock.
    RowValue cut_text(PyObject* value) {
#if !defined(Py_LIMITED_API)
        return characters_of(value);
#else
        if (const std::optional<TextView> text = storable(value)) return *text;
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
        PyErr_Clear();
        held_.push_back(nb::steal(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass")));
        if (!held_.back().is_valid()) throw nb::python_error();
        return bytes_value(held_.back().ptr());
#endif
    }

    static BytesValue bytes_value(PyObject* bytes) { return {{PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes))}}; }

    static void require(bool right) {
        if (!right) throw nb::value_error("columns: expected a value for each row");
    }

    std::vector<nb::object> held_;
    std::vector<RowColumn> made_;
};

// The connection behind one of Python's, which closes this first.
class WriteHandle {
   public:
    WriteHandle(const Sqlite& sqlite, sqlite3* connection) : writer_(std::make_unique<RowWriter>(sqlite.functions(), connection)) {}
    void close() { writer_.reset(); }
    void watch_log() { writer().watch_log(); }
    std::optional<int> log_pages() { return writer().log_pages(); }

    // SQLite's error, 0 for none, its message, and the checks of all rows.
    std::tuple<int, std::string, nb::bytes> insert(const std::string& sql, std::int64_t first_row, std::int64_t first_checked, nb::list columns,
                                                   std::vector<std::size_t> places, std::size_t count, std::optional<std::size_t> cut) {
        RowWriter& to = writer();
        if (places.empty() || places.size() != columns.size()) throw nb::value_error("places: expected one for each column");
        if (std::ranges::max(places) >= kMostColumns) throw nb::value_error("places: expected numbers below 64");
        const auto last = static_cast<std::int64_t>(count);
        if (count > std::numeric_limits<std::int32_t>::max() || std::max(first_row, first_checked) > std::numeric_limits<std::int64_t>::max() - last)
            throw nb::value_error("count, first_row: too many rows");
        HeldColumns held(std::move(columns), count, cut);
        const NewRows rows{first_row, first_checked, count, held.take(), std::move(places)};
        RowsInserted done;
        {
            const WithoutLock released;
            done = to.insert(sql, rows);
        }
        return {done.error, done.message, nb::bytes(done.checks.data(), done.checks.size() * sizeof(std::uint32_t))};
    }

   private:
    RowWriter& writer() {
        if (!writer_) throw nb::value_error("the connection is closed");
        return *writer_;
    }

    std::unique_ptr<RowWriter> writer_;
};

// Calls `open`, and returns the connection that it opened; nothing where that is not to be told.
std::optional<WriteHandle> opened_by(const Sqlite& sqlite, nb::callable open) {
    sqlite3* found = nullptr;
    {
        const OpenedConnections opened(sqlite.functions());
        open();
        found = opened.only();
    }
    return found == nullptr ? std::nullopt : std::optional<WriteHandle>(std::in_place, sqlite, found);
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<WriteHandle>(m, "WriteHandle")
        .def("close", &WriteHandle::close)
        .def("watch_log", &WriteHandle::watch_log)
        .def_prop_ro("log_pages", &WriteHandle::log_pages)
        .def("insert", &WriteHandle::insert, "sql"_a, "first_row"_a, "first_checked"_a, "columns"_a, "places"_a, "count"_a, "cut"_a.none());
    nb::class_<Sqlite>(m, "Sqlite")
        .def(nb::init<const std::string&>(), "path"_a)
        .def("soft_heap_limit", &Sqlite::soft_heap_limit, "limit"_a)
        .def("gathering_files", &Sqlite::gathering_files)
        .def("opened_by", &opened_by, "open"_a, nb::keep_alive<0, 1>());
}

}  // namespace lookalike
