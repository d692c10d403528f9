import HTTPSupport

extension Site {
    init(_ configuration: SpindleConfiguration) {
        self.init(
            issuer: configuration.issuer.text, origin: configuration.issuer.origin,
            sameSite: configuration.sessionSameSite == .none ? .none : .lax,
            allowsUnsafeTokens: configuration.unsafeFrontChannelTokens)
    }
}
