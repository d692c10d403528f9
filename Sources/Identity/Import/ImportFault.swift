public import Cryptography
public import JOSE

/// Why a line is not imported. Names places and members of ours, and quotes nothing: lines hold secrets.
public enum ImportFault: Error, Sendable, Equatable {
    case tooLong
    case notJSON(offset: Int)
    case repeatedMember
    case tooDeep
    case unknownMember(position: Int)
    case plainPassword
    case member(JSONFault)
    case passwordHash(PasswordHashFault)

    init(_ error: JSONSyntaxError) {
        self =
            switch error {
            case .malformed(let offset): .notJSON(offset: offset)
            case .repeatedName: .repeatedMember
            case .tooDeep: .tooDeep
            }
    }
}

extension ImportFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong: "longer than \(LineReader.longest) bytes"
        case .notJSON(let offset): "not valid JSON at byte \(offset)"
        case .repeatedMember: "a member occurs twice"
        case .tooDeep: "nested too deeply"
        case .unknownMember(let position): "member \(position) is none that an import takes"
        case .plainPassword: "password: must be absent; only a password_hash is imported, never a password"
        case .member(let fault): (fault.member.isEmpty ? "" : fault.member + ": ") + "must be \(fault.expected)"
        case .passwordHash(let fault): "password_hash: \(fault)"
        }
    }
}
