/*===- Wavesmith.h - The C API of libwavesmith --------------------*- C -*-===*\
|*                                                                            *|
|* Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.     *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

/* Compiles MLIR text to code objects for AMD Instinct GPUs and runs them on
 * arrays in host memory: docs/embedding.md.
 *
 * Rules that hold for every function:
 * - Errors are returned as a status. Where there is a parameter `message`, it
 *   is set to a text of the caller's (wavesmith_string_free) after an error and
 *   to NULL after success; `message` itself may be NULL. After an error,
 *   results are set to NULL and arrays of the caller are unchanged.
 * - There is no global state to set up. All functions may be called from any
 *   thread; compilations of one process run one after the other, and so do the
 *   runs on one device.
 * - No C++ exception leaves the library, and neither a fatal error of LLVM nor
 *   a crash while it parses, compiles or simulates ends the process: they are
 *   errors like others.
 */

#ifndef WAVESMITH_C_WAVESMITH_H
#define WAVESMITH_C_WAVESMITH_H

#include <stddef.h>
#include <stdint.h>

#if defined(WAVESMITH_STATIC)
#define WAVESMITH_API
#else
#define WAVESMITH_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. */
typedef enum wavesmith_status {
  WAVESMITH_SUCCESS = 0,
  /** A name, type, shape or option that the library cannot take. */
  WAVESMITH_INVALID_ARGUMENT = 1,
  /** The text does not compile; the message holds the diagnostics. */
  WAVESMITH_COMPILE_ERROR = 2,
  /** There is no device of the kind asked for. */
  WAVESMITH_NO_DEVICE = 3,
  /** A device was found, but opening it or running a kernel on it failed. */
  WAVESMITH_DEVICE_ERROR = 4,
  WAVESMITH_OUT_OF_MEMORY = 5,
  /** A bug of Wavesmith. */
  WAVESMITH_INTERNAL_ERROR = 6
} wavesmith_status;

/** The library's version, e.g. "0.1.0". */
WAVESMITH_API const char *wavesmith_version(void);

/** Frees a text that the library gave to the caller; NULL is fine. */
WAVESMITH_API void wavesmith_string_free(char *text);

/*===-- Compile -----------------------------------------------------------===*/

/** A compiled module: a code object, the description of its kernels and, if it
 * was compiled here, the text of the stages in between. */
typedef struct wavesmith_code_object wavesmith_code_object;

/** What a caller may choose. Set it up by wavesmith_compile_options_init, which
 * gives the defaults named below, then change members. */
typedef struct wavesmith_compile_options {
  /** sizeof(wavesmith_compile_options) of the caller's header. */
  size_t struct_size;
  /** The name that diagnostics give the text; "<text>". */
  const char *source_name;
  /** The architecture, "gfx90a" or "gfx942"; "gfx942". */
  const char *target;
  /** The chip, e.g. "mi300a"; NULL takes the architecture's first. */
  const char *chip;
  /** "auto", "straight_line" or "table"; "auto". */
  const char *form;
  /** Zones and threads of a workgroup; 0 lets the compiler choose. */
  int64_t workgroup_size;
  /** The most calls of exp, log and the like in unrolled code; 200. */
  int64_t straight_line_limit;
  /** 4 or 5; 5. */
  int32_t code_object_version;
  /** The back end's optimisation level, 0 to 3; 3. */
  int32_t optimization_level;
  /** Threads that integrate one zone; 0 takes the whole workgroup. */
  int64_t threads_per_zone;
} wavesmith_compile_options;

/** Sets the defaults, and the size by which the library knows the caller's
 * version of the structure. */
WAVESMITH_API void
wavesmith_compile_options_init(wavesmith_compile_options *options);

/** Compiles \p length bytes of MLIR text. \p options may be NULL. After
 * WAVESMITH_COMPILE_ERROR the message holds every diagnostic, each on a line
 * "source_name:line:column: error: ..." with the source line and a caret below
 * it. */
WAVESMITH_API wavesmith_status wavesmith_compile(
    const char *text, size_t length, const wavesmith_compile_options *options,
    wavesmith_code_object **code_object, char **message);

