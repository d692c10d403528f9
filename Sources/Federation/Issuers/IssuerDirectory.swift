import Directory
import OAuth
public import Outbound
public import Values

/// The discovery documents of issuers, cached in memory like their keys.
public struct IssuerDirectory: Sendable {
    private static let longest = 64 * 1024

    /// Two merchants may expect different issuers at one address: each is checked against its registered name.
    private struct Source: PublishedSource {
        let address: String
        let issuer: String
        let share: String
    }

    private let documents: PublishedDocuments<Source, IssuerDocument>

    private let facebook: String

    /// `facebook` is the address of Facebook's Graph API, `site` our own URL.
    public init(outbound: Outbound, facebook: String, site: String, clock: any WallClock) {
        self.facebook = facebook
        documents = PublishedDocuments(clock: clock) { source in
            let response: OutboundResponse
            do throws(OutboundError) {
                response = try await outbound.asking(for: .discovery, by: source.share, part: source.address).get(
                    source.address, limit: Self.longest)
            } catch {
                return .unusable("\(error)")
            }
            guard response.status == 200 else { return .unusable("answered with status \(response.status)") }
            do throws(IssuerDocument.Fault) {
                let document = try IssuerDocument(response.body, of: source.issuer, mayAsk: outbound.check)
                try await Self.check(document, site: WebSite(of: site), outbound)
                return .document(document, maxAge: response.maxAge)
            } catch {
                return .unusable(error.reason)
            }
        }
    }

    /// Checks where `document` sends users. We never request that address, so its host was not resolved: http is only
    /// for hosts in the allowed private ranges. It must not be one of our own pages, which take a request from our
    /// origin for the user's intent.
    private static func check(
        _ document: IssuerDocument, site: WebSite?, _ outbound: Outbound
    ) async throws(IssuerDocument.Fault) {
        guard let address = document.authorizationEndpoint else { return }
        if let site, WebSite(of: address)?.isSameServer(as: site) == true {
            throw IssuerDocument.Fault(reason: "authorization_endpoint in its document is ours")
        }
        do throws(OutboundError) {
            try await outbound.checkLookedUp(address)
        } catch {
            throw IssuerDocument.Fault(reason: "authorization_endpoint in its document is no address to send users to")
        }
    }

    /// The discovery document that `issuer` publishes at `address`.
    func document(at address: String, of issuer: TrustedIssuer) async throws -> IssuerDocument {
        do throws(DocumentUnavailable) {
            return try await documents.document(
                at: Source(address: address, issuer: issuer.issuer, share: issuer.documentShare))
        } catch {
            throw OAuthError.issuerUnavailable(issuer.id, error.reason)
        }
    }

    /// Where users sign in at `issuer`, and where codes are redeemed; nil when it names no such endpoints.
    public func endpoints(of issuer: TrustedIssuer) async throws -> IssuerEndpoints? {
        if issuer.app?.provider == .facebook { return IssuerEndpoints(facebook: facebook) }
        guard case .discovery(let address) = issuer.keys else { return nil }
        return IssuerEndpoints(try await document(at: address, of: issuer))
    }
}
