// TSPLIB: instances, and tours of them.
#include <sstream>

#include "data/formats/tsplib.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vicinity::fuzz::run(data, size, [](const std::string& text) {
    const auto [instance, tour] = vicinity::fuzz::two_files(text);
    std::istringstream first(instance), second(tour);
    const vicinity::tsp::Tsp tsp = vicinity::read_tsplib(first, vicinity::fuzz::file);
    static_cast<void>(vicinity::read_tsplib_tour(second, vicinity::fuzz::file, tsp));
  });
}
