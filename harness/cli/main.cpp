#include "harness/cli/cli.hpp"
#include "systems/list.hpp"

int main(int argc, char** argv) { return vicinity::guarded_command_line(argc, argv, vicinity::all_systems); }
