public import JSON

extension Client {
    mutating func take(_ metadata: ClientMetadata) {
        kind = kind.changed(to: metadata)
        name = metadata.name
        redirectURIs = metadata.redirectURIs
        grantTypes = metadata.grantTypes
        scope = metadata.scope
        rotatesRefreshTokens = metadata.rotatesRefreshTokens
        accessTokenLifetime = metadata.accessTokenLifetime
        refreshTokenLifetime = metadata.refreshTokenLifetime
        refreshFamilyLifetime = metadata.refreshFamilyLifetime
        refreshRepeatWindow = metadata.refreshRepeatWindow
        chosenRefreshLeeway = metadata.chosenRefreshLeeway
        requiresPKCE = metadata.requiresPKCE ?? requiresPKCE
        webPages = metadata.webPages
        postLogoutRedirectURIs = metadata.postLogoutRedirectURIs
        callbackURI = metadata.callbackURI
        requiresVerifiedEmail = metadata.requiresVerifiedEmail
        signsResponses = metadata.signsResponses
        termsURI = metadata.termsURI
        openID = metadata.openID
        spid = metadata.spid
    }
}

extension JSONFault {
    public static let platformScopeOfMerchant = JSONFault(
        "scope", "without admin for a merchant's client; admin:merchant is for those")
}
