# SPDX-License-Identifier: MIT
# Models in a build: find_package(headrace) and add_subdirectory(headrace) include this file; with the single
# header it can be included alone. It runs the headrace program of the build machine: HEADRACE_PROGRAM, else
# the target headrace::program, imported or built here, else the program in the path.
#
#   headrace_add_model(<target> MODEL <file.pt2> [NAME <identifier>] [TARGET <spec>] [IO_LAYOUT nchw|nhwc]
#                      [VELA <accelerator> [VELA_OPTIONS <option>…]] [CONTRACT])
#   headrace_add_model(<target> MODEL <file.pt2> [NAME <identifier>] [TARGET <spec>] [IO_LAYOUT nchw|nhwc] PTE
#                      [IO int8|float] [KERNELS cortex_m|portable] [CORE <core>] [DELEGATE <backend>] [CONTRACT])
#   headrace_add_model(<target> MODEL <file.pt2> [NAME <identifier>] [TARGET <spec>] CPP CORE <core>
#                      [STREAM [<input>:]<axis> STEP <elements>])
#
# lowers the model when <target> is built, once for all targets with equal arguments, and links it into
# <target>, an executable or a library: <NAME>_model, its bytes, <NAME>_model_size and <NAME>_io, declared in
# <NAME>_model.h. NAME is the file's without its extension, or the folder's if that is `model`. VELA compiles
# the model for an Ethos-U NPU; PTE makes it a program for ExecuTorch's runtime, which takes and gives
# integers with IO int8, and computes with the runtime's integer kernels with KERNELS cortex_m or a CORE;
# CONTRACT adds <NAME>_contract.hpp. With CPP the model is a C++ type for that core, in <NAME>.hpp; with
# STREAM it is one of a step, which keeps its states. The files are in headrace_models/<NAME> of the build,
# report.json among them.

