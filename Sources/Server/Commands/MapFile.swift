import Authentication
import CommandLineTool
import Glibc
import JSON
import System
import Values

/// The file of `user import --map`: which user each line became. It contains addresses, so only its owner may read it.
struct MapFile {
    private let path: String
    private let descriptor: Int32

    /// Makes the file, which must be a new one. It stays open until the command ends.
    init(_ path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno == EEXIST ? "exists already" : "cannot be made"
            throw CommandFailure("\(path.printable) \(reason)", .cannotCreate)
        }
    }

    func write(_ mapping: UserImport.Mapping) throws {
        let json: JSON = .members([
            "line": .integer(Int64(mapping.line)), "email": .string(mapping.email),
            "user_id": .string(mapping.user.description), "sub": .string(mapping.sub),
            "uuid": .string(mapping.uuid), "outcome": mapping.isNew ? "imported" : "existing",
        ])
        guard Files.write(json.bytes + [UInt8(ascii: "\n")], to: descriptor) else {
            throw CommandFailure("\(path.printable) cannot be written", .data)
        }
    }
}
