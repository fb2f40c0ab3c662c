// Local search of cpu-hybrid: rounds of the best moves, those that share no route together.
//
// A round: of each customer the best improving move, least (delta, code); each claims its one or two routes by least (delta, customer,
// code), and is carried out when it has both. The least of all moves always is, so that every round improves, and the order in which the
// moves of a round are looked at changes nothing. Data: next, prev, route, position and prefix sums of a customer side by side, one cache
// line for all that a move reads of v; best moves are kept until one of their routes changes. Cost: a pair (customer, neighbour) is 15
// deltas in O(1); after a round only pairs with a changed route are evaluated again, and routes changed are numbered again in O(length).
// Few pairs have a move that comes into question: a bound of their moves is computed first, of all neighbours side by side. On long routes
// a round changes the surroundings of few of the customers whose routes it changes: there a bound of a pair's distances is kept until
// either's surroundings change, and most pairs are passed over without a look at the matrix.
#include "cpu_ref/alns/hybrid/local_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

using Part = std::span<const std::int32_t>;

void append(vrp::Route& route, Part part) { route.insert(route.end(), part.begin(), part.end()); }
void append_turned(vrp::Route& route, Part part) { route.insert(route.end(), part.rbegin(), part.rend()); }

/// Customers of a route from which on bounds of distances are worth keeping.
constexpr std::int32_t long_route = 16;

}  // namespace

LocalSearch::LocalSearch(const vrp::View& vrp, const Granular& granular)
    : vrp_(vrp),
      granular_(&granular),
      slots_(granular.moves()),
      first_reference_(at(vrp.n) + 2, 0),
      references_(at(vrp.n) * at(slots_)),
      best_(at(vrp.n) + 1),
      claims_(at(granular.routes)),
      changed_(at(granular.routes)),
      renew_(at(vrp.n) + 1),
      bounds_(vrp, granular),
      keeps_distances_(vrp.n >= std::int64_t{long_route} * granular.routes),
      surroundings_(at(vrp.n) + 1),
      stale_(at(vrp.n) + 1, all_slots()),
      distances_((at(vrp.n) + 1) * at(slots_)),
      penalty_of_(at(granular.routes)),
      swap_star_(vrp),
      dirty_(at(granular.routes)),
      sectors_(at(granular.routes)) {
  for (std::int32_t u = 1; u <= vrp.n; ++u)
    for (std::int32_t slot = 0; slot < slots_; ++slot) ++first_reference_[at(neighbor(u, slot)) + 1];
  std::partial_sum(first_reference_.begin(), first_reference_.end(), first_reference_.begin());
  std::vector<std::size_t> next = first_reference_;
  for (std::int32_t u = 1; u <= vrp.n; ++u)
    for (std::int32_t slot = 0; slot < slots_; ++slot) references_[next[at(neighbor(u, slot))]++] = {u, slot};
}

std::int32_t LocalSearch::neighbor(std::int32_t u, std::int32_t slot) const {
  return granular_->nearest[at(u) * at(granular_->k) + at(slot)];
}

std::int32_t LocalSearch::other_route(std::int32_t u) const {
  const std::int32_t slot = slot_of(best_[at(u)].code);
  return slot == slots_ ? empty_ : tours_->route(neighbor(u, slot));
}

void LocalSearch::improve(Tours& tours, const Penalties& penalties, const Interruption& interruption) {
  tours_ = &tours;
  penalties_ = penalties;
  empty_ = tours.empty();
  for (std::int32_t r = 0; r < tours.count(); ++r) note(r);
  for (std::int32_t u = 1; u <= vrp_.n; ++u) evaluate(u, all_slots());
  std::fill(dirty_.begin(), dirty_.end(), 1);
  do {
    while (round()) interruption.check();
  } while (exchange());
}

