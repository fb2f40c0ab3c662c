#pragma once

namespace vicinity {

/// Seconds of a fixed integer loop on one core (median of three): stays put between builds on one machine, so that a
/// change of the machine's speed shows beside a change of the code's.
[[nodiscard]] double cpu_control_seconds();

}  // namespace vicinity
