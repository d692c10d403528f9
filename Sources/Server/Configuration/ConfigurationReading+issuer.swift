import Values

/// The issuer, and the settings that depend on its scheme.
extension ConfigurationReading {
    /// The issuer; nil when it is faulty. The default is the origin of the address that the server listens on.
    mutating func issuer(at listen: ListenAddress, isTLS: Bool) -> IssuerURL? {
        let expected =
            "an absolute http or https URL without user, query and fragment, with a host, port and path that all "
            + "clients read alike"
        guard place(of: .issuer) != nil else {
            let issuer = URIParts("\(isTLS ? "https" : "http")://\(listen)")?.origin.flatMap(IssuerURL.init)
            if issuer == nil { refuse(.issuer, "given: no URL can have the host of listen") }
            return issuer
        }
        guard let issuer = value(.issuer, expected, IssuerURL.init) else { return nil }
        if isTLS, !issuer.isSecure { refuse(.issuer, "an https URL when tls_certificate is given") }
        return issuer
    }

    mutating func sameSite(under issuer: IssuerURL?) -> SpindleConfiguration.SameSite {
        let sameSite = value(.sessionSameSite, "lax or none", SpindleConfiguration.SameSite.init(rawValue:)) ?? .lax
        // Browsers drop a SameSite=None cookie that is not Secure (RFC 6265bis §5.7).
        if sameSite == .none, let issuer, !issuer.isSecure {
            refuse(.sessionSameSite, "lax unless the issuer is an https URL")
        }
        return sameSite
    }
}
