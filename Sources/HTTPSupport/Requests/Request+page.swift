package import HTTP

extension Request {
    /// Whether a web page sends it: browsers say so in fields that no page can suppress (Fetch §3.2, Fetch Metadata).
    package var isByWebPage: Bool { headers[.origin] != nil || headers[.secFetchSite] != nil }
}
