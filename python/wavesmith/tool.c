/* Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A tool of the package: all of it is in libwavesmith. */

#include <stdio.h>
#include <wavesmith-c/Tools.h>

int main(int argc, char **argv) {
  int status = wavesmith_tool_main(WAVESMITH_TOOL, argc, argv);
  if (status >= 0)
    return status;
  fputs(WAVESMITH_TOOL ": error: libwavesmith does not have this tool\n",
        stderr);
  return 1;
}
