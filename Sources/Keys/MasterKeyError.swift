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
