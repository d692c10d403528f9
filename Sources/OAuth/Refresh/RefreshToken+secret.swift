import Cryptography
import Directory
import Keys
import Values

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
