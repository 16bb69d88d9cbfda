/* Every misuse of the C API gives a status and a message, and leaves results at
 * NULL. Part of Wavesmith: see LICENSE.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "wavesmith-c/Wavesmith.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void check(int line, int condition, const char *what) {
  if (!condition) {
    printf("line %d: %s\n", line, what);
    ++failures;
  }
}
#define CHECK(condition) check(__LINE__, (condition), #condition)

static void expect(int line, wavesmith_status got, wavesmith_status want,
                   char *message, const char *part) {
  if (got != want || !message || !strstr(message, part)) {
    printf("line %d: status %d, message: %s\n", line, (int)got,
           message ? message : "(none)");
    ++failures;
  }
  wavesmith_string_free(message);
}
#define EXPECT(call, status, part)                                             \
  do {                                                                         \
    char *message = (char *)1;                                                 \
    wavesmith_status got = call;                                               \
    expect(__LINE__, got, status, message, part);                              \
  } while (0)

static const char source[] =
    "wavesmith.ode_system @decay states [\"A\" : \"1\"] parameters [] time "
    "\"s\" {\n"
    "  %k = arith.constant 0.5 : f64\n"
    "  wavesmith.term %k : \"1/s\" orders [\"A\" = 1.0] loss [\"A\" = 1.0]\n"
    "}\n"
    "func.func @rhs(%t: f64 {wavesmith.name = \"t\"}, %y: tensor<1x?xf64> "
    "{wavesmith.name = \"y\"}) -> (tensor<1x?xf64> {wavesmith.name = "
    "\"dydt\"}) {\n"
    "  %0 = wavesmith.ode_rhs @decay(%t, %y) : (f64, tensor<1x?xf64>) -> "
    "tensor<1x?xf64>\n"
    "  return %0 : tensor<1x?xf64>\n"
    "}\n";

/* Compiles and runs on a device of its own. */
static void *work(void *argument) {
  (void)argument;
  wavesmith_code_object *code = NULL;
  wavesmith_device *device = NULL;
  double t = 0, y[3] = {1, 2, 4}, dydt[3] = {7, 7, 7};
  int64_t shape[2] = {1, 3};
  wavesmith_array arrays[] = {{"t", &t, WAVESMITH_F64, 0, NULL},
                              {"y", y, WAVESMITH_F64, 2, shape},
                              {"dydt", dydt, WAVESMITH_F64, 2, shape}};
  int isGood =
      wavesmith_compile(source, strlen(source), NULL, &code, NULL) == 0 &&
      wavesmith_device_open("sim", "gfx942", NULL, &device, NULL) == 0 &&
      wavesmith_run(device, code, NULL, arrays, 3, 0, NULL, NULL) == 0 &&
      dydt[0] == -0.5 && dydt[1] == -1 && dydt[2] == -2;
  wavesmith_device_free(device);
  wavesmith_code_object_free(code);
  return isGood ? (void *)1 : NULL;
}

