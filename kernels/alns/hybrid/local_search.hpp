#pragma once
// Local search of gpu-hybrid: a block improves a solution by rounds, as cpu_ref's does by itself.
//
// Data, in the memory of a block: the customers route after route, twice (a round writes the next order from the last one); of each
// customer both neighbours, the edges to them, route and position in 16 bits, load and duration up to it, and its best move as one word; of
// each route its sums and the least claim. Phases of a round: all moves claim their routes; those that have both are carried out: each
// position of a changed route looks up who comes there, so that no list is changed by one thread; sums of changed routes are made by a warp
// each; what changed routes concern is evaluated: pairs of a customer and a neighbour are gathered first, then a lane takes one, and reads
// all distances of its 15 moves at once. When no move is left, SWAP*: a warp a pair of routes, all pairs of customers dealt to its lanes.
// Synchronisation: nine barriers a round. Cost: a pair is 15 distances from L2 (of five rows, which a customer's pairs share) and some
// hundred instructions; where a third of the routes changes, half of all pairs are evaluated.
#include <cstdint>
#include <utility>

#include "core/methods/alns/hybrid/moves.hpp"
#include "core/methods/alns/hybrid/swap_star.hpp"
#include "kernels/alns/hybrid/memory.hpp"

namespace vicinity::alns::hybrid::block {

/// Customers of a route as they stood before a change: `size` from position `from` on of route `of` (0: the first of two, 1: the second),
/// as they stand or turned round.
struct Piece {
  std::int32_t of = 0, from = 0, size = 0;
  bool turned = false;
};
/// Where the customers of a route come from. Pieces may be empty.
struct Recipe {
  Piece pieces[5];

