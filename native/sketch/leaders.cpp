#include "sketch/leaders.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "base/two_steps.hpp"

namespace lookalike {

namespace {

// Few enough that what is known of the piece stays in the cache, and enough that threads are worth starting. Small where a few documents are to be several.
#ifdef LOOKALIKE_SMALL_CHUNKS
constexpr std::size_t kPiece = 4, kPieceAlone = 128;
constexpr std::size_t kWorthThreads = 1;
#else
constexpr std::size_t kPiece = 2048, kPieceAlone = 128;
constexpr std::size_t kWorthThreads = 128;
#endif
constexpr std::size_t kAhead = 4;  // documents whose buckets are on their way from memory

}  // namespace

std::uint32_t Leaders::number(const std::shared_ptr<const RowFile>& file) {
    const auto [found, is_new] = file_numbers_.try_emplace(file.get(), static_cast<std::uint32_t>(files_.size()));
    if (is_new) files_.push_back(file);
    return found->second;
}

void Leaders::expect(std::size_t documents, unsigned workers) {
    tables_.expect(documents, workers);
    originals_.reserve(documents);
    features_.expect(documents, can_read());
    numbers_.reserve(documents);
}

void Leaders::offer(const Offered& batch, unsigned workers, std::vector<Decision>& decisions) {
    const std::size_t count = batch.count();
    if (count > std::size_t{kNobody} - documents_) throw std::length_error("more than 4,294,967,294 documents: split the corpus");
    while (scratches_.size() < workers) scratches_.push_back(std::make_unique<Scratch>(Scratch{SetSimilarity(measure_), {}, {}, {}, {}, {}, nullptr}));
    const std::size_t most = workers > 1 ? kPiece : kPieceAlone;
    const std::size_t pieces = (count + most - 1) / most;  // of about one size: a last one of a few documents would be work for one thread alone
    for (std::size_t i = 0; i < pieces; ++i) {
        const std::size_t first = i * count / pieces, size = (i + 1) * count / pieces - first;
        offer_piece(batch.part(first, size), size < kWorthThreads ? 1 : workers, decisions);
    }
}

void Leaders::offer_piece(const Offered& piece, unsigned workers, std::vector<Decision>& decisions) {
    if (!bands()) return decide(piece, decisions);
    const auto count = static_cast<std::uint32_t>(piece.count());
    piece_.begin(count);
    copies_.resize(2 * std::size_t{count});
    looked_.assign(count, {});
    scratches_[0]->equal.link(piece.digests.data(), 2, count, copies_.data());
    struct Worker {
        Leaders& leaders;
        const Offered& piece;
        Scratch& scratch;

        void first(std::size_t i) {  // the bands come first: each takes as long as many documents
            if (i < leaders.bands())
                leaders.piece_.link(static_cast<unsigned>(i), piece.all_keys, static_cast<std::uint32_t>(piece.count()), scratch.equal);
            else
                leaders.look(piece, static_cast<std::uint32_t>(i - leaders.bands()), scratch);
        }
        void second(std::size_t band) { leaders.tables_.enter(static_cast<unsigned>(band), piece.all_keys, leaders.piece_.earlier(0), leaders.entering_); }
    };
    std::atomic<std::size_t> taken{0};
    in_two_steps(
        bands() + count, workers, [&] { return Worker{*this, piece, *scratches_[taken++]}; },
        [&]() -> std::size_t {
            const auto begun = std::chrono::steady_clock::now();
            decide(piece, decisions);
            alone_ += std::chrono::steady_clock::now() - begun;
            return entering_.empty() ? 0 : bands();
        });
    tables_.entered(entering_.size());
}

void Leaders::decide(const Offered& piece, std::vector<Decision>& decisions) {
    const auto count = static_cast<std::uint32_t>(piece.count());
    entering_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + kAhead < count) originals_.prefetch(piece.digest(i + kAhead));
        decisions.push_back(decide(piece, i));
        ++documents_;
    }
}

void Leaders::look(const Offered& piece, std::uint32_t i, Scratch& scratch) {
    if (i + kAhead < piece.count()) {
        originals_.prefetch(piece.digest(i + kAhead));
        tables_.prefetch(piece.keys(i + kAhead));
    }
    const std::uint32_t copied = copies_[2 * std::size_t{i}];
    // A copy of one in the piece will be decided by what is known of that one.
    if (!piece.has_features(i) || (copied != kNobody && piece.digest(copied) == piece.digest(i))) return;
    const Originals::Known* const known = std::as_const(originals_).find(piece.digest(i));
    if (known && (known->final() || known->seen == tables_.documents())) return;
    scratch.candidates.clear();
    tables_.find(piece.keys(i), known ? known->seen : 0, scratch.candidates, piece_.earlier(i));
    const Decision decision = nearest(piece, i, known ? known->decision() : Decision{}, scratch);
    looked_[i] = {decision, static_cast<std::uint32_t>(scratch.candidates.size())};
}

