#include "core/problems/cp/problem.hpp"

#include <utility>

#include "core/problems/cp/oracle.hpp"
#include "core/problems/cp/propagation.hpp"
#include "core/problems/cp/store.hpp"
#include "core/util/digest.hpp"

namespace vicinity::cp {

Problem::Problem(Model model) : model_(std::move(model)), compiled_(compile(model_)), evaluation_(model_) {
  const Network& network = *compiled_.network;
  if (network.failed()) return;
  const Store root(network);
  for (const std::int32_t slot : evaluation_.free_variables()) {
    const Var x = compiled_.variable_of[static_cast<std::size_t>(slot)];
    const std::int64_t size = root.size(x), low = root.lower(x), high = root.upper(x);
    if (size < 2) continue;
    const bool dense = high - low + 1 == size;
    free_.push_back({slot, static_cast<std::int32_t>(low), size, dense ? -1 : static_cast<std::int64_t>(values_.size())});
    if (dense) continue;
    for (std::int64_t v = low;; v = root.next(x, v + 1)) {
      values_.push_back(static_cast<std::int32_t>(v));
      if (v == high) break;
    }
  }
}

std::uint64_t Problem::hash() const {
  Digest digest;
  const auto text = [&](Name name) {
    digest.add(model_.text(name).size());
    for (const char c : model_.text(name)) digest.add(static_cast<unsigned char>(c));
  };
  const auto add = [&](const Expression& e) {
    digest.add(static_cast<std::uint64_t>(e.kind));
    if (e.is(Expression::Kind::atom) || e.is(Expression::Kind::text)) return text(static_cast<Name>(e.value));
    for (const std::uint64_t word : {std::uint64_t{e.size}, static_cast<std::uint64_t>(e.value)}) digest.add(word);
  };
  const auto stretch = [&](Stretch s) { digest.add(std::uint64_t{s.begin} << 32 | s.size); };
  for (const Variable& x : model_.variables) {
    text(x.name);
    digest.add(std::uint64_t{x.boolean} | std::uint64_t{x.assigned} << 1);
    add(x.domain);
    if (x.assigned) add(x.value);
  }
  for (const Constraint& c : model_.constraints) {
    text(c.predicate);
    stretch(c.arguments);
    stretch(c.annotations);
  }
  digest.add(static_cast<std::uint64_t>(model_.goal));
  if (model_.goal != Goal::satisfy) add(model_.objective);
  stretch(model_.search);
  for (const Expression& e : model_.pool) add(e);
  return digest.value();
}

Objective Problem::objective(std::span<const std::int32_t> values) const {
  return {model_.goal == Goal::satisfy ? 0 : objective_of(model_, values), sense()};
}

RootDomains root_domains(const Network& network) {
  Store store(network);
  Propagation propagation(network);
  const NetworkView view = network.view();
  RootDomains root{network.failed() || !propagation.all(store), {}, {}, {view.mask, view.mask + view.mask_words}};
  if (root.failed) return root;
  for (Var x = 0; x < view.variables; ++x) {
    root.lower.push_back(static_cast<std::int32_t>(store.lower(x)));
    root.upper.push_back(static_cast<std::int32_t>(store.upper(x)));
    for (std::int64_t v = view.lower[x]; view.mask_begin[x] >= 0 && v <= view.upper[x]; ++v)
      if (const auto bit = static_cast<std::uint64_t>(v - view.lower[x]); !store.contains(x, v))
        root.mask[static_cast<std::uint64_t>(view.mask_begin[x]) + bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
  }
  return root;
}

}  // namespace vicinity::cp
