import Administration
import Directory
import HTTP
import HTTPSupport
public import OAuth
import Storage

/// Decides who is an administrator. Which scopes make one, and what each allows, stands in `Administrator`
/// (Administration).
public struct AdministratorGate: Sendable {
    private let tokens: AccessTokens

    public init(tokens: AccessTokens) { self.tokens = tokens }

    /// Throws when the caller is no longer an administrator, or has fewer rights than before.
    typealias Confirm = @Sendable (any Transaction) throws -> Void

    func administrator(_ request: Request) async throws -> Administrator {
        try Administrator(try await tokens.require(request))
    }

    /// The same, with a check to repeat in the transaction that writes: a password is hashed before it.
    func entry(_ request: Request) async throws -> (administrator: Administrator, confirm: Confirm) {
        let token = try await tokens.require(request)
        let administrator = try Administrator(token)
        return (
            administrator,
            { [tokens] db in
                guard try Administrator(try tokens.again(token, in: db)) == administrator else {
                    throw OAuthError.scopeMissing(Scope.admin)
                }
            }
        )
    }
}
