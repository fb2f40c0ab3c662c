// Descriptors, and the plans of their profiles.
#include "harness/describe/descriptor.hpp"
#include "harness/describe/plan.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/harness/fake_system.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<vicinity::System> systems{vicinity::fake::system()};
  return vicinity::fuzz::run(data, size, [](const std::string& text) {
    const vicinity::Descriptor descriptor = vicinity::parse_descriptor(text, vicinity::fuzz::file, systems);
    for (const auto& [name, profile] : descriptor.profiles)
      static_cast<void>(vicinity::make_plan(descriptor, profile, {}, /*has_device=*/false));
  });
}
