# How lit finds and runs the tests of this folder.
import os
import sys

import lit.formats

config.name = "Wavesmith"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "data", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.wavesmith_build_dir, "test")

path = [
    os.path.join(config.wavesmith_build_dir, "bin"),
    config.llvm_tools_dir,
    config.environment.get("PATH", ""),
]
config.environment["PATH"] = os.path.pathsep.join(path)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
python_path = [
    os.path.join(config.wavesmith_build_dir, "python"),
    os.path.join(config.wavesmith_source_dir, "python"),
]
config.environment["PYTHONPATH"] = os.path.pathsep.join(python_path)
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%source_dir", config.wavesmith_source_dir))
config.substitutions.append(("%cxx", config.cxx))
