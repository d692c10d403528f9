import Cryptography
import Directory
import Storage
import Values

/// What a mint stores for one request.
struct NewTokens: Sendable {
    let authorization: Authorization
    let accessToken: Fingerprint<AccessToken>
    let family: TokenFamily.ID?
    /// Nil when the family is stored already, or there is none.
    let newFamily: NewTokenFamily?
    /// The first refresh token of the new family.
    let refreshToken: Fingerprint<RefreshToken>?
    let now: Timestamp

    /// Stores all of it, if `condition` holds.
    func insertions(when condition: SQL?) -> [SQL] {
        var all = [accessToken(when: condition)]
        guard let newFamily else { return all }
        all += TokenFamilies.insertions(of: newFamily, when: condition)
        if let refreshToken {
            all.append(
                RefreshTokens.insertion(
                    of: refreshToken, newFamily, client: authorization.client, at: now, when: condition))
        }
        return all
    }

    /// Stores the access token, if `condition` holds.
    func accessToken(when condition: SQL?) -> SQL {
        AccessTokens.insertion(of: accessToken, for: authorization, family: family, at: now, when: condition)
    }
}
