import Glibc
import Synchronization
import System

/// A SQLite database as a file: whether another process has it open, and how one file replaces another.
enum SQLiteFile {
    /// Throws when another process has the database open. Secrets and the file must not change under a running server.
    static func refuseWhileOpen(_ location: DatabaseLocation) throws {
        guard case .sqlite(let path) = location, try isOpenElsewhere(path) else { return }
        throw CommandFailure("\(path) is open in another process: stop the server first", .unavailable)
    }

    /// Every connection in WAL mode holds SQLite's shared lock for as long as it lives (sqlite.org/lockingv3.html), so
    /// this asks the system whether an exclusive lock would be granted. Must run before this process opens the
    /// database, because closing any descriptor of a file ends all of a process's locks on it.
    private static func isOpenElsewhere(_ path: String) throws -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return false }
            throw CommandFailure("\(path): \(String(cString: strerror(errno)))", .unavailable)
        }
        defer { close(file) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        // SHARED_FIRST and SHARED_SIZE of SQLite's file format.
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        guard fcntl(file, F_GETLK, &lock) == 0 else {
            throw CommandFailure("\(path): \(String(cString: strerror(errno)))", .unavailable)
        }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Makes an empty file beside `target`, for this user only, under a new name, so that neither another run of the
    /// command nor another user of a sticky folder can write to it. If root makes it, it belongs to the owner of
    /// `target`. Its name contains `purpose`.
    static func make(_ purpose: String, beside target: String) throws -> String {
        var name = Array("\(target).\(purpose)-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw CommandFailure("\(target): \(String(cString: strerror(errno)))", .cannotCreate) }
        Files.giveToOwner(of: target, file)
        close(file)
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs `work` with a file made by `make`, and deletes it afterwards with SQLite's companion files, even when a
    /// signal ends the command.
    static func withTemporary(
        _ purpose: String, beside target: String, _ work: (String) async throws -> Void
    ) async throws {
        let made = Mutex<String?>(nil)
        let watches = await EndingSignals.watch {
            made.withLock { made in
                removeTemporary(made)
                made = nil
            }
        }
        defer { for watch in watches { watch.cancel() } }
        let file = try made.withLock { made in
            let file = try make(purpose, beside: target)
            made = file
            return file
        }
        defer { removeTemporary(file) }
        do {
            try await work(file)
        } catch {
            // An error caused by the signal's clean-up is not reported: the signal is about to end the process.
            if made.withLock({ $0 == nil }) { try await Task.sleep(for: .seconds(10)) }
            throw error
        }
    }

    private static func removeTemporary(_ file: String?) {
        guard let file else { return }
        remove([file] + companions(of: file))
    }

    /// Gives the file at `source` the name `target`, which must be free; its old name may stay. It is synced to disk
    /// when this returns.
    static func publish(_ source: String, as target: String) throws {
        try synchronize(source)
        if link(source, target) != 0 {
            let error = errno
            // Not every file system has links.
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(error), !Files.exists(target), rename(source, target) == 0 else {
                throw CommandFailure("\(target): \(String(cString: strerror(error)))", .cannotCreate)
            }
        }
        // Not before: a database that appeared there meanwhile keeps its log.
        remove(companions(of: target))
        try synchronize(Files.folder(of: target))
    }

    /// Replaces the file at `target` with the one at `source`. Both are synced to disk when this returns.
    ///
    /// SQLite finds a log by its name alone. It would replay a log left there, even by a deleted database, into the new
    /// file.
    static func replace(_ target: String, with source: String) throws {
        try synchronize(source)
        remove(companions(of: target))
        guard rename(source, target) == 0 else {
            throw CommandFailure("\(target): \(String(cString: strerror(errno)))", .cannotCreate)
        }
        try synchronize(Files.folder(of: target))
    }

    private static func synchronize(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CommandFailure("\(path): \(String(cString: strerror(errno)))", .cannotCreate) }
        defer { close(file) }
        guard fsync(file) == 0 else {
            throw CommandFailure("\(path): \(String(cString: strerror(errno)))", .cannotCreate)
        }
    }

    /// Copies the file at `source` to `target`, an empty file that `make` made.
    static func copy(_ source: String, to target: String) throws {
        let failure = CommandFailure("\(source) cannot be copied to \(target)", .cannotCreate)
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw failure }
        defer { close(input) }
        let output = open(target, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard output >= 0 else { throw failure }
        defer { close(output) }
        while let piece = Files.read(from: input, atMost: 1 << 20) {
            if piece.isEmpty { return }
            guard Files.write(piece, to: output) else { break }
        }
        throw failure
    }

    /// Throws unless the file at `path` is whole by itself, and is not `target`. A database that was not closed has its
    /// last changes only in the log beside it.
    static func refuseCutOff(_ path: String, for target: String) throws {
        guard !Files.areSame(path, target) else {
            throw CommandFailure("\(path) is the database itself", .usage)
        }
        // SQLite keeps them beside the file itself, but the file may have been moved since, or linked by another name.
        let all = Set(companions(of: path) + companions(of: Files.followed(path)))
        for companion in all.sorted() where !companion.hasSuffix("-shm") {
            guard let bytes = Files.size(companion), bytes > 0 else { continue }
            throw CommandFailure(
                "\(companion) has changes that are not in \(path): make a backup of that database, and restore it",
                .data)
        }
    }

    /// The files that SQLite keeps beside a database.
    static func companions(of path: String) -> [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    static func remove(_ paths: [String]) { for path in paths { unlink(path) } }
}
