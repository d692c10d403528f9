import HTTP

/// The headers of every response, unless its endpoint says otherwise: no MIME sniffing, no loading and no framing. On
/// https also HSTS (RFC 6797 §6.1), but not for subdomains, which are not ours to decide about.
enum SecurityHeaders {
    static func fields(of site: Site) -> Fields {
        var fields: Fields = [
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if site.isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        return fields
    }
}
