#include "core/systems.hpp"

#include <iterator>
#include <utility>

#include "data/fang/system.hpp"
#include "data/lsm/system.hpp"
#include "data/sa/system.hpp"

namespace vicinity {
namespace {

System with(System system, std::vector<Implementation> cpu, std::vector<Implementation> gpu) {
  for (auto* part : {&cpu, &gpu}) std::move(part->begin(), part->end(), std::back_inserter(system.implementations));
  return system;
}

}  // namespace

const std::vector<System>& systems() {
  static const std::vector<System> all{
      with(fang::system(), fang::cpu_implementations(), fang::gpu_implementations()),
      with(sa::system(), sa::cpu_implementations(), sa::gpu_implementations()),
      with(lsm::system(), lsm::cpu_implementations(), lsm::gpu_implementations()),
  };
  return all;
}

}  // namespace vicinity
