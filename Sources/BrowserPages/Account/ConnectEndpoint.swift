import Authentication
import Directory
import Federation
import HTTP
public import HTTPSupport
import OAuth
import Pages
import Values

/// `POST /account/links/connect`: a signed-in user links another issuer to sign in with.
public struct ConnectEndpoint: Endpoint {
    private let gate: UserAccess
    private let signIn: IdentityProviderEndpoint

    public init(gate: UserAccess, signIn: IdentityProviderEndpoint) {
        self.gate = gate
        self.signIn = signIn
    }

    public func add(to router: inout Routes) {
        router.form("/account/links/connect", .connectIssuer, from: AccountEndpoint.path, use: connect)
    }

    /// A linked issuer gives full access to the user, so an unattended screen must not be enough.
    @Sendable private func connect(_ request: Request, context: SpindleContext) async throws -> Response {
        switch try await gate.submit(request) {
        case .refuse(let response): return response
        case .enter(let entry):
            guard gate.isRecent(entry.session) else { return gate.confirmFirst(for: .confirmed) }
            let id = TrustedIssuer.ID(entry.form["issuer"] ?? "")
            let known = try await signIn.pages.issuers.connectable(to: entry.session.user)
            guard let issuer = known.first(where: { $0.id == id }) else {
                return signIn.pages.message(.notFound, entry.visit, status: .notFound)
            }
            return try await signIn.leave(
                IdentityProviderEndpoint.Attempt(issuer: issuer, continueTo: nil, linkingSession: .init(entry.session)),
                request,
                entry.visit, context)
        }
    }
}
