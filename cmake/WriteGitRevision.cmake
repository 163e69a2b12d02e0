# Run by the target slabmark_git_revision: writes the revision of `source` to the header `output`.
set(revision unknown)
find_program(GIT git)
# Archives that git makes have the commit in this file (.gitattributes).
file(STRINGS ${source}/cmake/revision.txt archived LIMIT_COUNT 1)
if(archived MATCHES "^([0-9a-f]+)$")
  string(SUBSTRING ${archived} 0 12 revision)
endif()
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
