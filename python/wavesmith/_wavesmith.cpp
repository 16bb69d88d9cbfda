//===- _wavesmith.cpp - Python module over the C API ----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As thin as can be: the interface that people use is kernel.py. Arrays come in
// by the buffer protocol, so that no array library is needed here.
//
//===----------------------------------------------------------------------===//

#include "wavesmith-c/Simulator.h"
#include "wavesmith-c/Wavesmith.h"
#include <array>
#include <map>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace {

struct CompileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct NoDeviceError : DeviceError {
  using DeviceError::DeviceError;
};

/// Throws what a status means; takes the message over.
void check(wavesmith_status status, char *message) {
  if (status == WAVESMITH_SUCCESS)
    return;
  std::string text = message ? message : "out of memory";
  wavesmith_string_free(message);
  switch (status) {
  case WAVESMITH_INVALID_ARGUMENT:
    throw nb::value_error(text.c_str());
  case WAVESMITH_COMPILE_ERROR:
    throw CompileError(text);
  case WAVESMITH_NO_DEVICE:
    throw NoDeviceError(text);
  case WAVESMITH_DEVICE_ERROR:
    throw DeviceError(text);
  case WAVESMITH_OUT_OF_MEMORY:
    throw std::bad_alloc();
  default:
    throw std::runtime_error(text);
  }
}

class CodeObject {
public:
  CodeObject(wavesmith_code_object *object, bool hasText)
      : object(object), hasText(hasText) {}
  CodeObject(const CodeObject &) = delete;
  ~CodeObject() { wavesmith_code_object_free(object); }

  wavesmith_code_object *object;
  /// Whether it was compiled here, so that there are stages.
  const bool hasText;
};

class Device {
public:
  Device(const std::string &kind, const std::string &architecture,
         const std::string &chip, int ordinal, unsigned threads) {
    wavesmith_device_options options;
    wavesmith_device_options_init(&options);
    options.chip = chip.c_str();
    options.ordinal = ordinal;
    options.threads = threads;
    char *message = nullptr;
    wavesmith_status status;
    {
      nb::gil_scoped_release release;
      status = wavesmith_device_open(kind.c_str(), architecture.c_str(),
                                     &options, &device, &message);
    }
    check(status, message);
  }
  Device(const Device &) = delete;
  ~Device() { wavesmith_device_free(device); }

  wavesmith_device *device = nullptr;
};

