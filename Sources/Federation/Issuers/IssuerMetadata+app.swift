import JSON
import Values

extension IssuerMetadata {
    /// A merchant's app at a provider, as a registration or a change describes it.
    struct NewApp: Sendable {
        let provider: Provider
        let names: [String]
        /// Nil leaves the stored secret as it is.
        let secret: Secret<ProviderApp>?

        /// Nil when the issuer is not a provider.
        init?(
            _ members: JSONMembers, _ provider: Provider?, of issuer: String, audiences: [String],
            over base: ProviderApp?
        ) throws(JSONFault) {
            guard let provider else { return nil }
            self.provider = provider
            guard base == nil || base?.provider == provider else {
                throw JSONFault("provider", "what it was: an issuer's provider cannot change")
            }
            // A change may turn an issuer that was registered without a provider into a provider.
            guard issuer == provider.issuer else {
                throw JSONFault("provider", "that of this issuer: its name would be \(provider.issuer)")
            }
            names = try Self.names(members) ?? base?.names ?? []
            secret = try members.text("app_secret").map { Secret($0) }
            guard !audiences.isEmpty else {
                throw JSONFault("audiences", "given: the ids of the apps that the provider's tokens are issued to")
            }
            switch provider {
            case .facebook:
                // Facebook knows a user by a different number in each app, and each app has its own secret.
                guard audiences.count == 1 else { throw JSONFault("audiences", "one app id: that of app_secret") }
                guard secret != nil || base?.sealedSecret != nil else {
                    throw JSONFault("app_secret", "given: requests to Facebook need it")
                }
            case .google, .apple:
                guard secret == nil else {
                    throw JSONFault("app_secret", "absent: requests to \(provider.name) need none")
                }
            }
            guard provider != .apple || names.isEmpty else {
                throw JSONFault("app_names", "absent: Apple has no access tokens that an app could send")
            }
        }

        /// Throws when an app is described without a provider.
        static func checkAbsence(in members: JSONMembers) throws(JSONFault) {
            for member in ["app_names", "app_secret"] where members.any(member) != nil {
                throw JSONFault(member, "absent without provider")
            }
        }

        static func provider(_ members: JSONMembers) throws(JSONFault) -> Provider? {
            guard let name = try members.text("provider") else { return nil }
            guard let provider = Provider(rawValue: name) else {
                throw JSONFault("provider", "one of \(Provider.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return provider
        }

        private static func names(_ members: JSONMembers) throws(JSONFault) -> [String]? {
            guard let list = try members.list("app_names") else { return nil }
            guard list.allSatisfy({ (1...200).contains($0.utf8.count) && !$0.utf8.contains { $0 < 0x20 } }) else {
                throw JSONFault("app_names", "strings of 1 to 200 bytes without control characters")
            }
            return list
        }
    }
}
