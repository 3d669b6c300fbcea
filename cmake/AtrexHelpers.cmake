# atrex_add_library(name SOURCES... [LINK libs...])
# A static library of the project. Upstream code comes from the two shared
# libraries MLIR and LLVM; naming static LLVM components next to them registers
# options twice.
function(atrex_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  add_dependencies(${name} atrex-tablegen)
endfunction()

# atrex_add_tool(name SOURCES... [LINK libs...])
function(atrex_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  add_dependencies(${name} atrex-tablegen)
endfunction()