  [[nodiscard]] VICINITY_HD std::int32_t size() const {
    return pieces[0].size + pieces[1].size + pieces[2].size + pieces[3].size + pieces[4].size;
  }
  /// Old route and position of what comes to position i.
  VICINITY_HD void find(std::int32_t i, std::int32_t& of, std::int32_t& position) const {
    bool found = false;
    for (const Piece& piece : pieces) {  // no jumps: in registers, with every index known
      const bool here = !found && i < piece.size;
      of = here ? piece.of : of;
      position = here ? piece.turned ? piece.from + piece.size - 1 - i : piece.from + i : position;
      found = found || here;
      i -= piece.size;
    }
  }
};

/// Of a move of moves.hpp the first (`second`: the other) route's. Customers are at positions i and j (both seen in its direction) of
/// routes of `a` and `b` customers; a move of one route (`same`) has but the first.
VICINITY_HD Recipe recipe_of(Kind kind, std::int32_t i, std::int32_t j, std::int32_t a, std::int32_t b, bool same, bool apart,
                             bool second) {
  if (kind == Kind::two_opt && same) {
    const std::int32_t from = i < j ? i : j, to = i < j ? j : i;
    return {{{0, 0, from + 1}, {0, from + 1, to - from, true}, {0, to + 1, a - to - 1}}};
  }
  if (kind == Kind::two_opt) {
    if (!second) return {{{0, 0, i + 1}, {1, 0, j + 1, true}}};
    return {{{0, i + 1, a - i - 1, true}, {1, j + 1, b - j - 1}}};
  }
  if (kind == Kind::tails) {
    if (!second) return {{{0, 0, i + 1}, {1, j, b - j}}};
    return {{{1, 0, j}, {0, i + 1, a - i - 1}}};
  }
  const std::int32_t out = kind == Kind::relocate || kind == Kind::swap ? 1 : 2;
  const std::int32_t in = kind == Kind::swap || kind == Kind::swap_two_one ? 1 : kind == Kind::swap_two_two ? 2 : 0;
  const std::int32_t to = apart ? 0 : in > 0 || kind == Kind::pair_turned ? j : j + 1;
  const bool turned = kind == Kind::pair_turned;
  if (!same) {
    if (!second) return {{{0, 0, i}, {1, to, in}, {0, i + out, a - i - out}}};
    return {{{1, 0, to}, {0, i, out, turned}, {1, to + in, b - to - in}}};
  }
  if (i < to) return {{{0, 0, i}, {0, to, in}, {0, i + out, to - i - out}, {0, i, out, turned}, {0, to + in, a - to - in}}};
  return {{{0, 0, to}, {0, i, out, turned}, {0, to + in, i - to - in}, {0, to, in}, {0, i + out, a - i - out}}};
}

/// Of an exchange one route's, `mine`: the customer at position `leaves` (-1: none) of its `a` goes, that at position `enters` (-1: none)
/// of the other one comes to `place` (swap_star.hpp).
VICINITY_HD Recipe exchange_of(std::int32_t mine, std::int32_t leaves, std::int32_t enters, std::int32_t place, std::int32_t a) {
  const std::int32_t other = 1 - mine, gap = leaves < 0 ? a : leaves, rest = leaves < 0 ? 0 : a - gap - 1;  // behind the first part
  if (enters < 0 || place == -1) return {{{mine, 0, gap}, {other, enters, enters < 0 ? 0 : 1}, {mine, gap + 1, rest}}};
  if (place <= gap) return {{{mine, 0, place}, {other, enters, 1}, {mine, place, gap - place}, {mine, gap + 1, rest}}};
  return {{{mine, 0, gap}, {mine, gap + 1, place - gap - 1}, {other, enters, 1}, {mine, place, a - place}}};
}

template <class Team>
class LocalSearch {
 public:
  VICINITY_HD LocalSearch(const Problem& problem, Packed solution, Pieces& pieces)
      : problem_(problem), vrp_(problem.vrp), n_(problem.vrp.n), m_(problem.routes), solution_(solution) {
    customers_ = pieces.template take<Node>(n_);
    other_ = pieces.template take<Node>(n_);
    for (Node** rows : {&next_, &prev_, &route_, &position_}) *rows = pieces.template take<Node>(n_ + 1);
    for (std::int32_t** rows : {&load_to_, &duration_to_, &to_next_, &to_prev_}) *rows = pieces.template take<std::int32_t>(n_ + 1);
    best_ = pieces.template take<std::uint64_t>(n_ + 1);
    claims_ = pieces.template take<std::uint64_t>(m_);
    sectors_ = pieces.template take<std::uint64_t>(m_);
    load_ = pieces.template take<std::int32_t>(m_);
    duration_ = pieces.template take<std::int32_t>(m_);
    for (Node** rows : {&first_, &size_, &other_first_, &other_size_, &mover_}) *rows = pieces.template take<Node>(m_);
    for (unsigned char** rows : {&changed_, &dirty_, &refused_}) *rows = pieces.template take<unsigned char>(m_);
    concerned_ = pieces.template take<unsigned char>(n_ + 1);
    exchanges_ = pieces.template take<Moved>(m_);
    leavers_ = pieces.template take<Leaver>(Team::warps * 2 * longest_exchanging);
    static_assert(2 * longest_exchanging * sizeof(Leaver) >= Team::gathered * sizeof(std::int32_t));
    common_ = pieces.template take<Common>(1);
  }

  // --- what moves.hpp reads

