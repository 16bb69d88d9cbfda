/* Compiles a system and evaluates it for 100 zones, on a GPU if there is one
 * ("auto") or on the simulator ("sim"): compile_and_run robertson.mlir sim
 *
 * Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <wavesmith-c/Wavesmith.h>

enum { ZONES = 100 };

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: compile_and_run <system.mlir> auto|hip|sim\n", stderr);
    return 2;
  }
  static double t = 0.0, y[3][ZONES], dydt[3][ZONES];
  for (int i = 0; i < ZONES; ++i) {
    y[0][i] = 1.0 - 0.005 * i;
    y[1][i] = 1e-5 * i;
    y[2][i] = 0.004 * i;
  }
  const wavesmith_argument arguments[] = {{"t", &t}, {"y", y}, {"dydt", dydt}};
  wavesmith_code_object *code = NULL;
  char *message = NULL;
  wavesmith_status status =
      wavesmith_compile_file(argv[1], NULL, &code, &message);
  if (status == WAVESMITH_SUCCESS)
    status = wavesmith_call(code, "rhs", argv[2], arguments, 3, ZONES, NULL,
                            &message);
  wavesmith_code_object_free(code);
  if (status != WAVESMITH_SUCCESS) {
    fprintf(stderr, "error: %s\n", message ? message : "out of memory");
    wavesmith_string_free(message);
    return 1;
  }
  for (int i = 0; i < ZONES; ++i)
    printf("zone %d: %g %g %g\n", i, dydt[0][i], dydt[1][i], dydt[2][i]);
  return 0;
}
