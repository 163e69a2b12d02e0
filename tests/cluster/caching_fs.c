/* caching_fs SOURCE -f MOUNT_POINT: shows the folder SOURCE at MOUNT_POINT as a file system over a
   network does whose clients do not ask each other: the kernel of each node keeps names, sizes and
   pages for an hour, writes when it likes, and appends where it believes the end of a file to be.
   One such process a node; what they share is SOURCE. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char* source;

static const char* in_source(const char* path, char* whole) {
  snprintf(whole, PATH_MAX, "%s%s", source, path);
  return whole;
}

#define IN_SOURCE(path) in_source(path, (char[PATH_MAX]){0})
#define RESULT(call) return (call) < 0 ? -errno : 0

static void* begin(struct fuse_conn_info* connection, struct fuse_config* settings) {
  connection->want |= connection->capable & FUSE_CAP_WRITEBACK_CACHE;
  connection->want &= ~(unsigned)FUSE_CAP_AUTO_INVAL_DATA;
  settings->kernel_cache = 1;
  settings->attr_timeout = settings->entry_timeout = 3600;
  settings->negative_timeout = 0;
  return NULL;
}

static int get_attributes(const char* path, struct stat* status, struct fuse_file_info* file) {
  if (file != NULL) RESULT(fstat((int)file->fh, status));
  RESULT(lstat(IN_SOURCE(path), status));
}

static int open_with(const char* path, int flags, mode_t mode, struct fuse_file_info* file) {
  if ((flags & O_DIRECT) != 0) return -EINVAL; /* there is no way past what it keeps */
  /* The kernel says where to write, and reads what it keeps a page of. */
  const int readable = (flags & O_ACCMODE) == O_WRONLY ? (flags & ~O_ACCMODE) | O_RDWR : flags;
  const int descriptor = open(IN_SOURCE(path), readable & ~O_APPEND, mode);
  if (descriptor < 0) return -errno;
  file->fh = (uint64_t)descriptor;
  return 0;
}

static int open_file(const char* path, struct fuse_file_info* file) {
  return open_with(path, file->flags, 0, file);
}

static int create_file(const char* path, mode_t mode, struct fuse_file_info* file) {
  return open_with(path, file->flags | O_CREAT, mode, file);
}

static int read_file(const char* path, char* data, size_t bytes, off_t offset,
                     struct fuse_file_info* file) {
  const ssize_t done = pread((int)file->fh, data, bytes, offset);
  (void)path;
  return done < 0 ? -errno : (int)done;
}

static int write_file(const char* path, const char* data, size_t bytes, off_t offset,
                      struct fuse_file_info* file) {
  const ssize_t done = pwrite((int)file->fh, data, bytes, offset);
  (void)path;
  return done < 0 ? -errno : (int)done;
}

static int release_file(const char* path, struct fuse_file_info* file) {
  (void)path;
  RESULT(close((int)file->fh));
}

static int sync_file(const char* path, int data, struct fuse_file_info* file) {
  (void)path;
  (void)data;
  RESULT(fsync((int)file->fh));
}

static int cut_file(const char* path, off_t bytes, struct fuse_file_info* file) {
  if (file != NULL) RESULT(ftruncate((int)file->fh, bytes));
  RESULT(truncate(IN_SOURCE(path), bytes));
}

static int set_mode(const char* path, mode_t mode, struct fuse_file_info* file) {
  (void)file;
  RESULT(chmod(IN_SOURCE(path), mode));
}

static int set_times(const char* path, const struct timespec* times, struct fuse_file_info* file) {
  (void)file;
  RESULT(utimensat(AT_FDCWD, IN_SOURCE(path), times, AT_SYMLINK_NOFOLLOW));
}

static int list_folder(const char* path, void* list, fuse_fill_dir_t add, off_t offset,
                       struct fuse_file_info* file, enum fuse_readdir_flags flags) {
  DIR* const folder = opendir(IN_SOURCE(path));
  const struct dirent* entry;
  (void)offset;
  (void)file;
  (void)flags;
  if (folder == NULL) return -errno;
  while ((entry = readdir(folder)) != NULL)
    add(list, entry->d_name, NULL, 0, (enum fuse_fill_dir_flags)0);
  closedir(folder);
  return 0;
}

static int move_file(const char* from, const char* to, unsigned flags) {
  RESULT(renameat2(AT_FDCWD, IN_SOURCE(from), AT_FDCWD, IN_SOURCE(to), flags));
}

static int remove_file(const char* path) { RESULT(unlink(IN_SOURCE(path))); }
static int make_folder(const char* path, mode_t mode) { RESULT(mkdir(IN_SOURCE(path), mode)); }
static int remove_folder(const char* path) { RESULT(rmdir(IN_SOURCE(path))); }
static int get_space(const char* path, struct statvfs* status) {
  RESULT(statvfs(IN_SOURCE(path), status));
}

int main(int argc, char** argv) {
  const struct fuse_operations operations = {.init = begin,
                                             .getattr = get_attributes,
                                             .open = open_file,
                                             .create = create_file,
                                             .read = read_file,
                                             .write = write_file,
                                             .release = release_file,
                                             .fsync = sync_file,
                                             .truncate = cut_file,
                                             .chmod = set_mode,
                                             .utimens = set_times,
                                             .readdir = list_folder,
                                             .rename = move_file,
                                             .unlink = remove_file,
                                             .mkdir = make_folder,
                                             .rmdir = remove_folder,
                                             .statfs = get_space};
  if (argc < 3) return 2;
  source = argv[1];
  argv[1] = argv[0];
  return fuse_main(argc - 1, argv + 1, &operations, NULL);
}