int main(void) {
  wavesmith_code_object *code = (wavesmith_code_object *)1;
  wavesmith_device *device = (wavesmith_device *)1;
  wavesmith_compile_options options;
  wavesmith_compile_options_init(&options);
  size_t length = strlen(source);

  /* Compile. */
  options.source_name = "decay.mlir";
  EXPECT(wavesmith_compile("func.func @f() {\n  %0 = nothing\n}", 33, &options,
                           &code, &message),
         WAVESMITH_COMPILE_ERROR, "decay.mlir:2:8: error: ");
  CHECK(code == NULL);
  EXPECT(wavesmith_compile("", 0, NULL, &code, &message),
         WAVESMITH_COMPILE_ERROR, "nothing to compile");
  EXPECT(wavesmith_compile(NULL, 1, NULL, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "no text");
  EXPECT(wavesmith_compile(source, length, NULL, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "no place");
  options.target = "gfx1100";
  EXPECT(wavesmith_compile(source, length, &options, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "gfx1100");
  options.target = NULL;
  options.form = "round";
  EXPECT(wavesmith_compile(source, length, &options, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "round");
  options.form = NULL;
  options.code_object_version = 3;
  EXPECT(wavesmith_compile(source, length, &options, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "version 3");
  options.code_object_version = 5;
  options.struct_size = 8;
  EXPECT(wavesmith_compile(source, length, &options, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "8 bytes");

  /* A good one, its parts, and a copy by way of its bytes. */
  wavesmith_code_object *copy = NULL;
  CHECK(wavesmith_compile(source, length, NULL, &code, NULL) == 0 && code);
  size_t size = 0;
  const unsigned char *bytes = wavesmith_code_object_bytes(code, &size);
  CHECK(size > 64 && memcmp(bytes, "\177ELF", 4) == 0);
  const char *description = wavesmith_code_object_description(code);
  CHECK(strstr(description, "\"gfx942\"") != NULL);
  const char *stage = NULL;
  CHECK(wavesmith_code_object_stage(code, WAVESMITH_STAGE_ROCDL, &stage,
                                    NULL) == 0 &&
        strstr(stage, "rocdl."));
  CHECK(wavesmith_code_object_stage(code, WAVESMITH_STAGE_LLVM, &stage, NULL) ==
            0 &&
        strstr(stage, "amdgpu_kernel"));
  CHECK(wavesmith_code_object_stage(code, WAVESMITH_STAGE_ISA, &stage, NULL) ==
            0 &&
        strstr(stage, "s_endpgm"));
  EXPECT(
      wavesmith_code_object_stage(code, (wavesmith_stage)9, &stage, &message),
      WAVESMITH_INVALID_ARGUMENT, "stage 9");
  CHECK(stage == NULL);
  CHECK(wavesmith_code_object_load(bytes, size, description,
                                   strlen(description), &copy, NULL) == 0);
  EXPECT(
      wavesmith_code_object_stage(copy, WAVESMITH_STAGE_ISA, &stage, &message),
      WAVESMITH_INVALID_ARGUMENT, "no stages");
  wavesmith_code_object *none = NULL;
  EXPECT(wavesmith_code_object_load(bytes, size / 2, description,
                                    strlen(description), &none, &message),
         WAVESMITH_INVALID_ARGUMENT, "");
  EXPECT(wavesmith_code_object_load(bytes, size, "{", 1, &none, &message),
         WAVESMITH_INVALID_ARGUMENT, "");
  CHECK(none == NULL);

  /* Devices. */
  EXPECT(wavesmith_device_open("gpu", "gfx942", NULL, &device, &message),
         WAVESMITH_INVALID_ARGUMENT, "gpu");
  CHECK(device == NULL);
  EXPECT(wavesmith_device_open("sim", "gfx1100", NULL, &device, &message),
         WAVESMITH_INVALID_ARGUMENT, "gfx1100");
  EXPECT(wavesmith_device_open("sim", NULL, NULL, &device, &message),
         WAVESMITH_INVALID_ARGUMENT, "");
  wavesmith_device_options deviceOptions;
  wavesmith_device_options_init(&deviceOptions);
  deviceOptions.threads = 0;
  EXPECT(
      wavesmith_device_open("sim", "gfx942", &deviceOptions, &device, &message),
      WAVESMITH_INVALID_ARGUMENT, "threads");
  CHECK(wavesmith_device_open("sim", "gfx942", NULL, &device, NULL) == 0);

  /* Runs. */
  double t = 0, y[3] = {1, 2, 4}, dydt[3] = {7, 7, 7};
  int64_t shape[2] = {1, 3}, other[2] = {1, 2}, empty[2] = {1, 0},
          large[2] = {INT64_MAX, INT64_MAX};
  wavesmith_array good[] = {{"t", &t, WAVESMITH_F64, 0, NULL},
                            {"y", y, WAVESMITH_F64, 2, shape},
                            {"dydt", dydt, WAVESMITH_F64, 2, shape}};
  wavesmith_array arrays[3];
#define RUN_WITH(i, member, value, part)                                       \
  memcpy(arrays, good, sizeof(good));                                          \
  arrays[i].member = value;                                                    \
  EXPECT(wavesmith_run(device, code, NULL, arrays, 3, 0, NULL, &message),      \
         WAVESMITH_INVALID_ARGUMENT, part)
  RUN_WITH(0, name, NULL, "no name");
  RUN_WITH(0, name, "y", "twice");
  RUN_WITH(1, name, "z", "'z'");
  RUN_WITH(1, type, WAVESMITH_F32, "f32");
  RUN_WITH(1, type, (wavesmith_type)77, "type 77");
  RUN_WITH(1, rank, 1, "y");
  RUN_WITH(1, rank, -1, "-1");
  RUN_WITH(1, data, NULL, "no data");
  RUN_WITH(1, shape, NULL, "no shape");
  RUN_WITH(1, shape, empty, "y");
  RUN_WITH(1, shape, large, "y");
  RUN_WITH(2, type, WAVESMITH_I64, "i64");
  RUN_WITH(2, shape, other, "[1, 2]");
  EXPECT(wavesmith_run(device, code, "jacobian", good, 3, 0, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "jacobian");
  EXPECT(wavesmith_run(device, code, NULL, good, 3, 5, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "5");
  EXPECT(wavesmith_run(device, code, NULL, good, 3, -5, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "-5");
  EXPECT(wavesmith_run(NULL, code, NULL, good, 3, 0, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "device");
  CHECK(dydt[0] == 7 && dydt[1] == 7 && dydt[2] == 7);
  char *report = NULL;
  CHECK(wavesmith_run(device, copy, "rhs", good, 3, 3, &report, NULL) == 0);
  CHECK(report && strstr(report, "\"simulator\""));
  CHECK(dydt[0] == -0.5 && dydt[1] == -1 && dydt[2] == -2);
  wavesmith_string_free(report);

  wavesmith_device_free(device);
  wavesmith_device_free(NULL);
  wavesmith_code_object_free(copy);
  wavesmith_code_object_free(code);
  wavesmith_code_object_free(NULL);
  wavesmith_string_free(NULL);

  /* From several threads at once. */
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 4; ++i) {
    void *isGood = NULL;
    pthread_join(threads[i], &isGood);
    CHECK(isGood != NULL);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
