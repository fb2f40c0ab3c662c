// data/catalogue.yaml.
#include "data/catalogue.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vicinity::fuzz::run(data, size,
                             [](const std::string& text) { static_cast<void>(vicinity::Catalogue::parse(text, vicinity::fuzz::file)); });
}
