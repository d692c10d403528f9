import Directory
import JSON
import Values

/// `legacy_user_id`: the user's number, as a text, beside `sub`. SPiD's SDKs for iOS and PHP read it in ID tokens and
/// userinfo.
///
/// It tells a client nothing new: `user_id` of its token answers is the same number. No client with pairwise
/// identifiers, which must not learn it (OpenID Connect Core §8.1), is SPiD-compatible.
enum LegacyUserID {
    static func claim(of user: UserID, for client: Client) -> [JSON.Member] {
        guard client.may(.getSPiDAnswers) else { return [] }
        return [.init("legacy_user_id", .string(user.description))]
    }
}
