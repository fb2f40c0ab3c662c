// String removal of cpu-hybrid (the rule: core/methods/alns/hybrid/hybrid.hpp).
//
// Data: routes as rings of nodes, each with the length of the edge behind it, and load and duration of a route: a removal or insertion
// takes O(1), and is taken back by its inverse in reverse order. Cost: a step touches some ten customers, and two positions beside each of
// their 40 neighbours: its work does not grow with the number of customers.
#include "cpu_ref/alns/hybrid/string_removal.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace vicinity::alns::hybrid {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

StringRemoval::StringRemoval(const vrp::View& vrp, const Granular& granular)
    : vrp_(vrp), granular_(&granular), nodes_(at(vrp.n + 1 + granular.routes)), routes_(at(granular.routes)), ruined_(routes_.size()) {}

void StringRemoval::anneal(Routes& current, Routes& best, std::int64_t& best_distance, Penalties& penalties, Stream& stream,
                           std::int64_t steps, double hot, double cooling, const Interruption& interruption) {
  penalties_ = penalties;
  load(current);
  std::int64_t load_feasible = 0, duration_feasible = 0;
  std::int64_t distance = cost_;
  double temperature = hot;
  for (std::int64_t i = 0; i < steps; ++i, temperature = times(temperature, cooling)) {
    interruption.check();
    load_feasible += static_cast<std::int64_t>(overloaded_ == 0);
    duration_feasible += static_cast<std::int64_t>(late_ == 0);
    done_.clear();
    ruin(stream);
    recreate(stream);
    if (!accepts(cost_ - distance, temperature, stream.bits())) {
      take_back();
      continue;
    }
    distance = cost_;
    if (distance >= best_distance || overloaded_ > 0 || late_ > 0) continue;
    best_distance = distance;
    store(best);
  }
  penalties = {adapted_penalty(penalties.load, load_feasible, steps), adapted_penalty(penalties.duration, duration_feasible, steps)};
  store(current);
}

void StringRemoval::load(const Routes& routes) {
  cost_ = used_ = overloaded_ = late_ = 0;
  empty_ = -1;
  for (std::int32_t r = static_cast<std::int32_t>(routes_.size()) - 1; r >= 0; --r) {
    routes_[at(r)] = {};
    nodes_[at(start_of(r))] = {start_of(r), start_of(r), r, 0, 0};
    std::int32_t before = start_of(r);
    for (const std::int32_t c : routes[at(r)]) {
      nodes_[at(c)].place = c;
      insert(c, before);
      before = c;
    }
    if (routes[at(r)].empty()) empty_ = r;
  }
  done_.clear();
}

void StringRemoval::store(Routes& routes) const {
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(routes_.size()); ++r) {
    vrp::Route& route = routes[at(r)];
    route.clear();
    for (std::int32_t c = nodes_[at(start_of(r))].next; !is_start(c); c = nodes_[at(c)].next) route.push_back(c);
  }
}

// --- removal -----------------------------------------------------------------------------------------------------------

void StringRemoval::ruin(Stream& stream) {
  ++step_;
  removed_.clear();
  const std::int32_t seed = 1 + stream.below(vrp_.n), longest = string_length(vrp_.n, used_);
  std::int32_t strings = strings_of(stream.bits(), longest);
  for (std::int32_t i = -1; i < granular_->k && strings > 0; ++i) {
    const std::int32_t c = i < 0 ? seed : granular_->nearest[at(seed) * at(granular_->k) + at(i)];
    const Node& node = nodes_[at(c)];
    if (node.next == 0 || ruined_[at(node.route)] == step_) continue;
    ruined_[at(node.route)] = step_;
    remove_string(c, longest, stream);
    --strings;
  }
}

/// A string of c's route that has c; in a split one the customers in its middle stay, which may be c.
void StringRemoval::remove_string(std::int32_t c, std::int32_t longest, Stream& stream) {
  const std::int32_t size = routes_[at(nodes_[at(c)].route)].customers;
  const std::int32_t length = 1 + stream.below(std::min(size, longest));
  std::int32_t stay = 0, stay_from = 0;
  if (stream.below(2) == 0 && length > 1 && length < size) {
    stay = 1;
    while (length + stay < size && one_more_stays(stream.bits())) ++stay;
    stay_from = 1 + stream.below(length - 1);
  }
  const std::int32_t whole = length + stay;
  std::int32_t before = 0, behind = 0, first = c;
  for (std::int32_t b = nodes_[at(c)].next; behind < whole - 1 && !is_start(b); b = nodes_[at(b)].next) ++behind;
  for (std::int32_t a = nodes_[at(c)].prev; before < whole - 1 && !is_start(a); a = nodes_[at(a)].prev) ++before;
  const std::int32_t least = whole - 1 - behind;  // customers of the string before c
  const std::int32_t offset = least + stream.below(before - least + 1);
  for (std::int32_t i = 0; i < offset; ++i) first = nodes_[at(first)].prev;
  string_.clear();
  for (std::int32_t i = 0; i < whole; ++i, first = nodes_[at(first)].next)
    if (i < stay_from || i >= stay_from + stay) string_.push_back(first);
  for (const std::int32_t one : string_) {
    remove(one);
    removed_.push_back({0, one});
  }
}

