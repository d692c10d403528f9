public import Cryptography
public import JSON
import Values

/// Why a line is not imported. It quotes no value, because lines contain secrets.
public enum ImportFault: Error, Sendable, Equatable {
    case tooLong
    case notJSON(offset: Int)
    case repeatedMember
    case tooDeep
    case tooManyMarks(offset: Int)
    /// The name is nil unless it looks like one: in a torn line it may be a value.
    case unknownMember(name: String?, position: Int)
    case plainPassword
    case member(JSONFault)
    case passwordHash(PasswordHashFault)
    /// Another user, or an earlier line, has this member's value.
    case taken(String)
    /// There is no such issuer or client.
    case unknownReference(String)

    init(_ error: JSONSyntaxError) {
        self =
            switch error {
            case .malformed(let offset): .notJSON(offset: offset)
            case .repeatedName: .repeatedMember
            case .tooDeep: .tooDeep
            case .tooManyMarks(let offset): .tooManyMarks(offset: offset)
            }
    }
}

extension String {
    /// The text, if it has the letters and the length of a member's name.
    var ifLikeAName: String? {
        let isName = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isName && (1...40).contains(utf8.count) ? self : nil
    }
}

extension ImportFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong: "longer than \(LineReader.longest) bytes"
        case .notJSON(let offset): "not valid JSON at byte \(offset)"
        case .repeatedMember: "a member occurs twice"
        case .tooDeep: "nested too deeply"
        case .tooManyMarks(let offset): "\(String.tooManyMarks) at byte \(offset)"
        case .unknownMember(let name?, _): "\(name): is no member of an import"
        case .unknownMember(nil, let position): "member \(position) is no member of an import"
        case .plainPassword: "password: must be absent; only a password_hash is imported, never a password"
        case .member(let fault): (fault.member.isEmpty ? "" : fault.member + ": ") + "must be \(fault.expected)"
        case .taken(let member): "\(member): another user has it"
        case .unknownReference(let member): "\(member): must name an existing one"
        case .passwordHash(let fault): "password_hash: \(fault)"
        }
    }
}
