// QAPLIB: instances, and solutions of them.
#include <sstream>

#include "data/formats/qaplib.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vicinity::fuzz::run(data, size, [](const std::string& text) {
    const auto [instance, solution] = vicinity::fuzz::two_files(text);
    std::istringstream first(instance), second(solution);
    const vicinity::qap::Qap qap = vicinity::read_qaplib(first, vicinity::fuzz::file);
    static_cast<void>(vicinity::read_qaplib_solution(second, vicinity::fuzz::file, qap));
  });
}