/// The moves with these neighbours, a bit each; where these are all, as if there were no best one, and with those to the empty route.
void LocalSearch::evaluate(std::int32_t u, std::uint32_t slots) {
  Best& best = best_[at(u)];
  evaluations_ += std::popcount(slots);
  if (slots == all_slots()) {
    const std::int32_t last = best.code < 0 ? slots_ : slot_of(best.code);
    best = {};
    if (empty_ >= 0) Evaluator<Tours>(vrp_, penalties_, *tours_, u).offer_empty(slots_, best);
    if (keeps_distances_ && last < slots_) {  // is likely to be good again, and spares others
      Evaluator<Tours>(vrp_, penalties_, *tours_, u).offer_all(neighbor(u, last), last, best);
      slots &= ~(std::uint32_t{1} << last);
    }
  }
  const std::uint32_t stale = keeps_distances_ ? slots & stale_[at(u)] : slots;  // of no bound that still holds
  if (stale != 0) {
    bounds_.look_at(*tours_, penalties_, u, stale);
    if (keeps_distances_) {
      bounds_.look_around(*tours_, u);
      for (std::int32_t i = 0; i < bounds_.count(); ++i) distances_[at(u) * at(slots_) + at(bounds_.slot(i))] = bounds_.distance(i);
      stale_[at(u)] &= ~stale;
    }
    offer(u, best);
  }
  const std::uint32_t others = promising(u, slots & ~stale);
  if (others == 0) return;
  bounds_.look_at(*tours_, penalties_, u, others);
  offer(u, best);
}

/// The moves with the neighbours that bounds_ looks at.
void LocalSearch::offer(std::int32_t u, Best& best) const {
  const std::int32_t first = bounds_.least();  // after it few others come into question
  if (bounds_.of(first) >= 0 || bounds_.of(first) > best.delta) return;
  const Evaluator<Tours> evaluator(vrp_, penalties_, *tours_, u);
  evaluator.offer_all(bounds_.neighbor(first), bounds_.slot(first), best);
  for (std::int32_t i = 0; i < bounds_.count(); ++i)
    if (i != first && bounds_.of(i) <= best.delta) evaluator.offer_all(bounds_.neighbor(i), bounds_.slot(i), best);
}

/// Those of the slots whose bound of distances leaves room for a move at least as good as u's best: no move saves more than the distance
/// and the penalties of both routes.
std::uint32_t LocalSearch::promising(std::int32_t u, std::uint32_t slots) const {
  const std::int32_t r = tours_->route(u);
  const std::int64_t own = penalty_of_[at(r)], most = std::min(best_[at(u)].delta, -1);
  std::uint32_t promising = 0;
  for (std::uint32_t left = slots; left != 0; left &= left - 1) {
    const std::int32_t slot = std::countr_zero(left), s = tours_->route(neighbor(u, slot));
    const std::int64_t bound = distances_[at(u) * at(slots_) + at(slot)] - own - (s == r ? 0 : penalty_of_[at(s)]);
    if (bound <= most) promising |= left & -left;
  }
  return promising;
}

/// What bounds of distances need to know of a changed route.
void LocalSearch::note(std::int32_t r) {
  if (!keeps_distances_) return;
  penalty_of_[at(r)] = penalty(vrp_, penalties_, tours_->load(r), tours_->duration(r));
  for (const std::int32_t c : tours_->customers(r)) {
    const std::int32_t p = tours_->prev(c), x = tours_->next(c);
    const Surroundings now{tours_->prev(p), p, x, tours_->next(x)};
    if (surroundings_[at(c)] == now) continue;
    surroundings_[at(c)] = now;
    stale_[at(c)] = all_slots();
    for (std::size_t i = first_reference_[at(c)]; i < first_reference_[at(c) + 1]; ++i)
      stale_[at(references_[i].u)] |= std::uint32_t{1} << references_[i].slot;
  }
}