/// An object's memory for the time of a call.
class Buffer {
public:
  Buffer(nb::handle object, bool isWritable) {
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
    if (PyObject_GetBuffer(object.ptr(), &view,
                           isWritable ? flags | PyBUF_WRITABLE : flags))
      throw nb::python_error();
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { PyBuffer_Release(&view); }

  /// \p type, if not empty, says what elements without a format of their own
  /// are, whose bytes come as unsigned integers of the same size.
  wavesmith_array describe(const std::string &name, const std::string &type) {
    std::string format = view.format ? view.format : "B";
    if (!format.empty() && (format[0] == '=' || format[0] == '<'))
      format.erase(0, 1);
    wavesmith_array array{};
    bool isInteger = format == "l" || format == "q" || format == "i";
    if (type == "bf16" && view.itemsize == 2)
      array.type = WAVESMITH_BF16;
    else if (type == "f8E4M3FNUZ" && view.itemsize == 1)
      array.type = WAVESMITH_F8E4M3FNUZ;
    else if (format == "e")
      array.type = WAVESMITH_F16;
    else if (format == "d")
      array.type = WAVESMITH_F64;
    else if (format == "f")
      array.type = WAVESMITH_F32;
    else if (isInteger && view.itemsize == 8)
      array.type = WAVESMITH_I64;
    else if (isInteger && view.itemsize == 4)
      array.type = WAVESMITH_I32;
    else
      throw nb::value_error(("argument '" + name +
                             "': expected elements of type f64, f32, f16, i64 "
                             "or i32, got the buffer format '" +
                             format + "'")
                                .c_str());
    shape.assign(view.shape, view.shape + view.ndim);
    array.name = name.c_str();
    array.data = view.buf;
    array.rank = view.ndim;
    array.shape = shape.data();
    return array;
  }

private:
  Py_buffer view;
  std::vector<int64_t> shape;
};

/// Python takes over what is returned.
CodeObject *compile(const std::string &text, const std::string &sourceName,
                    const std::string &target, const std::string &chip,
                    const std::string &form, int64_t workgroupSize,
                    int64_t straightLineLimit, int codeObjectVersion,
                    int optimizationLevel, int64_t threadsPerZone) {
  wavesmith_compile_options options;
  wavesmith_compile_options_init(&options);
  options.source_name = sourceName.c_str();
  options.target = target.c_str();
  options.chip = chip.c_str();
  options.form = form.c_str();
  options.workgroup_size = workgroupSize;
  options.straight_line_limit = straightLineLimit;
  options.code_object_version = codeObjectVersion;
  options.optimization_level = optimizationLevel;
  options.threads_per_zone = threadsPerZone;
  char *message = nullptr;
  wavesmith_code_object *object = nullptr;
  wavesmith_status status;
  {
    nb::gil_scoped_release release;
    status = wavesmith_compile(text.data(), text.size(), &options, &object,
                               &message);
  }
  check(status, message);
  return new CodeObject(object, /*hasText=*/true);
}

CodeObject *load(nb::bytes bytes, const std::string &description) {
  char *message = nullptr;
  wavesmith_code_object *object = nullptr;
  check(wavesmith_code_object_load(bytes.c_str(), bytes.size(),
                                   description.data(), description.size(),
                                   &object, &message),
        message);
  return new CodeObject(object, /*hasText=*/false);
}

nb::bytes getBytes(const CodeObject &code) {
  size_t size = 0;
  const void *bytes = wavesmith_code_object_bytes(code.object, &size);
  return nb::bytes(bytes, size);
}

nb::str getStage(CodeObject &code, int stage) {
  char *message = nullptr;
  const char *text = nullptr;
  wavesmith_status status;
  {
    nb::gil_scoped_release release;
    status = wavesmith_code_object_stage(
        code.object, static_cast<wavesmith_stage>(stage), &text, &message);
  }
  check(status, message);
  return nb::str(text);
}

class Report {
public:
  explicit Report(wavesmith_report *report) : report(report) {}
  Report(const Report &) = delete;
  ~Report() { wavesmith_report_free(report); }

  nb::str getJSON() const;
  double getHostSeconds() const {
    return wavesmith_report_host_seconds(report);
  }

private:
  wavesmith_report *report;
};

/// \p arguments holds (name, buffer, type, is output) for each array: see
/// Buffer::describe. Python takes over what is returned.
Report *run(Device &device, const CodeObject &code, const std::string &kernel,
            nb::list arguments, int64_t zones) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::string> names(nb::len(arguments));
  std::vector<wavesmith_array> arrays;
  for (size_t i = 0; i < names.size(); ++i) {
    nb::tuple item = nb::cast<nb::tuple>(arguments[i]);
    names[i] = nb::cast<std::string>(item[0]);
    buffers.push_back(
        std::make_unique<Buffer>(item[1], nb::cast<bool>(item[3])));
    arrays.push_back(
        buffers.back()->describe(names[i], nb::cast<std::string>(item[2])));
  }
  wavesmith_report *report = nullptr;
  char *message = nullptr;
  wavesmith_status status;
  {
    nb::gil_scoped_release release;
    status = wavesmith_run_with_report(device.device, code.object,
                                       kernel.c_str(), arrays.data(),
                                       arrays.size(), zones, &report, &message);
  }
  check(status, message);
  return new Report(report);
}

