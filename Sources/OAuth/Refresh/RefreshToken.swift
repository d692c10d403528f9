import Cryptography
import Directory
import Keys
import Values

/// A refresh token and its position in the chain.
public struct RefreshToken: Sendable {
    /// The state of a rotation, without invalid combinations: a confirmed one has no successor left to hand out.
    enum State: Sendable {
        case current
        /// Rotated, but without proof that the response arrived: the successor can be requested again.
        case rotated(Rotation)
        /// Its successor, or an access token issued with it, was presented. Using this token now is a replay, unless
        /// the client has a leeway (RefreshLeeway.swift).
        case confirmed(Rotation)
    }

    struct Rotation: Sendable {
        let at: Timestamp
        /// The successor; nil once it is erased.
        let sealed: String?
    }

    let fingerprint: Fingerprint<RefreshToken>
    let family: TokenFamily.ID
    let familyCreatedAt: Timestamp
    let familyExpiresAt: Timestamp
    let client: Client.ID
    let subject: Subject?
    /// What the client requested along with the sign-in, for later tokens.
    let request: AuthenticationRequest
    let scope: Scope
    let predecessor: Fingerprint<RefreshToken>?
    let expiresAt: Timestamp
    let state: State
    /// How often the response to its rotation was repeated.
    let repeats: Int64
    /// Whether the user's address is verified; true without a user.
    let isOfVerifiedUser: Bool
    /// Whether its token family has ended.
    let hasEnded: Bool
    /// The standing of its family.
    let standing: Standing

    /// Nil while it is current.
    var rotation: Rotation? {
        switch state {
        case .current: nil
        case .rotated(let rotation), .confirmed(let rotation): rotation
        }
    }

    /// The third repeated rotation in a row ends the family: two parties hold the token and take turns.
    static let longestRepeatRun: Int64 = 3

    /// How often the response to one rotation is repeated at most. An app that refreshes in many places at once over a
    /// bad connection stays far below.
    static let mostRepeats: Int64 = 50

    /// The expiry of a token that is issued or slid now, and of its family.
    struct Expiry: Sendable {
        let token: Timestamp
        /// Never before the expiry of the access token issued with it.
        let family: Timestamp
    }

    /// For a token issued or slid at `now`: the client's lifetime, within that of the family.
    static func expiry(at now: Timestamp, client: Client, familySince: Timestamp) -> Expiry {
        let unused = now + client.refreshTokenLifetime
        let token = min(unused, client.refreshFamilyLifetime.end(since: familySince) ?? unused)
        return Expiry(token: token, family: max(token, now + client.renewableTokenLifetime))
    }
}

// The text of a refresh token: 256 random bits after the time, the name of its token family, and a MAC of this server
// over both. Only so many tokens of a family are remembered, and only for so long (`RefreshTokens`). With the name, the
// replay of a forgotten token still ends its family: otherwise a thief could rotate until the user's token is
// forgotten. The name is no secret; the random bits are.
extension RefreshToken {
    private static let randomLength = 55

    /// A new token of `family`.
    static func secret(
        of family: TokenFamily.ID, markedBy seal: Seal, at now: Timestamp, from random: any RandomSource
    ) -> Secret<RefreshToken> {
        let text = Secret<RefreshToken>.ordered(at: now, from: random).value + family.text
        return Secret(text + seal.mark(marked(text)))
    }

    /// The family that `token` was made for, if this server made it. Whether it is stored is another question.
    static func family(of token: Secret<RefreshToken>, markedBy seal: Seal) -> TokenFamily.ID? {
        let (text, mark) = (token.value.dropLast(Seal.markLength), token.value.suffix(Seal.markLength))
        let family = text.dropFirst(randomLength)
        guard !family.isEmpty, seal.isMark(mark, of: marked(text)) else { return nil }
        return TokenFamily.ID(String(family))
    }

    private static func marked(_ text: some StringProtocol) -> String { "refresh_tokens/\(text)" }
}
