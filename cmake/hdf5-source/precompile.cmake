# Included by the project of HDF5's library (CMAKE_PROJECT_HDF5_SRC_INCLUDE): precompiles the headers of the system and of MPI that each
# of its 390 sources parses, a seventh of the compilation. HDF5's own headers and <float.h> say other things in other sources, so they
# stay out.
cmake_language(DEFER CALL target_precompile_headers hdf5-shared PRIVATE <mpi.h> <arpa/inet.h> <assert.h> <complex.h> <ctype.h>
  <dirent.h> <dlfcn.h> <errno.h> <fcntl.h> <fenv.h> <math.h> <netdb.h> <netinet/in.h> <pthread.h> <pwd.h> <setjmp.h> <signal.h>
  <stdatomic.h> <stdio.h> <stdlib.h> <string.h> <sys/file.h> <sys/ioctl.h> <sys/resource.h> <sys/socket.h> <sys/stat.h> <sys/time.h>
  <sys/wait.h> <time.h> <unistd.h>)