# Script mode: runs Vela, which prints much on success and exits with 0 even if it leaves operators to a CPU.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${VELA} ${MODEL} --accelerator-config ${ACCELERATOR} --output-format raw
    --output-dir ${OUTPUT} ${OPTIONS} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  file(WRITE ${OUTPUT}/vela.log "${said}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "Vela cannot compile ${MODEL} for ${ACCELERATOR}:\n${said}")
  endif()
  if(NOT said MATCHES "CPU operators = ([0-9]+)")
    message(FATAL_ERROR "Vela does not say how many operators of ${MODEL} are left to the CPU:\n${said}")
  endif()
  if(NOT CMAKE_MATCH_1 EQUAL 0)
    message(FATAL_ERROR "Vela leaves ${CMAKE_MATCH_1} operators of ${MODEL} to the CPU: ${OUTPUT}/vela.log")
  endif()
  return()
endif()

cmake_policy(VERSION 3.20...3.25)

# Sets the command that runs the program, on which rules that run it depend, too.
function(headrace_find_program command)
  if(NOT HEADRACE_PROGRAM AND TARGET headrace::program)
    get_target_property(imported headrace::program IMPORTED)
    # A program cross-compiled for another machine cannot lower anything here.
    if(imported OR NOT CMAKE_CROSSCOMPILING)
      set(${command} $<TARGET_FILE:headrace::program> PARENT_SCOPE)
      return()
    endif()
  endif()
  find_program(HEADRACE_PROGRAM headrace DOC "The headrace program of the machine that builds" NO_CMAKE_FIND_ROOT_PATH)
  if(NOT HEADRACE_PROGRAM)
    message(FATAL_ERROR "headrace_add_model: no headrace program; install Headrace for the machine that builds, or set "
      "HEADRACE_PROGRAM to its program, or HEADRACE_EXAMPLES=ON before add_subdirectory to build it here")
  endif()
  set(${command} ${HEADRACE_PROGRAM} PARENT_SCOPE)
endfunction()

# Adds a rule to the build: the files that the COMMAND writes to <folder>/new replace the OUTPUT files of
# <folder>. Ninja stops at files that did not change, so a new program recompiles only the files that it
# changes; Make would run the rule again each time.
function(headrace_model_rule folder comment)
  cmake_parse_arguments(PARSE_ARGV 2 rule "" "" "OUTPUT;COMMAND;DEPENDS")
  set(replace copy)
  if(CMAKE_GENERATOR MATCHES Ninja)
    set(replace copy_if_different)
  endif()
  list(TRANSFORM rule_OUTPUT PREPEND ${folder}/new/ OUTPUT_VARIABLE written)
  list(TRANSFORM rule_OUTPUT PREPEND ${folder}/ OUTPUT_VARIABLE outputs)
  add_custom_command(OUTPUT ${outputs} COMMAND ${rule_COMMAND}
    COMMAND ${CMAKE_COMMAND} -E ${replace} ${written} ${folder} DEPENDS ${rule_DEPENDS} COMMENT ${comment} VERBATIM)
endfunction()

# Adds the rules of one model, and the target that runs them once for all that link it.
function(headrace_model_rules rules folder name model)
  cmake_parse_arguments(PARSE_ARGV 4 arg "CONTRACT;PTE;CPP"
    "TARGET;IO_LAYOUT;VELA;IO;KERNELS;CORE;DELEGATE;STREAM;STEP" "VELA_OPTIONS")
  headrace_find_program(program)
  file(MAKE_DIRECTORY ${folder}/new)
  set(target_option)
  set(npu u55)
  if(arg_VELA MATCHES "^ethos-u85")
    set(npu u85)
  endif()
  if(arg_VELA AND NOT arg_TARGET)
    set(arg_TARGET TOSA-1.0+INT+${npu})
  elseif(arg_VELA AND NOT "+${arg_TARGET}+" MATCHES "[+]${npu}[+]")
    message(NOTICE "headrace_add_model: TARGET ${arg_TARGET} does not name the NPU of ${arg_VELA}: with +${npu}, or "
      "without TARGET, ${name} is lowered to what that runs fastest")
  endif()
  if(arg_TARGET)
    set(target_option --target ${arg_TARGET})
  endif()
  set(layout_option)
  if(arg_IO_LAYOUT)
    set(layout_option --io-layout ${arg_IO_LAYOUT})
  endif()

  if(arg_CPP)
    set(stream_options)
    if(arg_STREAM)
      set(stream_options --stream ${arg_STREAM} --step ${arg_STEP} --state variable)
    endif()
    headrace_model_rule(${folder} "Writing ${name} as a C++ type" OUTPUT ${name}.hpp DEPENDS ${model} ${program}
      COMMAND ${program} lower -q ${model} -o ${folder}/new/${name}.hpp --core ${arg_CORE} --name ${name}
        ${target_option} ${stream_options})
    add_custom_target(${rules} DEPENDS ${folder}/${name}.hpp)
    return()
  endif()
  set(embedded ${name}.tosa)
  set(pte_options)
  if(arg_PTE)
    set(embedded ${name}.pte)
    if(arg_IO)
      list(APPEND pte_options --io-type ${arg_IO})
    endif()
    foreach(option KERNELS CORE DELEGATE)
      if(arg_${option})
        string(TOLOWER ${option} spelled)
        list(APPEND pte_options --${spelled} ${arg_${option}})
      endif()
    endforeach()
  endif()
  headrace_model_rule(${folder} "Lowering ${name}" OUTPUT ${embedded} io.json DEPENDS ${model} ${program}
    COMMAND ${program} lower -q ${model} -o ${folder}/new/${embedded} --io ${folder}/new/io.json
      --report ${folder}/report.json ${target_option} ${layout_option} ${pte_options})
  if(arg_VELA)
    find_program(HEADRACE_VELA vela DOC "Arm's compiler for Ethos-U NPUs" NO_CMAKE_FIND_ROOT_PATH REQUIRED)
    set(embedded ${name}_vela.npz)
    headrace_model_rule(${folder} "Compiling ${name} for ${arg_VELA}" OUTPUT ${embedded}
      DEPENDS ${folder}/${name}.tosa ${HEADRACE_VELA}
      COMMAND ${CMAKE_COMMAND} -DVELA=${HEADRACE_VELA} -DMODEL=${folder}/${name}.tosa -DACCELERATOR=${arg_VELA}
        -DOUTPUT=${folder}/new "-DOPTIONS=${arg_VELA_OPTIONS}" -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  endif()
  set(made ${name}_model.c ${name}_model.h)
  headrace_model_rule(${folder} "Embedding ${name}" OUTPUT ${made}
    DEPENDS ${folder}/${embedded} ${folder}/io.json ${program}
    COMMAND ${program} embed ${folder}/${embedded} --io ${folder}/io.json --name ${name} -o ${folder}/new)
  if(arg_CONTRACT)
    list(APPEND made ${name}_contract.hpp)
    headrace_model_rule(${folder} "Writing the contract of ${name}" OUTPUT ${name}_contract.hpp
      DEPENDS ${model} ${program}
      COMMAND ${program} contract ${model} -o ${folder}/new/${name}_contract.hpp --name ${name} ${target_option}
        ${layout_option})
  endif()
  list(TRANSFORM made PREPEND ${folder}/)
  add_custom_target(${rules} DEPENDS ${made})
endfunction()

# Sets the model's name and path from the arguments of headrace_add_model, or reports errors in the user's
# terms.
macro(headrace_check_model_arguments)
  set(place "headrace_add_model(${target})")
  if(NOT DEFINED arg_MODEL)
    message(FATAL_ERROR "${place}: needs MODEL and a file name")
  endif()
  set(unclear ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES})
  if(unclear)
    message(FATAL_ERROR "${place}: does not take '${unclear}', or only with a value")
  endif()
  set(type)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    get_target_property(imported ${target} IMPORTED)
  endif()
  if(NOT type MATCHES "EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY" OR imported)
    message(FATAL_ERROR "${place}: is not an executable or library that this project compiles")
  endif()
  cmake_path(ABSOLUTE_PATH arg_MODEL NORMALIZE OUTPUT_VARIABLE model)
  get_source_file_property(generated ${model} GENERATED)
  if(arg_PTE AND arg_VELA)
    message(FATAL_ERROR "${place}: VELA is for TOSA flatbuffers, not for PTE")
  elseif((arg_DELEGATE OR arg_IO OR arg_KERNELS) AND NOT arg_PTE)
    message(FATAL_ERROR "${place}: DELEGATE, IO and KERNELS need PTE")
  elseif(arg_IO AND NOT arg_IO MATCHES "^(int8|float)$")
    message(FATAL_ERROR "${place}: IO is int8 or float, not ${arg_IO}")
  elseif(arg_CPP AND (arg_PTE OR arg_VELA OR arg_IO_LAYOUT OR arg_CONTRACT))
    message(FATAL_ERROR "${place}: PTE, VELA, IO_LAYOUT and CONTRACT are not for CPP")
  elseif(arg_CPP AND NOT arg_CORE)
    message(FATAL_ERROR "${place}: CPP needs CORE and a processor, cortex-m4 for example")
  elseif((arg_STREAM OR arg_STEP) AND NOT (arg_CPP AND arg_STREAM AND arg_STEP))
    message(FATAL_ERROR "${place}: STREAM and STEP need each other, and CPP")
  elseif(arg_CORE AND NOT arg_CPP AND NOT arg_PTE)
    message(FATAL_ERROR "${place}: CORE is for CPP or PTE")
  endif()
  if(NOT EXISTS ${model} AND NOT generated)
    message(FATAL_ERROR "${place}: no file ${model}")
  endif()
  if(NOT arg_NAME)
    cmake_path(GET model STEM LAST_ONLY arg_NAME)
    if(arg_NAME STREQUAL "model")
      cmake_path(GET model PARENT_PATH arg_NAME)
      cmake_path(GET arg_NAME FILENAME arg_NAME)
    endif()
    string(REGEX REPLACE "[^A-Za-z0-9]+" "_" arg_NAME ${arg_NAME})
    string(REGEX REPLACE "^_?([0-9])" "model_\\1" arg_NAME ${arg_NAME})
    string(REGEX REPLACE "^_|_$" "" arg_NAME ${arg_NAME})
  endif()
  get_target_property(names ${target} HEADRACE_MODELS)
  string(TOUPPER ${arg_NAME} upper)
  if(upper IN_LIST names)
    message(FATAL_ERROR "${place}: has two models that are called ${arg_NAME}; give one of them another NAME")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY HEADRACE_MODELS ${upper})
