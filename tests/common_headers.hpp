// What most tests include, precompiled once where VICINITY_UNITY asks for it.
#include <gtest/gtest.h>

#include "cmake/common_headers.hpp"
