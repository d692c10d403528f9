import Authentication
import Directory
import Federation
import HTTP
import HTTPSupport
import OAuth
import Pages
import Text

/// The other issuers that users may sign in with.
extension PageRenderer {
    /// The issuers to offer for `visit`: those of the app's merchant. If no app waits, those that the user is already
    /// linked to and that every merchant trusts.
    /// - Parameters: `session` is the one that its user confirms. `isAnew`: only a new sign-in will do, which not every
    ///   issuer can be asked for.
    func identityProviders(for visit: PageContext, of session: Session?, isAnew: Bool) async throws -> [TrustedIssuer] {
        if let client = visit.client {
            guard let merchant = client.merchant else { return [] }
            var all = try await issuers.signIns(of: merchant)
            // A merchant's own issuer would replace a sign-in that is good everywhere with one that is good at this
            // merchant alone, and end what came from it.
            if let session, session.origin == .signIn { all = all.filter(\.isTrustedByAll) }
            return isAnew || visit.wantsFreshness ? all.filter(\.provesFreshness) : all
        }
        guard let session else { return [] }
        return try await issuers.signIns(connectedTo: session.user).filter(\.isTrustedByAll)
    }

    /// The same issuers as a page's buttons.
    func ways(
        for visit: PageContext, of session: Session? = nil, isAnew: Bool = false
    ) async throws -> [SignInWay] {
        let query = "?continue=\(PercentEncoding.encode(visit.destination?.text ?? ""))" + (isAnew ? "&anew=1" : "")
        return try await identityProviders(for: visit, of: session, isAnew: isAnew).map { issuer in
            SignInWay(name: issuer.title, address: IdentityProviderEndpoint.path(of: issuer.id) + query)
        }
    }
}
