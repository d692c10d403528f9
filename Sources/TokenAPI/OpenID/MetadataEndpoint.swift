import HTTP
public import HTTPSupport
import JSON
public import OpenID

/// `/.well-known/openid-configuration` and our public keys: what other servers read before they trust us.
public struct MetadataEndpoint: Endpoint {
    private let metadata: JSON
    private let keys: KeySet
    private let site: Site

    public init(metadata: ProviderMetadata, keys: KeySet, site: Site) {
        self.metadata = metadata.json
        self.keys = keys
        self.site = site
    }

    public func add(to router: inout Routes) {
        let wellKnown = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]
        // An issuer with a path has it before (Discovery §4) and after (RFC 8414 §3) the well-known part.
        let path = site.issuerPath
        let ofIssuer = path.isEmpty ? [] : [path + wellKnown[0], path + wellKnown[1], wellKnown[1] + path]
        for path in wellKnown + ofIssuer {
            router.get(path, isSafe: true, readers: .everyPage) { _, _ in Response.published(metadata) }
        }
        for path in ["/oauth/jwks", "/.well-known/jwks.json"] {
            router.get(path, isSafe: true, readers: .everyPage) { _, _ in Response.published(try await keys.json()) }
        }
    }
}

extension Response {
    /// A response that may be cached for as long as a new key is published before it signs.
    fileprivate static func published(_ json: JSON) -> Response {
        let headers: Fields = [.contentType: "application/json", .cacheControl: "public, max-age=300"]
        return Response(status: .ok, headers: headers, body: .bytes(json.bytes))
    }
}
