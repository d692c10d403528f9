public import Cryptography
import Glibc
public import Storage
import System
import Text

/// The 32 bytes that seal every stored secret. It is never in a backup, and printing it shows nothing.
public struct MasterKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let length = 32

    private let root: SealingKey
    private let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.root = SealingKey(bytes)
        self.bytes = bytes
    }

    /// Reads the base64 of 32 bytes (RFC 4648 §4); white space around it is dropped.
    public init(base64 text: some StringProtocol) throws(MasterKeyError) {
        let trimmed = text.trimmingScalars { $0.isWhiteSpace || $0.isBlank }
        guard let bytes = Base64.decode(trimmed), bytes.count == Self.length else { throw .malformed }
        self.init(bytes: bytes)
    }

    public var description: String { "<master key>" }
    public var debugDescription: String { "<master key>" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// A new key.
    public static func random(from random: any RandomSource) -> MasterKey {
        MasterKey(bytes: random.bytes(length))
    }

    /// The key for one purpose; it does not open what was sealed for another. `salt` may itself be a secret.
    public func sealing(for purpose: String, salt: [UInt8] = []) -> SealingKey {
        root.derived(for: purpose, salt: salt)
    }

    /// A value by which a database recognizes its key; it reveals nothing about the key.
    var checkValue: String { Base64URL.encode(root.derivedBytes(for: "facts.master_key_check")) }

    /// The content of the key file.
    var base64: String { Base64.encode(bytes) }
}

/// Where the master key of a deployment comes from, and what happens if it is missing.
public enum MasterKeySource: Sendable {
    /// From the configuration itself.
    case given(MasterKey)
    /// From a file. `mayCreate` when the file is next to the database, as with SQLite; never for a shared database,
    /// whose other nodes would not have the file.
    case file(MasterKeyFile, mayCreate: Bool)

    /// The checked key of `database`, whose sealed values are in `tables`. A database without a key remembers this one;
    /// a database that has a key accepts no other.
    public func masterKey(
        for database: any Database, _ tables: [StoredTable], random: any RandomSource
    ) async throws -> MasterKey {
        let key = try await obtain(for: database, tables, random: random)
        let check = MasterKeyCheck(key)
        if try await check.verify(database, tables) == .absent {
            try await database.write { db in try check.store(in: db) }
        }
        // Verify again after storing: another node may have been first.
        guard try await check.verify(database, tables) == .right else { throw MasterKeyError.wrong }
        return key
    }

    private func obtain(
        for database: any Database, _ tables: [StoredTable], random: any RandomSource
    ) async throws -> MasterKey {
        switch self {
        case .given(let key): return key
        case .file(let file, let mayCreate):
            if let key = try file.read() { return key }
            guard try await MasterKeyCheck.isWithoutKey(database, tables) else {
                throw MasterKeyError.missing(path: file.path)
            }
            guard mayCreate else { throw MasterKeyError.notGiven(path: file.path) }
            let key = MasterKey.random(from: random)
            try file.create(key)
            return key
        }
    }
}

/// The file of the master key: its base64 and a line feed, mode 0600, made once and never overwritten.
public struct MasterKeyFile: Sendable, Hashable {
    public let path: String

    public init(path: String) { self.path = path }

    /// The key, or nil when there is no such file.
    public func read() throws(MasterKeyError) -> MasterKey? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 && errno == ENOENT { return nil }
        guard file >= 0 else { throw systemError() }
        defer { close(file) }
        // A key takes 45 bytes; a much longer file is something else.
        var buffer = [UInt8](repeating: 0, count: 256)
        var count = 0
        while count < buffer.count {
            let read = buffer.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard read >= 0 else { throw systemError() }
            if read == 0 { break }
            count += read
        }
        return try MasterKey(base64: String(decoding: buffer.prefix(count), as: UTF8.self))
    }

    /// Creates the file with `key`. File and name are on disk before this returns: nothing may be sealed with a key
    /// that can still be lost. The finished file is linked to its name, so a file there is complete even after a power
    /// cut.
    /// - Parameter model: when root creates it, a file whose owner it gets.
    public func create(_ key: MasterKey, ownedLike model: String? = nil) throws(MasterKeyError) {
        var name = Array((path + ".XXXXXX").utf8CString)
        let file = mkstemp(&name)
        guard file >= 0, fcntl(file, F_SETFD, FD_CLOEXEC) == 0 else { throw systemError() }
        defer { unlink(name) }
        if let model { Files.giveToOwner(of: model, file) }
        let text = Array((key.base64 + "\n").utf8)
        let done = write(file, text, text.count) == text.count && fsync(file) == 0
        let error = done ? nil : systemError()
        close(file)
        if let error { throw error }
        guard link(name, path) == 0 else {
            throw errno == EEXIST ? MasterKeyError.exists(path: path) : systemError()
        }
        try syncFolder()
    }

    private func syncFolder() throws(MasterKeyError) {
        let folder = open(Files.folder(of: path), O_RDONLY)
        guard folder >= 0 else { throw systemError() }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw systemError() }
    }

    private func systemError() -> MasterKeyError { .file(path: path, reason: String(cString: strerror(errno))) }
}

/// Why there is no usable master key. Contains paths, never key material.
public enum MasterKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text is not the base64 of 32 bytes.
    case malformed
    /// There is no file at `path`, though the database was made with a key.
    case missing(path: String)
    /// There is no file at `path`, and this database does not make its own key.
    case notGiven(path: String)
    /// The key is not the one this database was made with.
    case wrong
    /// The file at `path` already exists; a key file is never overwritten.
    case exists(path: String)
    /// The file at `path` cannot be read or written, with the system's reason.
    case file(path: String, reason: String)

    public var description: String {
        switch self {
        case .malformed: "the master key is not the base64 of 32 bytes"
        case .missing(let path): "the database was made with a master key, which is missing at \(path)"
        case .notGiven(let path): "this database needs a master key, which is missing at \(path)"
        case .wrong: "the master key is not the one that this database was made with"
        case .exists(let path): "a file exists already at \(path)"
        case .file(let path, let reason): "the master key file \(path): \(reason)"
        }
    }
}
