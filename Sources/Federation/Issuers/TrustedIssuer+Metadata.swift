import Directory
import Keys
import OAuth
import Values

extension Seal {
    /// The issuer `id` as `metadata` describes it over `base`, with its secrets sealed for its row. Nil if no keys are
    /// named. A new sign-in at a provider is good everywhere if `signsInEverywhere`, unless `metadata` says otherwise.
    func issuer(
        _ id: TrustedIssuer.ID, of merchant: Merchant.ID, _ metadata: IssuerMetadata, over base: TrustedIssuer?,
        signsInEverywhere: Bool, at now: Timestamp
    ) -> TrustedIssuer? {
        let isSetUp = metadata.app != nil && metadata.signIn != nil && base?.signIn == nil
        guard let keys = stored(metadata.keys, of: id) ?? base?.keys ?? metadata.app?.provider.keys else { return nil }
        return TrustedIssuer(
            id: id, merchant: merchant, issuer: metadata.issuer, keys: keys,
            app: metadata.app.map { stored($0, of: id, over: base?.app) }, audiences: metadata.audiences,
            algorithms: metadata.algorithms, createsUsers: metadata.createsUsers, rules: metadata.rules,
            signIn: metadata.signIn?.settings(over: base?.signIn, app: metadata.app) { secret in
                seal(secret.value, .upstreamSecret, row: id.text)
            }, createdAt: base?.createdAt ?? now, updatedAt: now,
            disabledAt: metadata.isDisabled ? base?.disabledAt ?? now : nil,
            signsInEverywhere: metadata.signsInEverywhere
                ?? (base?.signsInEverywhere == true || signsInEverywhere && isSetUp),
            wasGuarded: base?.isGuarded ?? false)
    }

    private func stored(_ keys: IssuerMetadata.NewKeys?, of id: TrustedIssuer.ID) -> TrustedIssuer.KeySource? {
        switch keys {
        case nil: nil
        case .keySet(let text): .keySet(text)
        case .address(let text): .address(text)
        case .discovery(let text): .discovery(text)
        case .secret(let secret): .secret(sealed: seal(secret.value, .issuerSecret, row: id.text))
        }
    }

    private func stored(
        _ app: IssuerMetadata.NewApp, of id: TrustedIssuer.ID, over base: ProviderApp?
    ) -> ProviderApp {
        let secret = app.secret.map { seal($0.value, .appSecret, row: id.text) }
        return ProviderApp(provider: app.provider, names: app.names, sealedSecret: secret ?? base?.sealedSecret)
    }

    /// Our client secret at `issuer`; nil where none is needed.
    func clientSecret(of issuer: TrustedIssuer) throws -> Secret<SignInSettings>? {
        if let sealed = issuer.signIn?.sealedClientSecret {
            return Secret(try open(sealed, .upstreamSecret, row: issuer.id.text))
        }
        guard issuer.app?.provider == .facebook, let sealed = issuer.app?.sealedSecret else { return nil }
        return Secret(try open(sealed, .appSecret, row: issuer.id.text))
    }
}
