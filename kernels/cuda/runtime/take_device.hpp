#pragma once
// Of several GPUs of a host, which one this process works on.
#include <cstdint>

namespace vicinity::device {

/// Takes GPU `number` modulo those of the host, for the calling thread, before it uses any; returns how many there are. Throws
/// std::runtime_error where there is none.
std::int64_t take(std::int32_t number);

}  // namespace vicinity::device
