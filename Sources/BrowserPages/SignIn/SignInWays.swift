import Authentication
import Directory
import Federation
import HTTP
import HTTPSupport
import OAuth
import Pages
import Text

/// Where else people may sign in.
extension PageRenderer {
    /// The issuers that may be used on the way that `visit` goes: those of the app's merchant. Where no app is waiting,
    /// those that the person is connected to already, as far as their word is good for the account itself.
    ///
    /// - Parameter isAnew: nothing but a new sign-in will do. Not every issuer can be asked for that.
    func upstreams(for visit: PageContext, of session: Session?, isAnew: Bool) async throws -> [TrustedIssuer] {
        if let client = visit.client {
            guard let merchant = client.merchant else { return [] }
            let all = try await issuers.signIns(of: merchant)
            return isAnew || visit.wantsFreshness ? all.filter(\.provesFreshness) : all
        }
        guard let session else { return [] }
        return try await issuers.signIns(connectedTo: session.user).filter(\.isTrustedByAll)
    }

    /// The same as the buttons of a page.
    func ways(
        for visit: PageContext, of session: Session? = nil, isAnew: Bool = false
    ) async throws -> [SignInWay] {
        let query = "?continue=\(PercentEncoding.encode(visit.destination?.text ?? ""))" + (isAnew ? "&anew=1" : "")
        return try await upstreams(for: visit, of: session, isAnew: isAnew).map { issuer in
            SignInWay(name: issuer.title, address: IdentityProviderEndpoint.path(of: issuer.id) + query)
        }
    }
}
