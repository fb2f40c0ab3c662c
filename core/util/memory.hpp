#pragma once
// Memory of the host, asked for before it is taken: where more is promised than there is, Linux ends a process later.
#include <string>

namespace vicinity {

/// Bytes that a process may still take: of the machine and of its control group.
[[nodiscard]] double available_memory();

/// Throws DoesNotFit "<what> takes 17.2 GB, 12.1 GB are free".
void require_memory(double bytes, const std::string& what);

}  // namespace vicinity
