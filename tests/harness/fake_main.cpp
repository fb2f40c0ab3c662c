// The command line over the fake system: what the command-line tests use to see wrong results, crashes and slow cases.
#include "harness/cli/cli.hpp"
#include "tests/harness/fake_system.hpp"

int main(int argc, char** argv) { return vicinity::guarded_command_line(argc, argv, vicinity::fake::systems); }
