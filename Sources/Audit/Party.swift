import Glibc
import JSON
public import Values

/// One that acts, or that something is done to: its kind and its id.
public struct Party: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        case user, client, merchant, issuer, session, key, delivery, webhook
        case tokenFamily = "token_family"
        case initialAccessToken = "initial_access_token"
        /// A command on the machine of the server: `UID@HOST`.
        case command
        /// The server itself.
        case server
        /// A caller who has not proved who they are.
        case anonymous
    }

    public let kind: Kind
    public let id: String

    public init(_ kind: Kind, _ id: String) {
        self.kind = kind
        self.id = id
    }

    public static let anonymous = Party(.anonymous, "")

    /// The user of this machine who runs this process.
    public static var command: Party {
        var name = [CChar](repeating: 0, count: 256)
        let host =
            gethostname(&name, name.count - 1) == 0
            ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
        return Party(.command, "\(getuid())@\(host)")
    }

    /// What the server does by itself, when a time has come.
    public static let server = Party(.server, "")

    public static func user(_ id: UserID) -> Party { Party(.user, id.description) }
    public static func client<Entity>(_ id: Identifier<Entity>) -> Party { Party(.client, id.text) }
    public static func merchant<Entity>(_ id: Identifier<Entity>) -> Party { Party(.merchant, id.text) }

    /// The user that it is.
    var user: UserID? { kind == .user ? UserID(id) : nil }

    var json: JSON { .members(["type": .string(kind.rawValue), "id": id.isEmpty ? nil : .string(id)]) }
}

/// One who acts: a party, and the merchant for which it administers.
public struct Actor: Sendable, Hashable {
    public let party: Party
    /// The merchant that sees what it does; nil for the platform alone.
    public let merchant: String?

    public init(_ party: Party, of merchant: String? = nil) {
        self.party = party
        self.merchant = merchant
    }
}

/// The request that something is done for.
public protocol RequestOrigin: Sendable {
    /// The caller's address, behind trusted proxies.
    var address: String { get }
    /// The request's id in the log.
    var requestID: String { get }
}

/// The request of the current task; nil outside one. A value of the task, because it decides nothing: it only says in
/// an event where a change was asked for.
public enum CurrentRequest {
    @TaskLocal public static var origin: (any RequestOrigin)?
}