/** The same for a text file, whose name \p path diagnostics give. A file that
 * cannot be read is WAVESMITH_INVALID_ARGUMENT. \p options may be NULL; its
 * source_name is not used. */
WAVESMITH_API wavesmith_status wavesmith_compile_file(
    const char *path, const wavesmith_compile_options *options,
    wavesmith_code_object **code_object, char **message);

/** Takes a code object and its description as wavesmith-compile wrote them
 * (k.hsaco, k.json). Both are checked and copied. Such a code object has no
 * stages. */
WAVESMITH_API wavesmith_status wavesmith_code_object_load(
    const void *bytes, size_t size, const char *description, size_t length,
    wavesmith_code_object **code_object, char **message);

/** The bytes of the code object, an ELF file that HIP loads as it is. They
 * live as long as \p code_object. */
WAVESMITH_API const void *
wavesmith_code_object_bytes(const wavesmith_code_object *code_object,
                            size_t *size);

/** What the kernels' arguments mean, as JSON (docs/devices.md). It lives as
 * long as \p code_object. */
WAVESMITH_API const char *
wavesmith_code_object_description(const wavesmith_code_object *code_object);

/** Points between MLIR and code object. */
typedef enum wavesmith_stage {
  WAVESMITH_STAGE_ROCDL = 0, /**< The rocdl dialect, as MLIR. */
  WAVESMITH_STAGE_LLVM = 1,  /**< LLVM IR. */
  WAVESMITH_STAGE_ISA = 2    /**< Assembly. */
} wavesmith_stage;

/** The text of a stage between MLIR and code object. The text is compiled once
 * more at the first call; this gives the same code. It lives as long as \p
 * code_object. */
WAVESMITH_API wavesmith_status wavesmith_code_object_stage(
    wavesmith_code_object *code_object, wavesmith_stage stage,
    const char **text, char **message);

/** Frees a code object and what lives as long as it; NULL is fine. */
WAVESMITH_API void
wavesmith_code_object_free(wavesmith_code_object *code_object);

/*===-- Run ---------------------------------------------------------------===*/

/** A GPU or a simulator. It takes code objects of one architecture. */
typedef struct wavesmith_device wavesmith_device;

/** Set it up by wavesmith_device_options_init. */
typedef struct wavesmith_device_options {
  /** sizeof(wavesmith_device_options) of the caller's header. */
  size_t struct_size;
  /** The chip that a simulator stands for; NULL takes the architecture's
   * first. */
  const char *chip;
  /** HIP's number of the GPU to take; -1 takes the first of the architecture.
   */
  int32_t ordinal;
  /** Host threads of the simulator; 1. */
  uint32_t threads;
} wavesmith_device_options;

/** Sets the defaults named above. */
WAVESMITH_API void
wavesmith_device_options_init(wavesmith_device_options *options);

/** Opens a device. \p kind is "hip" (a GPU, through AMD's HIP runtime), "sim"
 * (the simulator) or "auto" (a GPU of the architecture where there is one, else
 * the simulator). \p options may be NULL. */
WAVESMITH_API wavesmith_status
wavesmith_device_open(const char *kind, const char *architecture,
                      const wavesmith_device_options *options,
                      wavesmith_device **device, char **message);

/** Closes a device; NULL is fine. No run may be under way. */
WAVESMITH_API void wavesmith_device_free(wavesmith_device *device);

/** The types of elements; those of descriptions, by name. */
typedef enum wavesmith_type {
  WAVESMITH_F64 = 0,
  WAVESMITH_F32 = 1,
  WAVESMITH_I64 = 2,
  WAVESMITH_I32 = 3,
  WAVESMITH_F16 = 4,
  WAVESMITH_BF16 = 5,
  /** gfx942's 8-bit float: exponent with bias 8, no infinity. */
  WAVESMITH_F8E4M3FNUZ = 6
} wavesmith_type;

