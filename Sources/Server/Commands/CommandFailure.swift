import Glibc
import HTTPServer
import JSON
import Keys
import Pages
import Storage

/// Why a command fails: its message on standard error and its exit status (sysexits.h).
struct CommandFailure: Error {
    enum Status: Int32 {
        case failed = 1
        /// EX_USAGE
        case usage = 64
        /// EX_DATAERR
        case data = 65
        /// EX_UNAVAILABLE
        case unavailable = 69
        /// EX_CANTCREAT
        case cannotCreate = 73
        /// EX_IOERR
        case notWritten = 74
        /// EX_CONFIG
        case configuration = 78
    }

    let message: String
    let status: Status

    init(_ message: String, _ status: Status = .failed) {
        self.message = message
        self.status = status
    }

    static func notFound(_ kind: String, _ id: String) -> CommandFailure {
        CommandFailure("there is no \(kind) \(id.printable)")
    }

    /// A command that has already printed what is wrong.
    static let told = CommandFailure("")

    /// The failure that `error` means to an operator; nil for an unexpected error.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let faults as ConfigurationFaults: self.init(faults.description, .configuration)
        case let fault as TemplateFault: self.init("\(ConfigurationKey.templates.rawValue): \(fault)", .configuration)
        case let error as InstallationError: self.init(error.description, .configuration)
        case MasterKeyError.malformed, MasterKeyError.missing, MasterKeyError.notGiven:
            self.init("\(ConfigurationKey.masterKeyFile.rawValue): \(error)", .configuration)
        case let error as MasterKeyError: self.init(error.description, .configuration)
        case let fault as CertificateFault:
            self.init(fault.description, fault.isLasting ? .configuration : .failed)
        case let error as TLSError: self.init(error.description)
        case let error as ServerError: self.init(error.description)
        case let fault as JSONFault: self.init("\(fault.member): must be \(fault.expected)", .data)
        case StorageError.unavailable(let reason): self.init("the database is not available: \(reason)", .unavailable)
        case StorageError.unsuitable(let reason): self.init(reason, .configuration)
        case StorageError.unreadable(let reason), StorageError.unopened(let reason), StorageError.noTable(let reason):
            self.init("the database is not readable: \(reason)")
        case StorageError.conflict(let reason), StorageError.constraint(let reason), StorageError.rejected(let reason):
            self.init("the database refused: \(reason)")
        case StorageError.holdsNUL: self.init("a text contains U+0000, which cannot be stored", .data)
        default: return nil
        }
    }

    /// Prints the message, a line for each problem, and ends the process.
    func end() -> Never {
        for line in message.split(separator: "\n") { Terminal.tell("spindle: \(line)") }
        exit(status.rawValue)
    }
}
