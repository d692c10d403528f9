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
    /// The issuers to offer for `visit`: those of the app's merchant. If no app waits, those that the user is linked to
    /// already and that every merchant trusts.
    ///
    /// - Parameter session: the one that its user confirms.
    /// - Parameter isAnew: only a new sign-in will do. Not every issuer can be asked for that.
    func identityProviders(for visit: PageContext, of session: Session?, isAnew: Bool) async throws -> [TrustedIssuer] {
        if let client = visit.client {
            guard let merchant = client.merchant else { return [] }
            var all = try await issuers.signIns(of: merchant)
            // The merchant's own would put a sign-in that is good for it alone in the place of one that is good
            // everywhere, and end what came from it.
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
