# Run by the target slabmark_git_revision: writes the revision of `source` to the header `output`.
set(revision unknown)
find_program(GIT git)
# A release unpacked inside somebody's own repository must not report that one's revision.
if(GIT AND EXISTS ${source}/.git)
  execute_process(COMMAND ${GIT} -C ${source} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described)
    set(revision ${described})
  endif()
endif()

set(text "#define SLABMARK_GIT_REVISION \"${revision}\"\n")
set(before "")
if(EXISTS ${output})
  file(READ ${output} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${output} "${text}")
endif()
