import Directory
import JSON
import OAuth
import Values

extension IssuerMetadata {
    /// How users sign in at an issuer, as a registration or a change describes it.
    struct NewSignIn: Sendable {
        let id: String
        /// Nil leaves the stored secret as it is.
        let secret: Secret<SignInSettings>?
        /// Whether the secret is Apple's key, from which secrets are made.
        let isAppleKey: Bool
        /// Nil stands for the provider's usual name.
        let name: String?
        let scope: String?

        /// Nil when neither `members` nor `base` has a client id. A `client_id` of null ends it.
        init?(_ members: JSONMembers, over base: SignInSettings?) throws(JSONFault) {
            let isEnded = members.has("client_id") && members.any("client_id") == nil
            guard let id = try members.text("client_id") ?? (isEnded ? nil : base?.clientID) else {
                for member in ["client_secret", "sign_in_name", "scope"] + Self.appleMembers
                where members.any(member) != nil {
                    throw JSONFault(member, "absent without client_id")
                }
                return nil
            }
            self.id = id
            let key = try Self.appleKey(members)
            // Apple's secret is a JWT, so it is long.
            secret = try members.text("client_secret", most: 4000).map { Secret($0) } ?? key
            isAppleKey = key != nil
            name = try members.name("sign_in_name", most: 60) ?? base?.name
            scope = try members.text("scope", most: 500) ?? base?.scope
            guard let scope, Scope(parsing: scope) == nil else { return }
            throw JSONFault("scope", "words of printable ASCII with spaces between")
        }

        /// Throws when the settings do not fit the rest of the registration.
        func check(_ app: NewApp?, _ isDiscovered: Bool, _ audiences: [String]) throws(JSONFault) {
            guard !isAppleKey || app?.provider == .apple else {
                throw JSONFault("private_key", "absent: only Apple accepts this key")
            }
            guard app?.provider == .facebook else {
                guard isDiscovered else {
                    throw JSONFault("discovery_url", "given with client_id: it says where users are sent")
                }
                guard name != nil || app != nil else {
                    throw JSONFault("sign_in_name", "given with client_id: the issuer's name for users")
                }
                guard scope?.split(separator: " ").contains("openid") != false else {
                    throw JSONFault("scope", "with openid in it: without it there is no ID token")
                }
                return
            }
            guard audiences == [id] else { throw JSONFault("client_id", "the app id that is in audiences") }
            guard secret == nil else { throw JSONFault("client_secret", "absent: app_secret is used") }
        }

        /// The settings to store; `seal` seals a new secret.
        func settings(
            over base: SignInSettings?, app: NewApp?, seal: (Secret<SignInSettings>) -> String
        ) -> SignInSettings {
            let usualScope =
                app?.provider == .facebook ? SignInSettings.facebookScope : SignInSettings.usualScope
            return SignInSettings(
                clientID: id, sealedClientSecret: secret.map(seal) ?? base?.sealedClientSecret,
                name: name ?? app?.provider.name ?? "", scope: scope ?? usualScope)
        }
    }
}
