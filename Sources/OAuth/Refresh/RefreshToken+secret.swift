import Cryptography
import Directory
import Keys
import Values

// The text of a refresh token: 256 random bits after the time, then its token family, sealed under the master key. Of a
// family only so many tokens are remembered, and each for so long (`RefreshTokens`): a thief who rotates fast, or an
// owner who comes late, would otherwise present a token that nobody knows, and the chain of the other would go on.
extension RefreshToken {
    private static let ownLength = 55

    /// A new token of `family`.
    static func secret(
        of family: TokenFamily.ID, sealedBy seal: Seal, at now: Timestamp, from random: any RandomSource
    ) -> Secret<RefreshToken> {
        let own = Secret<RefreshToken>.ordered(at: now, from: random).value
        return Secret(own + seal.sealCode(Array(family.text.utf8), id: own))
    }

    /// The family that `token` was made for, if this server made it. Whether it is stored is another question.
    static func family(of token: Secret<RefreshToken>, openedBy seal: Seal) -> TokenFamily.ID? {
        let text = token.value.utf8
        guard text.count > ownLength, let own = String(text.prefix(ownLength)),
            let sealed = String(text.dropFirst(ownLength)), let family = seal.openCode(sealed, id: own)
        else { return nil }
        return TokenFamily.ID(String(decoding: family, as: UTF8.self))
    }
}
