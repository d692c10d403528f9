import HTTP

extension Site {
    /// Headers for every response: no MIME sniffing, no loading and no framing, unless the endpoint says otherwise.
    /// Also HSTS (RFC 6797 §6.1), but not for subdomains, which are not ours to decide about.
    var commonFields: Fields {
        var fields: Fields = [
            .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if isSecure { fields[.strictTransportSecurity] = "max-age=31536000" }
        return fields
    }
}
