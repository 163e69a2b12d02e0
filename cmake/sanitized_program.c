/* Linked into the programs of a build with sanitizers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* Libraries that MPI and HDF5 load, the connector among them, stay loaded to the end, or the stacks
   of leaks would have no names: leaks are looked for when the process ends. */
int dlclose(void* library) {
  (void)library;
  return 0;
}

/* A block of a library's thread-local variables that begins 16 bytes into a page is taken for one
   of glibc 2.19, with its length before it; the search for leaks then reads where that garbage
   points and ends the process ("Tracer caught signal 11"), one run in hundreds. Without the
   interception these blocks are still found, from where glibc keeps them. */
/* Libraries that tests preload come before the sanitizers, which they call as they would libc. */
__attribute__((visibility("default"))) const char* __asan_default_options(void) {
  return "intercept_tls_get_addr=0:verify_asan_link_order=0";
}

/* HDF5 2.2.0 keeps no copy of the name under which it loaded a plugin. After one that
   HDF5_VOL_CONNECTOR names, it compares the name of the next that is wanted with freed memory. */
__attribute__((visibility("default"))) const char* __asan_default_suppressions(void) {
  return "interceptor_via_fun:H5PL__find_plugin_in_cache";
}

/* MPI keeps its components, parameters and operations until the process ends, and forgets a few
   names while it ends; none of that is looked for. (That it is no suppression spares stacks through
   MPI's own code, which has no frame pointers: finding these took most of the time of all tests.)
 */
#pragma weak __lsan_disable
#pragma weak __lsan_enable
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_Finalize
void __lsan_disable(void);
void __lsan_enable(void);
int PMPI_Init(int* argc, char*** argv);
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int PMPI_Finalize(void);

static void look_for_leaks(int on) {
  if (__lsan_disable != NULL) (on ? __lsan_enable : __lsan_disable)();
}

int MPI_Init(int* argc, char*** argv) {
  look_for_leaks(0);
  const int error = PMPI_Init(argc, argv);
  look_for_leaks(1);
  return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  look_for_leaks(0);
  const int error = PMPI_Init_thread(argc, argv, required, provided);
  look_for_leaks(1);
  return error;
}

int MPI_Finalize(void) {
  look_for_leaks(0);
  const int error = PMPI_Finalize();
  look_for_leaks(1);
  return error;
}

/* HDF5 2.2.0 forgets the names of filters that it has read. That this is no suppression of what
   allocated them keeps names that we forget in sight. */
int64_t H5Pdecode(const void* list) {
  look_for_leaks(0);
  const int64_t id = (__extension__(__typeof__(&H5Pdecode)) dlsym(RTLD_NEXT, "H5Pdecode"))(list);
  look_for_leaks(1);
  return id;
}