/// Carries out the best moves. Was there any?
bool LocalSearch::round() {
  improving_.clear();
  std::fill(claims_.begin(), claims_.end(), no_claim);
  for (std::int32_t u = 1; u <= vrp_.n; ++u) {
    if (best_[at(u)].code < 0) continue;
    improving_.push_back(u);
    claim(tours_->route(u), claim_of(best_[at(u)], u));
    claim(other_route(u), claim_of(best_[at(u)], u));
  }
  if (improving_.empty()) return false;
  std::fill(changed_.begin(), changed_.end(), 0);
  std::erase_if(improving_, [&](std::int32_t u) {
    const std::uint64_t own = claim_of(best_[at(u)], u);
    return claims_[at(tours_->route(u))] != own || claims_[at(other_route(u))] != own;
  });
  for (const std::int32_t u : improving_)
    for (const std::int32_t r : {tours_->route(u), other_route(u)}) changed_[at(r)] = dirty_[at(r)] = 1;
  const bool had_empty = empty_ >= 0;
  for (const std::int32_t u : improving_) carry_out(u, best_[at(u)]);
  moves_ += static_cast<std::int64_t>(improving_.size());
  ++rounds_;
  empty_ = tours_->empty();
  refresh(had_empty);
  return true;
}

/// Carries out the best exchanges of SWAP*. Was there any? Looks at pairs of which one has changed since, or was refused.
bool LocalSearch::exchange() {
  pairs_.clear();
  std::fill(claims_.begin(), claims_.end(), no_claim);
  for (std::int32_t r = 0; r < tours_->count(); ++r)
    if (dirty_[at(r)] != 0) sectors_[at(r)] = sectors(r);
  for (std::int32_t r = 0; r < tours_->count(); ++r)
    for (std::int32_t s = r + 1; s < tours_->count(); ++s) {
      if ((dirty_[at(r)] == 0 && dirty_[at(s)] == 0) || !overlap(sectors_[at(r)], sectors_[at(s)])) continue;
      const Exchange exchange = swap_star_.best(*tours_, penalties_, r, s);
      evaluations_ += static_cast<std::int64_t>(tours_->customers(r).size()) + static_cast<std::int64_t>(tours_->customers(s).size());
      if (exchange.delta == 0) continue;
      pairs_.push_back({r, s, exchange, claim_of(exchange, r, s)});
      claim(r, pairs_.back().claim);
      claim(s, pairs_.back().claim);
    }
  std::fill(dirty_.begin(), dirty_.end(), 0);
  if (pairs_.empty()) return false;
  std::fill(changed_.begin(), changed_.end(), 0);
  for (const Pair& pair : pairs_) {
    dirty_[at(pair.r)] = dirty_[at(pair.s)] = 1;
    if (claims_[at(pair.r)] != pair.claim || claims_[at(pair.s)] != pair.claim) continue;
    swap_star_.carry_out(*tours_, pair.r, pair.s, pair.exchange);
    changed_[at(pair.r)] = changed_[at(pair.s)] = 1;
    ++moves_;
  }
  ++rounds_;
  const bool had_empty = empty_ >= 0;
  empty_ = tours_->empty();
  refresh(had_empty);
  return true;
}

/// Of an empty route, and of one too long for SWAP*: none.
std::uint64_t LocalSearch::sectors(std::int32_t r) const {
  std::uint64_t bits = 0;
  if (tours_->customers(r).size() > longest_exchanging) return bits;
  for (const std::int32_t c : tours_->customers(r)) bits |= sector_of(granular_->rank[at(c)], vrp_.n);
  return bits;
}

void LocalSearch::claim(std::int32_t r, std::uint64_t claim) { claims_[at(r)] = std::min(claims_[at(r)], claim); }

/// Evaluates again what the changed routes concern.
void LocalSearch::refresh(bool had_empty) {
  for (std::int32_t u = 1; u <= vrp_.n; ++u) {
    const Best& best = best_[at(u)];
    bool lost = changed_[at(tours_->route(u))] != 0;
    if (best.code >= 0 && !lost) {
      const std::int32_t slot = slot_of(best.code);
      lost = slot == slots_ ? empty_ < 0 : changed_[at(tours_->route(neighbor(u, slot)))] != 0;
    }
    renew_[at(u)] = lost ? all_slots() : 0;
    if (!lost && !had_empty && empty_ >= 0) Evaluator<Tours>(vrp_, penalties_, *tours_, u).offer_empty(slots_, best_[at(u)]);
  }
  for (std::int32_t r = 0; r < tours_->count(); ++r) {
    if (changed_[at(r)] == 0) continue;
    note(r);
    for (const std::int32_t v : tours_->customers(r))
      for (std::size_t i = first_reference_[at(v)]; i < first_reference_[at(v) + 1]; ++i)
        renew_[at(references_[i].u)] |= std::uint32_t{1} << references_[i].slot;
  }
  for (std::int32_t u = 1; u <= vrp_.n; ++u)
    if (renew_[at(u)] != 0) evaluate(u, renew_[at(u)]);
}

