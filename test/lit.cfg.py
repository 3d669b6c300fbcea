# Configuration of the lit tests.

import os
import sys

import lit.formats
from lit.llvm import llvm_config

config.name = "Atrex"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".atx", ".s", ".test"]
config.excludes = ["Inputs", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.atrex_obj_root, "test")

llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.atrex_tools_dir, append_path=True)
llvm_config.add_tool_substitutions(
    ["atrex-opt", "atrex-compile", "atrex-sim", "atrex-bench-mlir", "atrex-layout"],
    [config.atrex_tools_dir, config.llvm_tools_dir],
)
config.substitutions.append(("%kernels", os.path.join(config.atrex_src_root, "bench", "kernels")))
config.substitutions.append(("%python", sys.executable))
# For scripts that run the tools themselves; another LLVM may be in PATH.
config.environment["ATREX_TEST_TOOLS"] = os.pathsep.join([config.atrex_tools_dir, config.llvm_tools_dir])
config.substitutions.append(("%src", config.atrex_src_root))
config.substitutions.append(("%llvm_include", os.path.join(os.path.dirname(config.llvm_tools_dir), "include")))
config.substitutions.append(("%tools", config.atrex_tools_dir))

# Tests that take minutes: lit -Dlong=1.
if lit_config.params.get("long"):
    config.available_features.add("long")

# Stored cases of the oracle: used where they are, not needed.
shared = os.environ.get("ATREX_SHARED", os.path.join(config.atrex_src_root, "..", "shared"))
if os.path.isdir(os.path.join(shared, "goldens")):
    config.available_features.add("goldens")
    config.substitutions.append(("%goldens", os.path.join(os.path.abspath(shared), "goldens")))
vectors = os.path.join(shared, "data", "mfma")
if os.path.isdir(vectors):
    config.available_features.add("mfma-vectors")
    config.substitutions.append(("%mfma_vectors", os.path.abspath(vectors)))
facts = os.path.join(shared, "data", "layout_facts.json")
if os.path.isfile(facts):
    config.available_features.add("layout-facts")
    config.substitutions.append(("%layout_facts", os.path.abspath(facts)))
if os.path.isfile(os.path.join(shared, "oracle", "layout.py")):
    config.available_features.add("layout-oracle")
    config.substitutions.append(("%layout-oracle", os.path.join(os.path.abspath(shared), "oracle")))
