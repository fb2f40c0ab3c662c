// CVRPLIB: instances under both roundings, and solutions of them.
#include <sstream>

#include "data/formats/cvrplib.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vicinity::fuzz::run(data, size, [](const std::string& text) {
    const auto [instance, solution] = vicinity::fuzz::two_files(text);
    for (const auto rounding : {vicinity::vrp::Rounding::none, vicinity::vrp::Rounding::nearest}) {
      std::istringstream first(instance), second(solution);
      const vicinity::vrp::Vrp vrp = vicinity::read_cvrplib(first, vicinity::fuzz::file, rounding);
      static_cast<void>(vicinity::read_cvrplib_solution(second, vicinity::fuzz::file, vrp));
    }
  });
}
