import Cryptography
import Glibc
import System

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
