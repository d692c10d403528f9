import CSQLite
import Storage
import Synchronization

/// The database and its log as the writer opened them.
///
/// SQLite goes on with files that were removed or replaced, and what it commits there is gone with the process. So before
/// each commit, for each new reader and for `/readyz` the names are looked up again. While they are open their inodes
/// are nobody else's.
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
    private let opened = Mutex<(database: Identity, log: Identity)?>(nil)

    init(_ path: String) { self.path = path }

    /// Remembers what stands there now; the log must have been opened.
    func note() throws(StorageError) {
        guard let database = Identity(of: path), let log = Identity(of: path + "-wal") else {
            throw .unavailable("the database file is gone as soon as it was opened")
        }
        opened.withLock { $0 = (database, log) }
    }

    /// Throws unless the same files still stand there.
    func confirm() throws(StorageError) {
        guard let opened = opened.withLock({ $0 }) else { return }
        guard Identity(of: path) == opened.database, Identity(of: path + "-wal") == opened.log else {
            throw .unavailable("the database file or its -wal was removed or replaced")
        }
    }
}