Decision Leaders::decide(const Offered& piece, std::uint32_t i) {
    const TokenDigest digest = piece.digest(i);
    const std::uint32_t before = tables_.documents(), now = before + static_cast<std::uint32_t>(entering_.size());
    if (Originals::Known* const known = originals_.find(digest)) {
        piece_.pass(i);
        if (!known->final() && known->seen < now) {
            const bool looked = known->seen < before;  // otherwise a copy of it in the piece was decided since
            if (looked) compared_ += looked_[i].compared;
            const Decision decision = among_piece(piece, i, looked ? 0 : known->seen - before, looked ? looked_[i].decision : known->decision());
            *known = {decision.leader, now, decision.similarity};
        }
        return known->decision();
    }
    const bool comparable = bands() > 0 && piece.has_features(i);
    Decision decision;
    if (comparable) {
        compared_ += looked_[i].compared;
        decision = among_piece(piece, i, 0, looked_[i].decision);
    }
    originals_.add(digest, documents_, decision, now);
    if (decision.leader == kNobody) ++kept_;
    if (decision.leader != kNobody || !comparable) {
        piece_.pass(i);
        return decision;
    }
    piece_.keep(i, static_cast<std::uint32_t>(entering_.size()));
    entering_.push_back(i);
    piece.rows ? features_.add_later(piece.rows[i]) : features_.add(piece.features(i));
    numbers_.push_back(documents_);
    return decision;
}

Decision Leaders::among_piece(const Offered& piece, std::uint32_t i, std::uint32_t first, const Decision& known) {
    Scratch& scratch = *scratches_[0];
    scratch.candidates.clear();
    piece_.find(i, first, scratch.candidates);
    for (std::uint32_t& each : scratch.candidates) each += tables_.documents();
    const Decision decision = nearest(piece, i, known, scratch);
    compared_ += scratch.candidates.size();
    return decision;
}

Decision Leaders::nearest(const Offered& piece, std::uint32_t i, const Decision& known, Scratch& scratch) {
    std::vector<std::uint32_t>& candidates = scratch.candidates;
    if (candidates.empty()) return known;
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    Nearest near(threshold_, known);
    scratch.similarity.begin(own_features(piece, i, scratch));
    for (const std::uint32_t kept : candidates) near.meet(numbers_[kept], scratch.similarity.to(kept_features(kept, scratch), near.least()));
    return near.decision();
}

std::span<const std::uint64_t> Leaders::own_features(const Offered& piece, std::uint32_t i, Scratch& scratch) {
    const std::span<const std::uint64_t> features = piece.features(i);
    if (!piece.rows) return features;
    if (features.empty()) {
        if (read(piece.rows[i], scratch, scratch.own) != piece.digest(i)) throw RowChanged(files_[piece.rows[i].file]->name);
    } else {
        scratch.own.assign(features.begin(), features.end());
        scratch.own.resize(scratch.set.make_distinct(scratch.own.data(), scratch.own.size()));
    }
    return scratch.own;
}

std::span<const std::uint64_t> Leaders::kept_features(std::uint32_t kept, Scratch& scratch) {
    const auto [features, row] = features_.find(kept);
    if (!row) return features;
    // What was said of this document was said by its digest: it must still lead there.
    const Originals::Known* const known = std::as_const(originals_).find(read(*row, scratch, scratch.read));
    if (!known || known->leader != numbers_[kept] || !known->final()) throw RowChanged(files_[row->file]->name);
    features_.made(kept, scratch.read);
    return scratch.read;
}

TokenDigest Leaders::read(const RowPlace& row, Scratch& scratch, std::vector<std::uint64_t>& features) {
    if (!scratch.reader) scratch.reader = make_reader_();
    return scratch.reader->read(*files_[row.file], row.begin, row.size, features);
}

std::vector<KeptBuckets::Hot> Leaders::hot_buckets() const {
    std::vector<KeptBuckets::Hot> hot = tables_.hot_buckets();
    for (KeptBuckets::Hot& each : hot) each.example = numbers_[each.example];
    return hot;
}

Decision SimhashLeaders::offer(const Code& code, const TokenDigest& digest) {
    const std::uint32_t document = documents_;
    if (document == kNobody) throw std::length_error("more than 4,294,967,294 documents: split the corpus");
    ++documents_;
    if (digest == kNothing) {
        if (nothing_.leader != kNobody) return nothing_;
        nothing_ = {document, 1.0};
        ++kept_;
        return {};
    }
    const TokenDigest own = digest_of(code);
    Originals::Known* known = originals_.find(own);
    if (known && known->final()) return known->decision();
    const Decision decision = nearest(code);
    if (known) {  // a kept document stays within k of it
        *known = {decision.leader, 0, decision.similarity};
        return decision;
    }
    if (decision.leader == kNobody) {
        ++kept_;
        keep(code, document);
    }
    originals_.add(own, document, decision, 0);
    return decision;
}

Decision SimhashLeaders::nearest(const Code& code) {
    Nearest near(similarity(k_));
    matches_.clear();
    index_.search(code, k_, scratch_, matches_);
    if (!matches_.empty()) near.meet(static_cast<std::uint32_t>(matches_[0].id), similarity(matches_[0].distance));  // the nearest and earliest of them
    recent_.near(code, [&](std::uint32_t i, unsigned found) { near.meet(static_cast<std::uint32_t>(recent_numbers_[i]), similarity(found)); });
    return near.decision();
}

void SimhashLeaders::keep(const Code& code, std::uint32_t document) {
    recent_.add(code);
    recent_numbers_.push_back(document);
    if (recent_.size() < kMaxRecent) return;
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < recent_.size(); ++i) push_words(recent_[i], bits(), words);
    index_.add(words, recent_numbers_);
    recent_.clear();
    recent_numbers_.clear();
}

}  // namespace lookalike