/** An array of the caller's, contiguous and in C order. */
typedef struct wavesmith_array {
  /** Name of the kernel's argument. */
  const char *name;
  /** Read for inputs and scalars, written for outputs. */
  void *data;
  wavesmith_type type;
  /** Number of dimensions; 0 for a scalar. */
  int32_t rank;
  /** The dimensions; may be NULL if there is none. */
  const int64_t *shape;
} wavesmith_array;

/** Runs a kernel over all zones and waits for it. \p arrays has every input and
 * scalar of the kernel, and the outputs that the caller wants; type and shape
 * of each have to be those of the description. \p kernel may be NULL where
 * there is only one. \p zones is the number of zones, or 0 where an input has
 * them.
 * \p report, if not NULL, is set to a report as JSON (docs/devices.md) that the
 * caller frees. Outputs are written after success only; arrays must not
 * overlap. */
WAVESMITH_API wavesmith_status wavesmith_run(
    wavesmith_device *device, const wavesmith_code_object *code_object,
    const char *kernel, const wavesmith_array *arrays, size_t num_arrays,
    int64_t zones, char **report, char **message);

/** What a run did: its report, which becomes text when that is asked for. */
typedef struct wavesmith_report wavesmith_report;

/** wavesmith_run for programs that launch small kernels often and look at few
 * of the reports: to make the text takes longer than such a launch. \p report,
 * if not NULL, is set to a report that the caller frees by
 * wavesmith_report_free; it needs neither the device nor the code object. */
WAVESMITH_API wavesmith_status wavesmith_run_with_report(
    wavesmith_device *device, const wavesmith_code_object *code_object,
    const char *kernel, const wavesmith_array *arrays, size_t num_arrays,
    int64_t zones, wavesmith_report **report, char **message);

/** The text that wavesmith_run gives; \p json is the caller's to free. */
WAVESMITH_API wavesmith_status wavesmith_report_json(
    const wavesmith_report *report, char **json, char **message);

/** How long the kernel took from its launch to its end by the host's clock, in
 * seconds, without the copies of arrays: on a simulator the time of the
 * simulation, which says nothing of a GPU's. */
WAVESMITH_API double
wavesmith_report_host_seconds(const wavesmith_report *report);

/** Frees a report; NULL is fine. */
WAVESMITH_API void wavesmith_report_free(wavesmith_report *report);

/** Starts a kernel on arrays in the memory of a GPU and returns without
 * waiting. The data of inputs and outputs, which all have to be there, and of
 * workspaces (shapes with the zones padded to whole workgroups) are addresses
 * on the device; those of scalars and dimensions are the host's. \p stream is a
 * hipStream_t, NULL for HIP's default one; what was enqueued on it before is
 * done before. The arrays have to live until the kernel has ended, the device
 * and the code object only until the call returns. */
WAVESMITH_API wavesmith_status wavesmith_launch(
    wavesmith_device *device, const wavesmith_code_object *code_object,
    const char *kernel, const wavesmith_array *arrays, size_t num_arrays,
    int64_t zones, void *stream, char **message);

/** An argument of wavesmith_call. */
typedef struct wavesmith_argument {
  /** Name of the kernel's argument. */
  const char *name;
  /** An array, contiguous and in C order, or one number for a scalar. Read for
   * inputs and scalars, written for outputs. */
  void *data;
} wavesmith_argument;

/** Opens a device, runs a kernel over all zones, waits for it and closes the
 * device: wavesmith_run in one call, for programs that run few times. Each
 * array has the type and the shape that the code object's description gives it
 * for \p zones zones, which nothing can check: the caller's memory must be that
 * large. \p device_kind is that of wavesmith_device_open, the other parameters
 * are those of wavesmith_run; \p zones must be positive. */
WAVESMITH_API wavesmith_status wavesmith_call(
    const wavesmith_code_object *code_object, const char *kernel,
    const char *device_kind, const wavesmith_argument *arguments,
    size_t num_arguments, int64_t zones, char **report, char **message);

#ifdef __cplusplus
}
#endif

#endif /* WAVESMITH_C_WAVESMITH_H */