  [[nodiscard]] VICINITY_HD std::int32_t next(std::int32_t u) const { return next_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t prev(std::int32_t u) const { return prev_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t to_next(std::int32_t u) const { return to_next_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t to_prev(std::int32_t u) const { return to_prev_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t route(std::int32_t u) const { return route_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t load_to(std::int32_t u) const { return load_to_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t duration_to(std::int32_t u) const { return duration_to_[u]; }
  [[nodiscard]] VICINITY_HD std::int32_t load(std::int32_t r) const { return load_[r]; }
  [[nodiscard]] VICINITY_HD std::int32_t duration(std::int32_t r) const { return duration_[r]; }

  /// The block's packed solution is what it works on.
  VICINITY_HD void begin(Team& team) {
    team.once([&] {
      common_->evaluations = 0;
      next_[0] = prev_[0] = 0;
      to_next_[0] = to_prev_[0] = 0;
    });
    team.each(n_, [&](std::int32_t i) { customers_[i] = solution_.customers[i]; });
    team.each(m_, [&](std::int32_t r) {
      first_[r] = static_cast<Node>(solution_.first(r));
      size_[r] = static_cast<Node>(solution_.size(r));
    });
    team.each_warp(m_, [&](const auto& warp, std::int32_t r) { number(warp, r); });
    find_empty(team);
  }
  /// Improves until no move does.
  VICINITY_HD void improve(Team& team, const Penalties& penalties) {
    penalties_ = penalties;
    team.each(m_, [&](std::int32_t r) { changed_[r] = dirty_[r] = 1; });
    bool had_empty = true;
    for (;;) {
      evaluate(team, had_empty);
      const bool moves = choose_moves(team);
      if (!moves && !choose_exchanges(team)) return;
      had_empty = has_empty();
      rewrite(team, moves);
    }
  }
  /// Packs the solution again.
  VICINITY_HD void end(Team& team) {
    team.each_warp(m_, [&](const auto& warp, std::int32_t r) {
      warp.each(size_[r], [&](std::int32_t i) { solution_.customers[first_[r] + i] = customers_[first_[r] + i]; });
      warp.once([&] { solution_.ends[r] = static_cast<Node>(first_[r] + size_[r]); });
    });
    team.add(&common_->evaluations, evaluations_);
    evaluations_ = 0;
    team.each(0, [](std::int32_t) {});
  }

  /// By all threads alike.
  [[nodiscard]] VICINITY_HD bool load_feasible() const {
    for (std::int32_t r = 0; r < m_; ++r)
      if (load_[r] > vrp_.capacity) return false;
    return true;
  }
  [[nodiscard]] VICINITY_HD bool duration_feasible() const {
    for (std::int32_t r = 0; r < m_; ++r)
      if (duration_[r] > vrp_.limit) return false;
    return true;
  }
  [[nodiscard]] VICINITY_HD bool feasible() const { return load_feasible() && duration_feasible(); }
  /// By one thread.
  [[nodiscard]] VICINITY_HD std::int64_t distance() const {
    std::int64_t sum = -problem_.served;
    for (std::int32_t r = 0; r < m_; ++r) sum += duration_[r];
    return sum;
  }
  /// Since begin(), after end().
  [[nodiscard]] VICINITY_HD std::int64_t evaluations() const { return common_->evaluations; }

 private:
  struct Common {
    std::int32_t empty;  ///< route of least number without customers; m: none
    std::int32_t any;    ///< did anything improve?
    std::int64_t evaluations;
  };
  /// A customer of a pair of routes.
  struct Leaver {
    std::int32_t customer, removal;
    Places places;
  };
  /// What route r exchanges, in the order of the pair.
  struct Moved {
    Node r, s;
    std::int16_t u, v, u_place, v_place;  ///< positions; -1: none, as in exchange_of()
  };
  static constexpr std::uint64_t no_move = ~std::uint64_t{0};
  static constexpr int its_route = 1, all_pairs = 2;  ///< of a customer: its route changed; all its pairs are to be evaluated

  [[nodiscard]] static VICINITY_HD std::uint64_t word_of(const Best& best) {
    if (best.code < 0) return no_move;
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(best.delta) ^ 0x80000000u) << 32 | static_cast<std::uint32_t>(best.code);
  }
  [[nodiscard]] static VICINITY_HD Best best_in(std::uint64_t word) {
    if (word == no_move) return {};
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 32) ^ 0x80000000u), code_in(word)};
  }
  [[nodiscard]] static VICINITY_HD std::int32_t code_in(std::uint64_t word) { return static_cast<std::int32_t>(word & 0xFFFFFFFFu); }
  [[nodiscard]] static VICINITY_HD std::uint64_t claim_in(std::uint64_t word, std::int32_t u) {
    return (word >> 32) << 32 | static_cast<std::uint32_t>(u) << 10 | (word & 0xFFFFFFFFu);
  }
  [[nodiscard]] VICINITY_HD std::int32_t neighbor(std::int32_t u, std::int32_t slot) const {
    return problem_.nearest[u * problem_.k + slot];
  }
  [[nodiscard]] VICINITY_HD bool has_empty() const { return common_->empty < m_; }
  [[nodiscard]] VICINITY_HD std::int32_t other_route(std::int32_t u) const {
    const std::int32_t slot = slot_of(code_in(best_[u]));
    return slot == problem_.moves ? common_->empty : route_[neighbor(u, slot)];
  }

  VICINITY_HD void find_empty(Team& team) {
    team.first_warp([&](const auto& warp) {
      const auto least = warp.least(m_, [&](std::int32_t r) { return size_[r] == 0 ? static_cast<std::uint64_t>(r) : no_move; });
      warp.once([&] { common_->empty = least == no_move ? m_ : static_cast<std::int32_t>(least); });
    });
  }

  /// Everything of route r that follows from its customers.
  template <class Warp>
  VICINITY_HD void number(const Warp& warp, std::int32_t r) const {
    const std::int32_t first = first_[r], size = size_[r];
    const auto customer = [&](std::int32_t i) { return i < 0 || i >= size ? 0 : static_cast<std::int32_t>(customers_[first + i]); };
    const std::int64_t sums = warp.scan(  // loads above durations
        size,
        [&](std::int32_t i) {
          const std::int32_t c = customer(i), before = customer(i - 1), edge = vrp_(before, c);
          if (i == size - 1) to_next_[c] = vrp_(c, 0);
          if (before != 0) to_next_[before] = edge;
          to_prev_[c] = edge;
          return (std::int64_t{vrp_.demand[c]} << 32) + edge + vrp_.service[c];
        },
        [&](std::int32_t i, std::int64_t sum) {
          const std::int32_t c = customer(i);
          load_to_[c] = static_cast<std::int32_t>(sum >> 32);
          duration_to_[c] = static_cast<std::int32_t>(sum);
          next_[c] = static_cast<Node>(customer(i + 1));
          prev_[c] = static_cast<Node>(customer(i - 1));
          route_[c] = static_cast<Node>(r);
          position_[c] = static_cast<Node>(i);
        });
    warp.once([&] {
      load_[r] = static_cast<std::int32_t>(sums >> 32);
      duration_[r] = static_cast<std::int32_t>(sums) + to_next_[customer(size - 1)];
    });
  }

  /// Best moves of those whom changed routes concern. had_empty: an empty route was there before.
  VICINITY_HD void evaluate(Team& team, bool had_empty) {
    const std::int32_t slots = problem_.moves;
    const bool empty = has_empty();
    team.each(n_, [&](std::int32_t index) {
      const std::int32_t u = index + 1;
      const bool changed = changed_[route_[u]] != 0;
      const std::uint64_t old = best_[u];
      bool whole = changed;
      if (!whole && old != no_move) {
        const std::int32_t slot = slot_of(code_in(old));
        whole = slot == slots ? !empty : changed_[route_[neighbor(u, slot)]] != 0;
      }
      concerned_[u] = static_cast<unsigned char>((changed ? its_route : 0) | (whole ? all_pairs : 0));
      Best best = whole ? Best{} : best_in(old);
      if (empty && (whole || !had_empty)) Evaluator<LocalSearch>(vrp_, penalties_, *this, u).offer_empty(slots, best);
      best_[u] = word_of(best);
    });
    const auto holds = [&](std::int32_t pair) {
      const std::int32_t u = pair / slots + 1, v = neighbor(u, pair % slots);
      return (concerned_[u] & all_pairs) != 0 || (concerned_[v] & its_route) != 0;
    };
    team.each_where(reinterpret_cast<std::int32_t*>(leavers_), n_ * slots, holds, [&](std::int32_t pair) {
      const std::int32_t u = pair / slots + 1, slot = pair % slots;
      Best best;
      Evaluator<LocalSearch>(vrp_, penalties_, *this, u).offer_all(neighbor(u, slot), slot, best);
      if (best.code >= 0) team.lower(&best_[u], word_of(best));
      ++evaluations_;
    });
  }

  /// Gives routes to the best moves, those that have both. Is there any?
  VICINITY_HD bool choose_moves(Team& team) {
    team.each(m_, [&](std::int32_t r) {
      claims_[r] = no_claim;
      mover_[r] = 0;
      if (r == 0) common_->any = 0;
    });
    team.each(n_, [&](std::int32_t index) {
      const std::int32_t u = index + 1;
      const std::uint64_t word = best_[u];
      if (word == no_move) return;
      team.lower(&claims_[route_[u]], claim_in(word, u));
      team.lower(&claims_[other_route(u)], claim_in(word, u));
      common_->any = 1;
    });
    const bool any = common_->any != 0;
    team.sync();  // choose_exchanges(), which may come next, writes it
    if (!any) return false;
    team.each(n_, [&](std::int32_t index) {
      const std::int32_t u = index + 1;
      const std::uint64_t word = best_[u];
      if (word == no_move) return;
      const std::int32_t r = route_[u], s = other_route(u);
      if (claims_[r] == claim_in(word, u) && claims_[s] == claim_in(word, u)) mover_[r] = mover_[s] = static_cast<Node>(u);
    });
    return true;
  }

  /// The two routes of a change, and whether it sees them from their ends.
  struct Pair {
    Node r, s;
    bool turned;
  };
  /// What becomes of route r, by the move (or exchange) that has it.
  [[nodiscard]] VICINITY_HD Recipe describe(std::int32_t r, bool moves, Pair& pair) const {
    if (!moves) {
      const Moved& moved = exchanges_[r];
      pair = {moved.r, moved.s, false};
      return r == moved.r ? exchange_of(0, moved.u, moved.v, moved.v_place, size_[r])
                          : exchange_of(1, moved.v, moved.u, moved.u_place, size_[r]);
    }
    const std::int32_t u = mover_[r], code = code_in(best_[u]), slot = slot_of(code);
    const bool forward = is_forward(code), apart = slot == problem_.moves;
    pair = {route_[u], static_cast<Node>(other_route(u)), !forward};
    const std::int32_t a = size_[pair.r], b = size_[pair.s];
    const auto seen = [&](std::int32_t c, std::int32_t size) { return forward ? position_[c] : size - 1 - position_[c]; };
    return recipe_of(kind_of(code), seen(u, a), apart ? 0 : seen(neighbor(u, slot), b), a, b, pair.r == pair.s, apart, r != pair.r);
  }

  /// Writes the next order, of routes that have a move (or exchange) anew, and everything that follows from it.
  VICINITY_HD void rewrite(Team& team, bool moves) {
    team.each(m_, [&](std::int32_t r) {
      const bool changes = moves ? mover_[r] != 0 : exchanges_[r].r != exchanges_[r].s;
      changed_[r] = changes ? 1 : 0;
      other_size_[r] = size_[r];
      if (!changes) return;
      dirty_[r] = 1;
      Pair pair;
      other_size_[r] = static_cast<Node>(describe(r, moves, pair).size());
    });
    team.first_warp([&](const auto& warp) {
      warp.scan(
          m_, [&](std::int32_t r) { return static_cast<std::int32_t>(other_size_[r]); },
          [&](std::int32_t r, std::int32_t sum) { other_first_[r] = static_cast<Node>(sum - other_size_[r]); });
    });
    team.each_warp(m_, [&](const auto& warp, std::int32_t r) {
      const std::int32_t size = other_size_[r], to = other_first_[r];
      if (changed_[r] == 0) return warp.each(size, [&](std::int32_t i) { other_[to + i] = customers_[first_[r] + i]; });
      Pair pair;
      const Recipe recipe = describe(r, moves, pair);
      warp.each(size, [&](std::int32_t i) {
        std::int32_t of = 0, position = 0;
        recipe.find(pair.turned ? size - 1 - i : i, of, position);
        const std::int32_t from = of == 0 ? pair.r : pair.s;
        other_[to + i] = customers_[first_[from] + (pair.turned ? size_[from] - 1 - position : position)];
      });
    });
    swap(customers_, other_);
    swap(first_, other_first_);
    swap(size_, other_size_);
    team.each_warp(m_, [&](const auto& warp, std::int32_t r) {
      if (changed_[r] != 0) number(warp, r);
    });
    find_empty(team);
  }
  static VICINITY_HD void swap(Node*& a, Node*& b) {
    Node* const kept = a;
    a = b;
    b = kept;
  }

  // --- SWAP*

  /// Gives routes to the best exchanges. Is there any? Each is looked for twice: to claim, and by the claim that won.
  VICINITY_HD bool choose_exchanges(Team& team) {
    team.each(m_, [&](std::int32_t r) {
      claims_[r] = no_claim;
      refused_[r] = 0;
      exchanges_[r].r = exchanges_[r].s = 0;
      if (dirty_[r] != 0) sectors_[r] = 0;
      if (r == 0) common_->any = 0;
    });
    team.each(n_, [&](std::int32_t index) {
      const std::int32_t u = index + 1, r = route_[u];
      if (dirty_[r] != 0 && size_[r] <= longest_exchanging) team.raise(&sectors_[r], sector_of(problem_.rank[u], n_));
    });
    bool any = true;
    for (std::int32_t pass = 0; pass < 2 && any; ++pass) {
      const auto holds = [&](std::int32_t index) {
        const std::int32_t r = index / m_, s = index % m_;
        if (s <= r) return false;
        if (pass == 0) return (dirty_[r] != 0 || dirty_[s] != 0) && overlap(sectors_[r], sectors_[s]);
        const auto pair = static_cast<std::uint32_t>(r) << 16 | static_cast<std::uint32_t>(s);
        return claims_[r] != no_claim && claims_[r] == claims_[s] && static_cast<std::uint32_t>(claims_[r]) == pair;
      };
      team.each_warp_where(m_ * m_, holds, [&](const auto& warp, std::int32_t index) {
        const std::int32_t r = index / m_, s = index % m_;
        const Exchange best = best_exchange(warp, r, s, pass == 0);
        if (best.delta == 0) return;
        warp.once([&] {
          if (pass == 0) {
            team.lower(&claims_[r], claim_of(best, r, s));
            team.lower(&claims_[s], claim_of(best, r, s));
            refused_[r] = refused_[s] = 1;
            common_->any = 1;
          } else {
            const auto position = [&](std::int32_t c) { return static_cast<std::int16_t>(c == 0 ? -1 : position_[c]); };
            exchanges_[r] = exchanges_[s] = {static_cast<Node>(r),
                                             static_cast<Node>(s),
                                             position(best.u),
                                             position(best.v),
                                             static_cast<std::int16_t>(best.u_position),
                                             static_cast<std::int16_t>(best.v_position)};
          }
        });
      });
      any = common_->any != 0;
    }
    team.each(m_, [&](std::int32_t r) { dirty_[r] = refused_[r]; });
    return any;
  }

  /// The best exchange of routes r and s by a warp, as swap_star.hpp says; delta 0: none improves.
  template <class Warp>
  VICINITY_HD Exchange best_exchange(const Warp& warp, std::int32_t r, std::int32_t s, bool counts) {
    Leaver* const leavers = leavers_ + warp.index * 2 * longest_exchanging;
    const std::int32_t a = size_[r], b = size_[s];
    warp.each(a + b, [&](std::int32_t i) {
      const std::int32_t c = i < a ? customers_[first_[r] + i] : customers_[first_[s] + i - a];
      const std::int32_t other = i < a ? s : r, size = size_[other];
      Leaver leaver{c, vrp_(prev_[c], next_[c]) - to_prev_[c] - to_next_[c], {}};
      std::int32_t before = 0, to_before = vrp_(c, 0);
      for (std::int32_t position = 0; position <= size; ++position) {
        const std::int32_t behind = position < size ? customers_[first_[other] + position] : 0;
        const std::int32_t to_behind = vrp_(c, behind), edge = behind == 0 ? to_next_[before] : to_prev_[behind];
        leaver.places.offer({to_before + to_behind - edge, position});
        before = behind;
        to_before = to_behind;
      }
      leavers[i] = leaver;
      if (counts) ++evaluations_;
    });
    const PairOfRoutes pair{vrp_, penalties_, {load_[r], duration_[r]}, {load_[s], duration_[s]}};
    // number i of u and number j of v, a or b for none
    const auto exchanged = [&](std::int32_t i, std::int32_t j) {
      Exchange exchange;
      if (i == a && j == b) return exchange;
      const Leaver &u = leavers[i == a ? 0 : i], &v = leavers[j == b ? a : a + j];
      if (i == a) {
        exchange = {pair.delta(0, v.customer, v.places.best[0].delta, v.removal), 0, v.customer, 0, v.places.best[0].position};
      } else if (j == b) {
        exchange = {pair.delta(u.customer, 0, u.removal, u.places.best[0].delta), u.customer, 0, u.places.best[0].position, 0};
      } else if (pair.promises(u.customer, v.customer, u.removal, v.removal)) {
        const Place place_u = u.places.without(j + 1, own_place(v.customer, u.customer));
        const Place place_v = v.places.without(i + 1, own_place(u.customer, v.customer));
        exchange = {pair.delta(u.customer, v.customer, u.removal + place_v.delta, v.removal + place_u.delta), u.customer, v.customer,
                    place_u.position, place_v.position};
      }
      return exchange;
    };
    const WideKey least = warp.least((a + 1) * (b + 1), [&](std::int32_t index) {
      const Exchange exchange = exchanged(index / (b + 1), index % (b + 1));
      if (exchange.delta >= 0) return WideKey{};
      return WideKey{ordered(exchange.delta), static_cast<std::uint64_t>(exchange.u) << 32 | static_cast<std::uint32_t>(exchange.v)};
    });
    if (least.low == WideKey{}.low) return {};
    const auto u = static_cast<std::int32_t>(least.low >> 32), v = static_cast<std::int32_t>(least.low & 0xFFFFFFFFu);
    return exchanged(u == 0 ? a : position_[u], v == 0 ? b : position_[v]);
  }
  /// The delta of `enters` at the place of `leaver`.
  [[nodiscard]] VICINITY_HD std::int32_t own_place(std::int32_t leaver, std::int32_t enters) const {
    const std::int32_t p = prev_[leaver], x = next_[leaver];
    return vrp_(p, enters) + vrp_(enters, x) - vrp_(p, x);
  }

  const Problem& problem_;
  const vrp::View& vrp_;
  std::int32_t n_, m_;
  Packed solution_;
  Penalties penalties_{};
  std::int64_t evaluations_ = 0;  ///< by this thread, not handed over
  Node *customers_, *other_;      ///< route after route, and what comes next
  Node *next_, *prev_, *route_, *position_;
  std::int32_t *load_to_, *duration_to_, *to_next_, *to_prev_;
  std::uint64_t* best_;                                        ///< [u] (delta, code), or no_move
  std::uint64_t *claims_, *sectors_;                           ///< [r]
  std::int32_t *load_, *duration_;                             ///< [r]
  Node *first_, *size_, *other_first_, *other_size_, *mover_;  ///< [r]
  unsigned char *changed_, *dirty_, *refused_;                 ///< [r]
  Moved* exchanges_;                                           ///< [r] of a pair r < s; both 0: none
  unsigned char* concerned_;                                   ///< [u] its_route, all_pairs
  Leaver* leavers_;                                            ///< [warp][customer of a pair]; in evaluate() what each_where() takes
  Common* common_;
};

}  // namespace vicinity::alns::hybrid::block
