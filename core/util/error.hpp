#pragma once
#include <stdexcept>
#include <string>

namespace vicinity {

/// Bad input (descriptor, instance file, option): one line for the user, with file and line where there is one.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An instance file is not here. One line that says where it was looked for and how to get it. In an experiment its cases are
/// skipped and say so; the others run.
struct MissingInput : InputError {
  using InputError::InputError;
};

/// The case is valid but does not fit this machine (device memory, launch limits). The case is skipped and says so.
struct DoesNotFit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace vicinity
