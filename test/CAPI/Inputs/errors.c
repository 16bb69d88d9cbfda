/* Every misuse of the C API gives a status and a message, and leaves results at
 * NULL. Part of Wavesmith: see LICENSE.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "wavesmith-c/Wavesmith.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char fatal[] =
    "gpu.module @kernels {\n"
    "  llvm.func @f(%p: !llvm.ptr<1>, %a: i64, %c: vector<4xf32>) attributes "
    "{gpu.kernel, rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 64, 1, "
    "1>} {\n"
    "    %0 = llvm.mlir.constant(0 : i32) : i32\n"
    "    %1 = llvm.call_intrinsic "
    "\"llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8\"(%a, "
    "%a, %c, %0, %0, %0) : (i64, i64, vector<4xf32>, i32, i32, i32) -> "
    "vector<4xf32>\n"
    "    llvm.store %1, %p : vector<4xf32>, !llvm.ptr<1>\n"
    "    llvm.return\n"
    "  }\n"
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

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  wavesmith_code_object *code = (wavesmith_code_object *)1;
  wavesmith_device *device = (wavesmith_device *)1;
  wavesmith_compile_options options;
  wavesmith_compile_options_init(&options);
  CHECK(options.straight_line_limit == 200); /* As the tools have it. */
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

  options.struct_size = sizeof(options);

  /* From a file. */
  EXPECT(wavesmith_compile_file("no/such.mlir", NULL, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "cannot read no/such.mlir: ");
  EXPECT(wavesmith_compile_file(NULL, NULL, &code, &message),
         WAVESMITH_INVALID_ARGUMENT, "no path");
  CHECK(code == NULL);
  FILE *file = fopen(argv[1], "w");
  CHECK(file && fputs("func.func @f() {\n  %0 = nothing\n}", file) >= 0 &&
        fclose(file) == 0);
  EXPECT(wavesmith_compile_file(argv[1], &options, &code, &message),
         WAVESMITH_COMPILE_ERROR, "written.mlir:2:8: error: ");
  CHECK(code == NULL);
  file = fopen(argv[1], "w");
  CHECK(file && fputs(source, file) >= 0 && fclose(file) == 0);
  CHECK(wavesmith_compile_file(argv[1], NULL, &code, NULL) == 0 && code);
  wavesmith_code_object_free(code);
  code = NULL;

  /* What stops LLVM itself: the parser's stack overflows, and the back end
   * cannot select an instruction of the other architecture. The library lives
   * on, as all that follows shows. */
  size_t depth = 200000;
  char *deep = malloc(depth * 8);
  for (size_t i = 0; i < depth; ++i)
    memcpy(deep + 8 * i, "module {", 8);
  for (int i = 0; i < 2; ++i)
    EXPECT(wavesmith_compile(deep, depth * 8, &options, &code, &message),
           WAVESMITH_COMPILE_ERROR, "decay.mlir: error: the parser gave up: ");
  free(deep);
  options.target = "gfx90a";
  for (int i = 0; i < 2; ++i)
    EXPECT(wavesmith_compile(fatal, strlen(fatal), &options, &code, &message),
           WAVESMITH_COMPILE_ERROR,
           "decay.mlir: error: the compiler's back end gave up: Cannot select");
  options.target = NULL;
  CHECK(code == NULL);

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
  /* The same text, made when it is asked for. */
  wavesmith_report *kept = NULL;
  char *later = NULL;
  memset(dydt, 0, sizeof(dydt));
  CHECK(wavesmith_run_with_report(device, copy, "rhs", good, 3, 3, &kept,
                                  NULL) == 0);
  CHECK(dydt[0] == -0.5 && dydt[1] == -1 && dydt[2] == -2);
  CHECK(wavesmith_report_host_seconds(kept) > 0);
  CHECK(wavesmith_report_json(kept, &later, NULL) == 0);
  CHECK(later && strcmp(later, report) == 0);
  wavesmith_string_free(later);
  EXPECT(wavesmith_report_json(NULL, &later, &message),
         WAVESMITH_INVALID_ARGUMENT, "report");
  EXPECT(wavesmith_report_json(kept, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "place");
  wavesmith_report_free(kept);
  kept = (wavesmith_report *)1;
  EXPECT(wavesmith_run_with_report(device, copy, "jacobian", good, 3, 3, &kept,
                                   &message),
         WAVESMITH_INVALID_ARGUMENT, "jacobian");
  CHECK(!kept);
  wavesmith_report_free(NULL);
  EXPECT(wavesmith_launch(device, copy, "rhs", good, 3, 3, NULL, &message),
         WAVESMITH_DEVICE_ERROR, "need a GPU");
  EXPECT(wavesmith_launch(device, copy, "rhs", good, 2, 0, NULL, &message),
         WAVESMITH_DEVICE_ERROR, "need a GPU");
  EXPECT(wavesmith_launch(device, copy, "rhs", good, 1, 0, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "needs input 'y'");
  EXPECT(wavesmith_launch(NULL, copy, "rhs", good, 3, 3, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "device");
  CHECK(wavesmith_report_host_seconds(NULL) == 0);
  wavesmith_string_free(report);

  /* In one call. */
  wavesmith_argument arguments[] = {{"t", &t}, {"y", y}, {"dydt", dydt}};
  memset(dydt, 0, sizeof(dydt));
  CHECK(wavesmith_call(code, NULL, "sim", arguments, 3, 3, &report, NULL) == 0);
  CHECK(report && strstr(report, "\"simulator\""));
  CHECK(dydt[0] == -0.5 && dydt[1] == -1 && dydt[2] == -2);
  wavesmith_string_free(report);
  dydt[2] = 7;
  CHECK(wavesmith_call(code, "rhs", "sim", arguments, 3, 2, NULL, NULL) == 0);
  CHECK(dydt[1] == -1 && dydt[2] == 7);
#define CALL_WITH(kernel, kind, count, zones, status, part)                    \
  EXPECT(wavesmith_call(code, kernel, kind, arguments, count, zones, NULL,     \
                        &message),                                             \
         status, part)
  CALL_WITH("jacobian", "sim", 3, 3, WAVESMITH_INVALID_ARGUMENT, "jacobian");
  CALL_WITH(NULL, "cpu", 3, 3, WAVESMITH_INVALID_ARGUMENT, "cpu");
  CALL_WITH(NULL, NULL, 3, 3, WAVESMITH_INVALID_ARGUMENT, "");
  CALL_WITH(NULL, "sim", 3, 0, WAVESMITH_INVALID_ARGUMENT, "positive, got 0");
  CALL_WITH(NULL, "sim", 3, -1, WAVESMITH_INVALID_ARGUMENT, "positive, got -1");
  CALL_WITH(NULL, "sim", 3, INT64_MAX, WAVESMITH_INVALID_ARGUMENT, "y");
  CALL_WITH(NULL, "sim", 1, 3, WAVESMITH_INVALID_ARGUMENT, "'y'");
  arguments[1].name = "z";
  CALL_WITH(NULL, "sim", 3, 3, WAVESMITH_INVALID_ARGUMENT, "'z'");
  arguments[1].name = "t";
  CALL_WITH(NULL, "sim", 3, 3, WAVESMITH_INVALID_ARGUMENT, "twice");
  arguments[1].name = NULL;
  CALL_WITH(NULL, "sim", 3, 3, WAVESMITH_INVALID_ARGUMENT, "no name");
  arguments[1].name = "y";
  arguments[1].data = NULL;
  CALL_WITH(NULL, "sim", 3, 3, WAVESMITH_INVALID_ARGUMENT, "no data");
  EXPECT(wavesmith_call(code, NULL, "sim", NULL, 3, 3, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "no arguments");
  EXPECT(wavesmith_call(NULL, NULL, "sim", arguments, 3, 3, NULL, &message),
         WAVESMITH_INVALID_ARGUMENT, "code object");
  CHECK(dydt[1] == -1 && dydt[2] == 7);

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