/// Both routes are written anew from parts of the old ones.
void LocalSearch::carry_out(std::int32_t u, const Best& move) {
  const std::int32_t slot = slot_of(move.code), r = tours_->route(u), s = other_route(u);
  const bool forward = is_forward(move.code), apart = slot == slots_;
  const Kind kind = kind_of(move.code);
  first_ = tours_->customers(r);
  second_ = tours_->customers(s);
  if (!forward) std::reverse(first_.begin(), first_.end());
  if (!forward) std::reverse(second_.begin(), second_.end());
  made_first_.clear();
  made_second_.clear();
  const auto place = [&](std::int32_t c, const vrp::Route& route) {
    return forward ? at(tours_->position(c)) : route.size() - 1 - at(tours_->position(c));
  };
  const Part a(first_), b(second_);
  const std::size_t i = place(u, first_);
  const std::size_t j = apart ? 0 : place(neighbor(u, slot), second_);
  if (kind == Kind::two_opt && r == s) {
    const auto [from, to] = std::minmax(i, j);
    append(made_first_, a.first(from + 1));
    append_turned(made_first_, a.subspan(from + 1, to - from));
    append(made_first_, a.subspan(to + 1));
  } else if (kind == Kind::two_opt) {
    append(made_first_, a.first(i + 1));
    append_turned(made_first_, b.first(j + 1));
    append_turned(made_second_, a.subspan(i + 1));
    append(made_second_, b.subspan(j + 1));
  } else if (kind == Kind::tails) {
    append(made_first_, a.first(i + 1));
    append(made_first_, b.subspan(j));
    append(made_second_, b.first(j));
    append(made_second_, a.subspan(i + 1));
  } else {  // parts [i, i + out) and [j, j + in) change places
    const std::size_t out = kind == Kind::relocate || kind == Kind::swap ? 1 : 2;
    const std::size_t in = kind == Kind::swap || kind == Kind::swap_two_one ? 1 : kind == Kind::swap_two_two ? 2 : 0;
    const std::size_t to = apart ? 0 : in > 0 || kind == Kind::pair_turned ? j : j + 1;
    const bool turned = kind == Kind::pair_turned;
    const auto append_moved = [&](vrp::Route& route) {
      turned ? append_turned(route, a.subspan(i, out)) : append(route, a.subspan(i, out));
    };
    if (r != s) {
      append(made_first_, a.first(i));
      append(made_first_, b.subspan(to, in));
      append(made_first_, a.subspan(i + out));
      append(made_second_, b.first(to));
      append_moved(made_second_);
      append(made_second_, b.subspan(to + in));
    } else if (i < to) {
      append(made_first_, a.first(i));
      append(made_first_, a.subspan(to, in));
      append(made_first_, a.subspan(i + out, to - i - out));
      append_moved(made_first_);
      append(made_first_, a.subspan(to + in));
    } else {
      append(made_first_, a.first(to));
      append_moved(made_first_);
      append(made_first_, a.subspan(to + in, i - to - in));
      append(made_first_, a.subspan(to, in));
      append(made_first_, a.subspan(i + out));
    }
  }
  if (!forward) std::reverse(made_first_.begin(), made_first_.end());
  if (!forward) std::reverse(made_second_.begin(), made_second_.end());
  tours_->set(r, made_first_);
  if (r != s) tours_->set(s, made_second_);
}

}  // namespace vicinity::alns::hybrid
