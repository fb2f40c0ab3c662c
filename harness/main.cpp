#include "core/systems.hpp"
#include "harness/cli.hpp"

int main(int argc, char** argv) { return vicinity::guarded_command_line(argc, argv, vicinity::systems); }
