public import Cryptography
import JOSE
public import Keys
public import Storage
public import Values

/// What the clients of a person are told at their `callback_uri`.
public struct Callbacks: Sendable {
    private let seal: Seal
    private let random: any RandomSource

    public init(seal: Seal, random: any RandomSource) {
        self.seal = seal
        self.random = random
    }

    /// One signed message, ready to be posted as it stands.
    public struct Callback: Sendable, Equatable {
        public let uri: String
        /// `<signature>.<payload>`, both base64url.
        public let body: String
    }

    /// What tells every client that the person has used that there is no such person any more. Read in the transaction in
    /// which the account goes, before it does.
    ///
    /// Disabled clients too: what they hold of the person has to go as well.
    public func deletion(of account: AccountID, at now: Timestamp, in db: any Transaction) throws -> [Callback] {
        try db.rows(
            """
            SELECT c.id, c.callback_uri, c.sealed_sign_secret FROM connections k JOIN clients c ON c.id = k.client_id
            WHERE k.account_id = \(account) AND c.callback_uri IS NOT NULL
            """
        ).map { row in
            let id: Client.ID = try row.get("id")
            let secret = SignSecret(try seal.open(try row.get("sealed_sign_secret"), .signSecret, row: id.text))
            let entry: JSON = .members([
                "userId": .string(account.description), "changedFields": "status", "status": "deleted",
                "time": .integer(now.seconds),
            ])
            // The id tells a repeated delivery from a second message.
            let payload: JSON = .members([
                "algorithm": "HMAC-SHA256", "id": .string(Identifier<Callback>.random(from: random).text),
                "object": "user", "entry": .array([entry]),
            ])
            return Callback(uri: try row.get("callback_uri"), body: secret.signed(payload).request)
        }
    }
}
