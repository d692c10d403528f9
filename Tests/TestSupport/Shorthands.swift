import Authentication
import Cryptography
public import Directory
import Keys
public import OAuth
public import Values

// Tests name sessions, clients and merchants by short words.

extension Identifier: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension Fingerprint: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(text: value) }
}

extension UserEvents {
    /// Events that end sessions and tokens, and notify no client.
    public static let unheard = UserEvents(
        [
            TokenFamilies.subscriber(telling: .unheard) { _ in nil }, Verifications.subscriber,
        ], random: SystemRandom())
}

extension Callbacks {
    /// Callbacks that are never delivered.
    public static let unheard = Callbacks(
        seal: Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom()), random: SystemRandom(),
        post: Post(leave: { _, _ in }, leaveNotice: { _, _, _ in }, send: {}))
}
