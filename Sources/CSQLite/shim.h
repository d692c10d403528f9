#pragma once
#include <sqlite3.h>
#include <stdint.h>
#include <sys/stat.h>

// Macros and variadic functions that Swift cannot call.
static const int spindle_sqlite_constraint_unique = SQLITE_CONSTRAINT_UNIQUE;
static const int spindle_sqlite_constraint_foreign_key = SQLITE_CONSTRAINT_FOREIGNKEY;
static const int spindle_sqlite_constraint_primary_key = SQLITE_CONSTRAINT_PRIMARYKEY;

// A misspelt column in double quotes is an error, not a string.
static inline int spindle_sqlite_refuse_quoted_strings(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
    return code ? code : sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}

// Counting memory takes a process-wide lock for each allocation, in readers on all threads. Call before the first
// connection.
static inline int spindle_sqlite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// Only the writing connection moves the log into the file.
static inline int spindle_sqlite_leave_log_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Identifies the file at `path`, to tell whether it was replaced. Not zero: no such file.
static inline int spindle_file_identity(const char *path, uint64_t *device, uint64_t *inode) {
    struct stat found;
    if (stat(path, &found) != 0) return -1;
    *device = (uint64_t)found.st_dev;
    *inode = (uint64_t)found.st_ino;
    return 0;
}