/// Starts a kernel on arrays of a GPU. \p arguments holds (name, address,
/// shape, type) for each array there, and (name, buffer, type) for each scalar.
void launch(Device &device, const CodeObject &code, const std::string &kernel,
            nb::list arguments, nb::list scalars, int64_t zones,
            uint64_t stream) {
  static const std::map<std::string, wavesmith_type> types = {
      {"f64", WAVESMITH_F64},
      {"f32", WAVESMITH_F32},
      {"i64", WAVESMITH_I64},
      {"i32", WAVESMITH_I32},
      {"f16", WAVESMITH_F16},
      {"bf16", WAVESMITH_BF16},
      {"f8E4M3FNUZ", WAVESMITH_F8E4M3FNUZ}};
  size_t count = nb::len(arguments), total = count + nb::len(scalars);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::string> names(total);
  std::vector<std::vector<int64_t>> shapes(count);
  std::vector<wavesmith_array> arrays;
  for (size_t i = 0; i < total; ++i) {
    nb::tuple item =
        nb::cast<nb::tuple>(i < count ? arguments[i] : scalars[i - count]);
    names[i] = nb::cast<std::string>(item[0]);
    if (i < count) {
      shapes[i] = nb::cast<std::vector<int64_t>>(item[2]);
      arrays.push_back({names[i].c_str(),
                        reinterpret_cast<void *>(nb::cast<uint64_t>(item[1])),
                        types.at(nb::cast<std::string>(item[3])),
                        int32_t(shapes[i].size()), shapes[i].data()});
    } else {
      buffers.push_back(
          std::make_unique<Buffer>(item[1], /*isWritable=*/false));
      arrays.push_back(
          buffers.back()->describe(names[i], nb::cast<std::string>(item[2])));
    }
  }
  char *message = nullptr;
  wavesmith_status status;
  {
    nb::gil_scoped_release release;
    status = wavesmith_launch(device.device, code.object, kernel.c_str(),
                              arrays.data(), arrays.size(), zones,
                              reinterpret_cast<void *>(stream), &message);
  }
  check(status, message);
}

/// Takes over a text of the library's.
nb::str takeText(char *text) {
  nb::str result(text);
  wavesmith_string_free(text);
  return result;
}

nb::str Report::getJSON() const {
  char *text = nullptr, *message = nullptr;
  check(wavesmith_report_json(report, &text, &message), message);
  return takeText(text);
}

class SimulatorProgram {
public:
  explicit SimulatorProgram(nb::bytes bytes) {
    char *message = nullptr;
    check(wavesmith_simulator_program_load(bytes.c_str(), bytes.size(),
                                           &program, &message),
          message);
  }
  SimulatorProgram(const SimulatorProgram &) = delete;
  ~SimulatorProgram() { wavesmith_simulator_program_free(program); }

  nb::str disassemble(const std::string &kernel) const {
    char *listing = nullptr, *message = nullptr;
    check(wavesmith_simulator_program_disassemble(program, kernel.c_str(),
                                                  &listing, &message),
          message);
    return takeText(listing);
  }

  wavesmith_simulator_program *program = nullptr;
};

/// Raw bytes of any object that has them in one piece.
class Bytes {
public:
  Bytes(nb::handle object, bool isWritable) {
    if (PyObject_GetBuffer(object.ptr(), &view,
                           isWritable ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE
                                      : PyBUF_C_CONTIGUOUS))
      throw nb::python_error();
  }
  Bytes(const Bytes &) = delete;
  ~Bytes() { PyBuffer_Release(&view); }

  Py_buffer view;
};

class SimulatorMemory {
public:
  SimulatorMemory() {
    char *message = nullptr;
    check(wavesmith_simulator_memory_create(&memory, &message), message);
  }
  SimulatorMemory(const SimulatorMemory &) = delete;
  ~SimulatorMemory() { wavesmith_simulator_memory_free(memory); }

  uint64_t allocate(uint64_t bytes, const std::string &name) {
    char *message = nullptr;
    uint64_t address = 0;
    check(wavesmith_simulator_allocate(memory, bytes, name.c_str(), &address,
                                       &message),
          message);
    return address;
  }
  void release(uint64_t address) {
    char *message = nullptr;
    check(wavesmith_simulator_release(memory, address, &message), message);
  }
  void write(uint64_t address, nb::handle source) {
    Bytes bytes(source, /*isWritable=*/false);
    char *message = nullptr;
    check(wavesmith_simulator_write(memory, address, bytes.view.buf,
                                    bytes.view.len, &message),
          message);
  }
  void read(uint64_t address, nb::handle destination) {
    Bytes bytes(destination, /*isWritable=*/true);
    char *message = nullptr;
    check(wavesmith_simulator_read(memory, address, bytes.view.buf,
                                   bytes.view.len, &message),
          message);
  }

