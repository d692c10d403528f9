import CSQLite
import Glibc
import Storage
import Synchronization

/// The database and its log as the writer opened them.
///
/// SQLite continues to use files that were removed or replaced, and its commits there are lost when the process ends.
/// So the names are checked again before each commit, for each new reader and for `/readyz`. No other file can get
/// their inodes while they are open.
final class OpenFiles: Sendable {
    private struct Identity: Equatable {
        var device: UInt64 = 0
        var inode: UInt64 = 0

        /// Nil when there is no such file.
        init?(of path: String) {
            guard unsafe spindle_file_identity(path, &device, &inode) == 0 else { return nil }
        }
    }

    private let path: String
    private let opened = Mutex<(database: Identity, log: Identity, logPath: String)?>(nil)

    init(_ path: String) { self.path = path }

    /// SQLite keeps the log beside the file that a symbolic link leads to.
    private var logPath: String? {
        guard let target = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(target) }
        return unsafe String(cString: target) + "-wal"
    }

    /// Remembers the current files; the log must be open already.
    func note() throws(StorageError) {
        guard let database = Identity(of: path), let logPath, let log = Identity(of: logPath) else {
            throw .unavailable("the database file is gone as soon as it was opened")
        }
        opened.withLock { $0 = (database, log, logPath) }
    }

    /// The length of the log's file in bytes; 0 when it does not exist.
    var logLength: Int64 {
        guard let opened = opened.withLock({ $0 }) else { return 0 }
        var status = stat()
        return unsafe stat(opened.logPath, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Less free disk space than this counts as none: a commit may need this much.
    private static let leastRoom: UInt64 = 1 << 20

    /// Throws when the disk of the files is full. A file system that reports no block counts has room.
    func confirmRoom() throws(StorageError) {
        guard let opened = opened.withLock({ $0 }) else { return }
        var disk = statvfs()
        guard unsafe statvfs(opened.logPath, &disk) == 0, disk.f_blocks > 0 else { return }
        guard UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= Self.leastRoom else {
            throw .unavailable("less than 1 MiB is free on the disk of the database")
        }
    }

    /// Throws unless the names still refer to the same files.
    func confirm() throws(StorageError) {
        guard let opened = opened.withLock({ $0 }) else { return }
        guard Identity(of: path) == opened.database, Identity(of: opened.logPath) == opened.log else {
            throw .unavailable("the database file or its -wal was removed or replaced")
        }
    }
}
