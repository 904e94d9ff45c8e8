// Python's view of references that documents may hold, and of the filter of streams.
#include "passages/containment.hpp"

#include "bind/bind.hpp"
#include "passages/bloom.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kMostBlocks = std::size_t{1} << 36;  // 4 TiB
constexpr unsigned kMostHashes = 64;

class BoundReferences {
   public:
    BoundReferences(Hashes tokens, Offsets offsets, std::size_t n, std::size_t least, bool by_tokens) : tokens_(tokens), offsets_(offsets) {
        check_offsets(view(offsets_), tokens_.size());
        if (n < 1 || n > 1'000'000) throw nb::value_error("n: choose 1 to 1,000,000");
        if (least < 1 || least > n) throw nb::value_error("least: choose 1 to n");
        nb::gil_scoped_release release;
        references_.emplace(view(tokens_), view(offsets_), n, least, by_tokens, process_secret());
    }

    // Seven numbers for each: document, reference, how much of it is held, and where: first and last token there and in the reference.
    Output<std::uint32_t> find(Hashes tokens, Offsets offsets, double share) const {
        check_offsets(view(offsets), tokens.size());
        if (!(share > 0 && share <= 1)) throw nb::value_error("share: choose above 0, up to 1");
        std::vector<std::uint32_t> out;
        {
            nb::gil_scoped_release release;
            for (const Held& each : references_->find(view(tokens), view(offsets), share)) {
                out.insert(out.end(), {each.document, each.reference, each.found, each.first, each.last, each.reference_first, each.reference_last});
            }
        }
        return give(std::move(out));
    }
    Output<std::uint32_t> sizes() const {
        return listed([&](std::size_t i) { return references_->size(i); });
    }
    Output<std::uint32_t> most() const {
        return listed([&](std::size_t i) { return references_->most(i); });
    }

    BoundReferences(const BoundReferences&) = delete;
    BoundReferences& operator=(const BoundReferences&) = delete;

   private:
    template <class Get>
    Output<std::uint32_t> listed(Get&& get) const {
        std::vector<std::uint32_t> out(references_->count());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = get(i);
        return give(std::move(out));
    }

    Hashes tokens_;
    Offsets offsets_;
    std::optional<References> references_;
};

class BoundBloom {
   public:
    BoundBloom(std::size_t blocks, unsigned hashes, std::optional<Hashes> key) : filter_(check_blocks(blocks), check_hashes(hashes), check_secret(key)) {}

    // Two words for each item; for each whether it was seen before. Items are taken in order.
    Output<std::uint8_t> add(Hashes items) {
        if (items.size() % 2) throw nb::value_error("items: expected two words for each");
        std::vector<std::uint8_t> seen(items.size() / 2);
        {
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = filter_.add(items.data()[2 * i], items.data()[2 * i + 1]);
        }
        return give(std::move(seen));
    }

   private:
    static std::size_t check_blocks(std::size_t blocks) {
        if (blocks < 1 || blocks > kMostBlocks) throw nb::value_error("blocks: choose 1 to 2^36");
        return blocks;
    }
    static unsigned check_hashes(unsigned hashes) {
        if (hashes < 1 || hashes > kMostHashes) throw nb::value_error("hashes: choose 1 to 64");
        return hashes;
    }

    BloomFilter filter_;
};

}  // namespace

void bind_containment(nb::module_& m) {
    nb::class_<BoundReferences>(m, "References")
        .def(nb::init<Hashes, Offsets, std::size_t, std::size_t, bool>(), "tokens"_a.noconvert(), "offsets"_a.noconvert(), "n"_a, "least"_a, "by_tokens"_a)
        .def("find", &BoundReferences::find, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "share"_a)
        .def("sizes", &BoundReferences::sizes)
        .def("most", &BoundReferences::most);
    nb::class_<BoundBloom>(m, "BloomFilter")
        .def(nb::init<std::size_t, unsigned, std::optional<Hashes>>(), "blocks"_a, "hashes"_a, "key"_a.noconvert() = nb::none())
        .def("add", &BoundBloom::add, "items"_a.noconvert());
}

}  // namespace lookalike
