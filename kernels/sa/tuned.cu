// gpu-tuned and gpu-chains: the same kernels, for one chain or for many.
#include "kernels/sa/tuned.cuh"

#include "kernels/sa/implementations.hpp"

namespace vicinity::sa {
namespace {

template <class Types>
using OneByOne = Tuned<Types, false>;
template <class Types>
using Together = Tuned<Types, true>;

}  // namespace

std::unique_ptr<Run> prepare_tuned(const Case& c, const Instance& instance) { return prepare_gpu<OneByOne>(c, instance); }
std::unique_ptr<Run> prepare_chains(const Case& c, const Instance& instance) { return prepare_gpu<Together>(c, instance); }

}  // namespace vicinity::sa
