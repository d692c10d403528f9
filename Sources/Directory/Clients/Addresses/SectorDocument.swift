import JSON
import Values

/// The document at a `sector_identifier_uri`: the redirect URIs of all clients that know users by the same pairwise
/// subject identifiers (OpenID Connect Registration §5).
public struct SectorDocument: Sendable {
    let uri: String
    let redirectURIs: Set<String>

    /// Fetches such documents.
    public struct Source: Sendable {
        /// Whose budget pays for a fetch: that of the clients registered with a merchant, and one client's part of it.
        public struct Requester: Sendable {
            public let share: String
            public let part: String

            package init(_ client: Client) { (share, part) = (client.outboundShare, client.id.text) }

            /// A client that does not exist yet: its part is named by `token`, the id of an initial access token.
            package init(newOf merchant: Merchant.ID, token: String) {
                share = ClientKind.Owner.registeredItself(at: merchant).outboundShare
                part = token
            }
        }

        public typealias Fetch = @Sendable (_ address: String, _ requester: Requester) async throws -> [UInt8]

        private let fetch: Fetch

        /// `fetch` returns the body at an address, charged to the requester, and throws when there is none.
        public init(fetch: @escaping Fetch) { self.fetch = fetch }

        package func document(at uri: String, for requester: Requester) async throws -> SectorDocument {
            let body: [UInt8]
            do {
                body = try await fetch(uri, requester)
            } catch let error where !(error is CancellationError) {
                throw JSONFault("sector_identifier_uri", "the address of a document that can be read")
            }
            guard let list = (try? JSON(parsing: body))?.strings else {
                throw JSONFault("sector_identifier_uri", "the address of a JSON array of redirect URIs")
            }
            return SectorDocument(uri: uri, redirectURIs: Set(list))
        }
    }
}

extension ClientMetadata {
    /// Throws unless the client belongs to its sector, by `document` or by an earlier registration that proved it.
    ///
    /// Another client's sector would reveal who its users are.
    func checkSector(_ document: SectorDocument?, over base: Client?) throws(JSONFault) {
        guard let uri = openID.sectorIdentifierURI else { return }
        guard let document, document.uri == uri else {
            guard let base, base.openID.sectorIdentifierURI == uri,
                redirectURIs.allSatisfy(base.redirectURIs.contains)
            else {
                throw JSONFault("sector_identifier_uri", "set by dynamic registration, which reads its document")
            }
            return
        }
        guard redirectURIs.map(\.text).allSatisfy(document.redirectURIs.contains) else {
            throw JSONFault("sector_identifier_uri", "the address of a document that lists all redirect_uris")
        }
    }
}
