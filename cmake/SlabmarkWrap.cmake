# Makes of a drop-in an archive for programs that link the other library statically, and a response file for their link:
#   cc ... @WRAP.rsp -L... -lother
# The linker's --wrap hands each function NAME to __wrap_NAME, which is ours under that name, and what we call of the other
# library is __real_NAME. All else in the archive is hidden.
#
#   cmake -D SHARED=libdropin.so -D OBJECTS=a.o;... -D ARCHIVES=module.a;... -D OTHER=libother.a -D PREFIX=ncmpi_
#         -D FINDER=function -D NAME=dropin_wrap -D C_COMPILER=... -D LINKER=... -D OBJCOPY=... -D NM=... -D AR=...
#         -P SlabmarkWrap.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(functions_of library option result)
  run(${NM} ${option} --defined-only ${library})
  string(REGEX MATCHALL " T ${PREFIX}[A-Za-z0-9_]+" found "${output}")
  list(TRANSFORM found REPLACE " T " "")
  list(REMOVE_DUPLICATES found)
  list(SORT found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

functions_of(${SHARED} -D ours)
functions_of(${OTHER} -g theirs)

set(declarations "")
set(rows "")
set(renamed "")
set(kept "")
set(options "")
foreach(function ${theirs})
  set(real ${function})
  if(function IN_LIST ours)
    set(real __real_${function})
    string(APPEND renamed "${function} __wrap_${function}\n")
    string(APPEND kept "__wrap_${function}\n")
    string(APPEND options "-Wl,--wrap=${function}\n")
  endif()
  string(APPEND declarations "extern void ${real}(void);\n")
  string(APPEND rows "  {\"${function}\", ${real}},\n")
endforeach()

set(work ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.work)
file(MAKE_DIRECTORY ${work})
file(WRITE ${work}/real.c "#include <stddef.h>
#include <string.h>
${declarations}
static const struct { const char* name; void (*function)(void); } rows[] = {
${rows}};
void* ${FINDER}(const char* name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (!strcmp(rows[i].name, name)) return (void*)rows[i].function;
  return NULL;
}
")
file(WRITE ${work}/renamed ${renamed})
file(WRITE ${work}/kept ${kept})
run(${C_COMPILER} -O2 -fPIC -c ${work}/real.c -o ${work}/real.o)
run(${LINKER} -r -o ${work}/all.o ${work}/real.o ${OBJECTS} --start-group ${ARCHIVES} --end-group)
run(${OBJCOPY} --redefine-syms=${work}/renamed ${work}/all.o ${work}/renamed.o)
run(${OBJCOPY} --keep-global-symbols=${work}/kept ${work}/renamed.o ${work}/hidden.o)
file(REMOVE lib${NAME}.a)
run(${AR} rcs lib${NAME}.a ${work}/hidden.o)
# Programs in Fortran call ours only through the other library, which comes later: hence the undefined symbol.
list(GET ours 0 one)
file(WRITE ${NAME}.rsp "${options}-Wl,--undefined=__wrap_${one}\n-l${NAME}\n-lfmt\n-lstdc++\n-lm\n")
