# CUDA, for slices of fields that lie on GPUs. CUDACXX names the compiler (environment), or it is the nvcc in the PATH.
# Without it everything else is built. CMAKE_CUDA_ARCHITECTURES chooses the GPUs; by default code for all of them.
# Not by FindCUDAToolkit: that of CMake 3.25 fails on CUDA 13, and the compiler knows where its headers and runtime are.
include(CheckLanguage)
check_language(CUDA)
set(SLABMARK_CUDA OFF)
if(CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it for nvcc
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(SLABMARK_CUDA ON)
  message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER}, slices can be taken of fields on GPUs")
else()
  message(STATUS "CUDA: no compiler (CUDACXX, or nvcc in the PATH); slices are taken of fields in host memory")
endif()
