// Lines of records. Nothing is thrown: a line is a record, or has a fault with a field or is no JSON.
#include "harness/record/checked_json.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return vicinity::fuzz::run(data, size, [](const std::string& text) {
    if (vicinity::is_blank(text)) return;
    const vicinity::ParsedJson parsed = vicinity::parse_json(text);
    const auto fault = parsed.fault ? parsed.fault : vicinity::record_fault(parsed.value);
    if (fault && fault->what.empty()) std::abort();
  });
}
