import Directory
import Keys
import Storage
import Values

/// A one-time code for a backend (type=code), bought with a user's token. It is not stored: its text carries all of
/// this, sealed. A redeemed code has a token family with its id.
public struct ExchangeCode: Sendable {
    /// What a user's token buys: a code for a backend, or one that opens a session in a webview.
    public enum Kind: String, Sendable {
        case code
        case session

        /// Exact to the millisecond, by the server's clock.
        public var lifetime: Duration {
            switch self {
            case .code: .seconds(30)
            case .session: .seconds(60)
            }
        }
    }

    /// Begins with the time of the sale.
    let id: Identifier<ExchangeCode>
    /// The token family whose token bought the code.
    let source: TokenFamily.ID
    /// The client that may redeem it.
    let client: Client.ID
    let subject: Subject
    let scope: Scope
    let redirectURI: RedirectURI?

    /// 1970 if the id contains no time, which counts as expired.
    var soldAt: Timestamp { id.time ?? Timestamp(milliseconds: 0) }
    var expiresAt: Timestamp { soldAt + Kind.code.lifetime }
    /// The token family that its redemption makes.
    var family: TokenFamily.ID { TokenFamily.ID(id.text) }

    /// Checks every binding of a redemption. The redirect URI must be one that the receiving client registered; the
    /// code is bound to a particular one only if the app said so. There is no PKCE, because no authorization request
    /// made a challenge.
    func check(client: Client, redirectURI: String?, hasVerifier: Bool) throws(OAuthError) {
        guard self.client == client.id else { throw .codeRefused("code_of_another_client") }
        // The receiver may have been changed since the code was sold.
        guard client.may(.redeemExchangeCodes) else { throw .codeRefused("third_party_receiver") }
        guard client.exchangeCodeSources?.isEmpty != true else { throw .codeRefused("public_receiver") }
        guard let redirectURI else { throw .missing(.redirectURI) }
        let bound = client.redirectURIs.filter { self.redirectURI?.isExactly($0.text) ?? true }
        guard bound.contains(where: { client.means($0, by: redirectURI) }) else {
            throw .codeRefused("redirect_uri_mismatch")
        }
        guard !hasVerifier else { throw .codeRefused("verifier_without_challenge") }
    }
}

// The text of a code is its id, which begins with the time, and everything else sealed under the master key
// (docs/decisions/codes-are-sealed.md). It is handled as bytes: characters cost five times as much.

extension ExchangeCode {
    private static let separator = UInt8(ascii: "\n")

    /// The text of the code.
    func sealed(by seal: Seal) -> Secret<ExchangeCode> {
        var content: [UInt8] = []
        content.reserveCapacity(192)
        for field in [
            source.text, client.text, subject.user.description, String(subject.signedInAt.milliseconds),
            scope.description,
        ] {
            content += field.utf8
            content.append(Self.separator)
        }
        // Last, so that it may contain any byte.
        if let redirectURI { content += redirectURI.text.utf8 }
        return Secret(id.text + seal.sealCode(content, id: id.text))
    }

    /// Opens `text`, if this server sealed it. The code may be spent or expired.
    init?(opening text: String, by seal: Seal) {
        let idLength = Identifier<ExchangeCode>.orderedLength
        guard let id = String(text.utf8.prefix(idLength)), let sealed = String(text.utf8.dropFirst(idLength)),
            let content = seal.openCode(sealed, id: id)
        else { return nil }
        let fields = content.split(separator: Self.separator, maxSplits: 5, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 6, let user = UserID(fields[2]), let signedInAt = Int64(fields[3]),
            let scope = Scope(parsing: fields[4])
        else { return nil }
        self.init(
            id: Identifier(id), source: TokenFamily.ID(fields[0]), client: Client.ID(fields[1]),
            subject: Subject(user: user, signedInAt: Timestamp(milliseconds: signedInAt)), scope: scope,
            redirectURI: fields[5].isEmpty ? nil : RedirectURI(stored: fields[5]))
    }
}

// A code for a backend is spent by storing its token family under its id: of simultaneous attempts, one inserts the
// row.

extension ExchangeCode {
    /// Stores the token family of `attempt`, while the buying family, its client and its user live, and the user has
    /// not revoked the receiver's access since the sale. A receiver that is an app must still list the buying client,
    /// so `clients` are the ones it lists now. Nil when the code has expired.
    func spending(for attempt: Attempt, from clients: [Client.ID]?) -> SQL? {
        guard attempt.now < expiresAt, let family = attempt.newFamily else { return nil }
        let isOfBuyer: SQL = clients.map { "f.client_id IN (\(list: $0))" } ?? .always
        return TokenFamilies.insertion(
            of: family,
            when: """
                \(ClientRight.buyCodes.held(by: "c")) AND \(isOfBuyer)
                AND NOT \(CodeEnds.condition(
                    user: "\(subject.user)", client: "\(client)", soldAt: "\(soldAt)"))
                """)
    }

    /// Whether `attempt` has stored the family.
    func isSpent(by attempt: Attempt) -> SQL {
        "EXISTS (SELECT 1 FROM token_families WHERE id = \(family) AND redeemed_by = \(attempt.id))"
    }

    /// Holds the family that bought the code. Everything that revokes access of the user or the app changes that row
    /// (`end`, `CodeEnds`), so of two concurrent transactions one runs again, and nothing is stored for the code after
    /// its end.
    func holdingSource(when condition: SQL) -> SQL {
        "UPDATE token_families SET ended_at = ended_at WHERE id = \(source) AND \(condition)"
    }
}