// --- insertion ---------------------------------------------------------------------------------------------------------

void StringRemoval::recreate(Stream& stream) {
  const Order order = order_of(stream.bits());
  const std::uint64_t random = stream.bits();
  for (Ranked& one : removed_) one.rank = rank_of(order, vrp_, one.customer, random);
  std::sort(removed_.begin(), removed_.end(),
            [](const Ranked& a, const Ranked& b) { return a.rank != b.rank ? a.rank < b.rank : a.customer < b.customer; });
  for (const Ranked& one : removed_) insert(one.customer, position_for(one.customer, static_cast<std::uint32_t>(stream.bits())));
}

std::int32_t StringRemoval::position_for(std::int32_t c, std::uint32_t blink) {
  const std::int32_t* const from_c = vrp_.distance + at(c) * at(vrp_.n + 1);
  const std::int32_t demand = vrp_.demand[c], service = vrp_.service[c];
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int32_t best = 0;
  const auto consider = [&](std::int32_t before, bool passes) {
    const Node& node = nodes_[at(before)];
    const Route& route = routes_[at(node.route)];
    const std::int32_t delta = from_c[node.place] + from_c[nodes_[at(node.next)].place] - node.to_next;
    if (delta > least) return;  // no price is below its delta
    const std::int64_t after = penalty(vrp_, penalties_, route.load + demand, route.duration + delta + service);
    const std::int64_t price = insertion_price(delta, route.penalty, after);
    if (price > least || (price == least && before >= best) || (passes && blinks(blink, before))) return;
    least = price;
    best = before;
  };
  if (empty_ >= 0) consider(start_of(empty_), false);
  const std::int32_t* const nearest = granular_->nearest.data() + at(c) * at(granular_->k);
  for (std::int32_t i = 0; i < granular_->k; ++i) {
    const Node& node = nodes_[at(nearest[i])];
    if (node.next == 0) continue;
    consider(nearest[i], true);
    consider(node.prev, true);
  }
  evaluations_ += 2 * granular_->k;
  if (best != 0) return best;
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(routes_.size()); ++r) {
    std::int32_t node = start_of(r);
    do {
      consider(node, false);
      node = nodes_[at(node)].next;
    } while (!is_start(node));
    evaluations_ += routes_[at(r)].customers + 1;
  }
  return best;
}

// --- the rings ---------------------------------------------------------------------------------------------------------

void StringRemoval::take_back() {
  while (!done_.empty()) {
    const Done last = done_.back();
    if (last.inserted)
      remove(last.customer);
    else
      insert(last.customer, last.before);
    done_.resize(done_.size() - 2);  // what was just done is noted, too
  }
}

/// Route r has so many customers, and so much load, distance and service more.
void StringRemoval::change(std::int32_t r, std::int32_t customers, std::int32_t load, std::int32_t distance, std::int32_t service) {
  Route& route = routes_[at(r)];
  overloaded_ -= static_cast<std::int32_t>(route.load > vrp_.capacity);
  late_ -= static_cast<std::int32_t>(route.duration > vrp_.limit);
  cost_ += distance - route.penalty;
  route.customers += customers;
  route.load += load;
  route.duration += distance + service;
  route.penalty = penalty(vrp_, penalties_, route.load, route.duration);
  cost_ += route.penalty;
  overloaded_ += static_cast<std::int32_t>(route.load > vrp_.capacity);
  late_ += static_cast<std::int32_t>(route.duration > vrp_.limit);
}

void StringRemoval::remove(std::int32_t c) {
  Node& node = nodes_[at(c)];
  Node &before = nodes_[at(node.prev)], &behind = nodes_[at(node.next)];
  const std::int32_t joined = vrp_(before.place, behind.place);
  done_.push_back({c, node.prev, false});
  change(node.route, -1, -vrp_.demand[c], joined - before.to_next - node.to_next, -vrp_.service[c]);
  before.next = node.next;
  before.to_next = joined;
  behind.prev = node.prev;
  node.next = 0;
  if (routes_[at(node.route)].customers == 0) {
    --used_;
    if (empty_ < 0 || node.route < empty_) empty_ = node.route;
  }
}

void StringRemoval::insert(std::int32_t c, std::int32_t before) {
  Node &node = nodes_[at(c)], &left = nodes_[at(before)], &right = nodes_[at(left.next)];
  const std::int32_t to_left = vrp_(left.place, c), to_right = vrp_(c, right.place);
  done_.push_back({c, before, true});
  change(left.route, 1, vrp_.demand[c], to_left + to_right - left.to_next, vrp_.service[c]);
  node.next = left.next;
  node.prev = before;
  node.route = left.route;
  node.to_next = to_right;
  right.prev = c;
  left.next = c;
  left.to_next = to_left;
  if (routes_[at(left.route)].customers == 1) {
    ++used_;
    if (left.route == empty_) update_empty(left.route);
  }
}

/// After route r, which was the empty one of least number, has a customer.
void StringRemoval::update_empty(std::int32_t r) {
  const auto count = static_cast<std::int32_t>(routes_.size());
  empty_ = -1;
  while (++r < count)
    if (routes_[at(r)].customers == 0) {
      empty_ = r;
      return;
    }
}

}  // namespace vicinity::alns::hybrid