endmacro()

function(headrace_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CONTRACT;PTE;CPP"
    "MODEL;NAME;TARGET;IO_LAYOUT;VELA;IO;KERNELS;CORE;DELEGATE;STREAM;STEP" "VELA_OPTIONS")
  headrace_check_model_arguments()
  set(options)
  foreach(option TARGET IO_LAYOUT VELA VELA_OPTIONS IO KERNELS CORE DELEGATE STREAM STEP)
    if(arg_${option})
      list(APPEND options ${option} ${arg_${option}})
    endif()
  endforeach()
  foreach(option CONTRACT PTE CPP)
    if(arg_${option})
      list(APPEND options ${option})
    endif()
  endforeach()

  # Another target may link the same model, or, in another image, a different model of that name.
  set(rules headrace_model_${arg_NAME})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/headrace_models/${arg_NAME})
  string(SHA1 wanted "${model};${options}")
  if(TARGET ${rules})
    get_target_property(made ${rules} HEADRACE_WANTED)
    if(NOT made STREQUAL wanted)
      string(SUBSTRING ${wanted} 0 8 short)
      string(APPEND rules _${short})
      string(APPEND folder _${short})
    endif()
  endif()
  if(TARGET ${rules})
    get_target_property(folder ${rules} HEADRACE_FOLDER)
  else()
    headrace_model_rules(${rules} ${folder} ${arg_NAME} ${model} ${options})
    set_target_properties(${rules} PROPERTIES HEADRACE_WANTED ${wanted} HEADRACE_FOLDER ${folder})
  endif()

  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  add_dependencies(${target} ${rules})
  if(arg_CPP)
    if(TARGET headrace::headrace)  # the library that has its kernels
      target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:$<TARGET_PROPERTY:headrace::headrace,INTERFACE_INCLUDE_DIRECTORIES>>)
    endif()
    return()
  endif()
  set(source ${folder}/${arg_NAME}_model.c)
  # An optimizing linker does not see symbols of assembly.
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON COMPILE_OPTIONS -fno-lto
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT C IN_LIST languages)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX)
  endif()
  target_sources(${target} PRIVATE ${source})
endfunction()
