/* Compiles Robertson's three reactions and evaluates them for 100 zones, on a
 * GPU if there is one ("auto") or on the simulator ("sim").
 *
 * Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wavesmith-c/Wavesmith.h>

enum { ZONES = 100 };

static const char text[] =
    "wavesmith.ode_system @robertson states [\"A\" : \"mol/l\", \"B\" : "
    "\"mol/l\", \"C\" : \"mol/l\"] parameters [] time \"s\" {\n"
    "  %k1 = arith.constant 0.04 : f64\n"
    "  wavesmith.term %k1 : \"1/s\" orders [\"A\" = 1.0] loss [\"A\" = 1.0] "
    "gain [\"B\" = 1.0]\n"
    "  %k2 = arith.constant 3.0e+07 : f64\n"
    "  wavesmith.term %k2 : \"l/mol/s\" orders [\"B\" = 2.0] loss [\"B\" = "
    "1.0] "
    "gain [\"C\" = 1.0]\n"
    "  %k3 = arith.constant 1.0e+04 : f64\n"
    "  wavesmith.term %k3 : \"l/mol/s\" orders [\"B\" = 1.0, \"C\" = 1.0] loss "
    "[\"B\" = 1.0] gain [\"A\" = 1.0]\n"
    "}\n"
    "func.func @rhs(%t: f64 {wavesmith.name = \"t\"}, %y: tensor<3x?xf64> "
    "{wavesmith.name = \"y\"}) -> (tensor<3x?xf64> {wavesmith.name = "
    "\"dydt\"}) {\n"
    "  %0 = wavesmith.ode_rhs @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> "
    "tensor<3x?xf64>\n"
    "  return %0 : tensor<3x?xf64>\n"
    "}\n";

/* Ends the program after an error. */
static void require(wavesmith_status status, char **message) {
  if (status == WAVESMITH_SUCCESS)
    return;
  fprintf(stderr, "error: %s\n", *message ? *message : "out of memory");
  wavesmith_string_free(*message);
  exit(1);
}

int main(int argc, char **argv) {
  static double y[3][ZONES], dydt[3][ZONES];
  const int64_t shape[2] = {3, ZONES};
  for (int i = 0; i < ZONES; ++i) {
    y[0][i] = 1.0 - 0.005 * i;
    y[1][i] = 1e-5 * i;
    y[2][i] = 0.004 * i;
  }

  char *message = NULL;
  wavesmith_code_object *code;
  wavesmith_device *device;
  require(wavesmith_compile(text, strlen(text), NULL, &code, &message),
          &message);
  require(wavesmith_device_open(argc > 1 ? argv[1] : "auto", "gfx942", NULL,
                                &device, &message),
          &message);
  double t = 0.0;
  const wavesmith_array arrays[] = {{"t", &t, WAVESMITH_F64, 0, NULL},
                                    {"y", y, WAVESMITH_F64, 2, shape},
                                    {"dydt", dydt, WAVESMITH_F64, 2, shape}};
  char *report;
  require(wavesmith_run(device, code, "rhs", arrays, 3, 0, &report, &message),
          &message);

  int wrong = 0;
  for (int i = 0; i < ZONES; ++i) {
    double r1 = 0.04 * y[0][i], r2 = 3e7 * y[1][i] * y[1][i],
           r3 = 1e4 * y[1][i] * y[2][i];
    double want[3] = {r3 - r1, r1 - r2 - r3, r2};
    for (int s = 0; s < 3; ++s)
      wrong += !(fabs(dydt[s][i] - want[s]) <= 1e-14 * (r1 + r2 + r3));
  }
  printf("wavesmith %s: dA/dt of the last zone %.15g, %d of %d values wrong\n",
         wavesmith_version(), dydt[0][ZONES - 1], wrong, 3 * ZONES);
  puts(report);
  wavesmith_string_free(report);
  wavesmith_device_free(device);
  wavesmith_code_object_free(code);
  return wrong != 0;
}