  wavesmith_simulator_memory *memory = nullptr;
};

nb::str launchSimulator(const SimulatorProgram &program,
                        SimulatorMemory &memory, const std::string &kernel,
                        std::array<uint32_t, 3> grid,
                        std::array<uint32_t, 3> workgroup, nb::bytes kernarg,
                        uint32_t dynamicLDSBytes, uint32_t threads,
                        uint64_t maxInstructions, bool check, bool modelTime,
                        const std::string &chip, double fittedScale) {
  wavesmith_simulator_launch_options options;
  wavesmith_simulator_launch_options_init(&options);
  options.kernel = kernel.c_str();
  for (int i = 0; i < 3; ++i) {
    options.grid[i] = grid[i];
    options.workgroup[i] = workgroup[i];
  }
  options.kernarg = kernarg.c_str();
  options.kernarg_size = kernarg.size();
  options.dynamic_lds_bytes = dynamicLDSBytes;
  options.threads = threads;
  options.max_instructions = maxInstructions;
  options.check = check;
  options.model_time = modelTime;
  options.chip = chip.c_str();
  options.fitted_scale = fittedScale;
  char *report = nullptr, *message = nullptr;
  wavesmith_status status;
  {
    nb::gil_scoped_release release;
    status = wavesmith_simulator_launch(program.program, memory.memory,
                                        &options, &report, &message);
  }
  ::check(status, message);
  return takeText(report);
}

nb::str countersCSV(const std::string &report) {
  char *text = nullptr, *message = nullptr;
  check(wavesmith_counters_csv(report.c_str(), &text, &message), message);
  return takeText(text);
}

} // namespace

NB_MODULE(_wavesmith, module) {
  module.doc() = "Wavesmith's C API. Use the package wavesmith.";
  // nanobind asks the translators last registered first.
  auto deviceError =
      nb::exception<DeviceError>(module, "DeviceError", PyExc_RuntimeError);
  nb::exception<NoDeviceError>(module, "NoDeviceError", deviceError.ptr());
  nb::exception<CompileError>(module, "CompileError", PyExc_ValueError);
  nb::class_<CodeObject>(module, "CodeObject")
      .def_prop_ro("bytes", &getBytes)
      .def_prop_ro("description",
                   [](const CodeObject &code) {
                     return nb::str(
                         wavesmith_code_object_description(code.object));
                   })
      .def_ro("has_text", &CodeObject::hasText)
      .def("stage", &getStage);
  nb::class_<Device>(module, "Device")
      .def(nb::init<const std::string &, const std::string &,
                    const std::string &, int, unsigned>());
  nb::class_<Report>(module, "Report")
      .def_prop_ro("json", &Report::getJSON)
      .def_prop_ro("host_seconds", &Report::getHostSeconds);
  module.def("compile", &compile);
  module.def("load", &load);
  module.def("run", &run);
  module.def("launch", &launch);
  module.def("version", &wavesmith_version);
  nb::class_<SimulatorProgram>(module, "SimulatorProgram")
      .def(nb::init<nb::bytes>())
      .def_prop_ro("description",
                   [](const SimulatorProgram &program) {
                     return nb::str(wavesmith_simulator_program_description(
                         program.program));
                   })
      .def("disassemble", &SimulatorProgram::disassemble);
  nb::class_<SimulatorMemory>(module, "SimulatorMemory")
      .def(nb::init<>())
      .def("allocate", &SimulatorMemory::allocate)
      .def("release", &SimulatorMemory::release)
      .def("write", &SimulatorMemory::write)
      .def("read", &SimulatorMemory::read);
  module.def("launch_simulator", &launchSimulator);
  module.def("counters_csv", &countersCSV);
}
