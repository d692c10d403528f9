import OAuth
public import Outbound
public import Values

/// The discovery documents of issuers, cached in memory like their keys.
public struct IssuerDirectory: Sendable {
    private static let longest = 64 * 1024

    /// Two merchants may expect different issuers at one address: each is checked against its registered name.
    private struct Source: Hashable, Sendable {
        let address: String
        let issuer: String
    }

    private let documents: PublishedDocuments<Source, IssuerDocument>

    private let facebook: String

    /// `facebook` is the address of Facebook's Graph API.
    public init(outbound: Outbound, facebook: String, clock: any WallClock) {
        self.facebook = facebook
        let outbound = outbound.asking(for: .discovery)
        documents = PublishedDocuments(clock: clock) { source in
            let response: OutboundResponse
            do throws(OutboundError) {
                response = try await outbound.get(source.address, limit: Self.longest, by: source.address)
            } catch {
                return .unusable("\(error)")
            }
            guard response.status == 200 else { return .unusable("answered with status \(response.status)") }
            do throws(IssuerDocument.Fault) {
                let document = try IssuerDocument(response.body, of: source.issuer, mayAsk: outbound.check)
                return .document(document, maxAge: response.maxAge)
            } catch {
                return .unusable(error.reason)
            }
        }
    }

    /// The discovery document that `issuer` publishes at `address`.
    func document(at address: String, of issuer: TrustedIssuer) async throws -> IssuerDocument {
        do throws(DocumentUnavailable) {
            return try await documents.document(at: Source(address: address, issuer: issuer.issuer))
        } catch {
            throw OAuthError.issuerUnavailable(issuer.id, error.reason)
        }
    }

    /// Where users sign in at `issuer`, and where their code is redeemed; nil when it names no such endpoints.
    public func endpoints(of issuer: TrustedIssuer) async throws -> IssuerEndpoints? {
        if issuer.app?.provider == .facebook { return IssuerEndpoints(facebook: facebook) }
        guard case .discovery(let address) = issuer.keys else { return nil }
        return IssuerEndpoints(try await document(at: address, of: issuer))
    }
}
