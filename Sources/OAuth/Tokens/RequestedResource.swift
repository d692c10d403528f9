public import Directory

extension Client {
    /// The requested audience of the access token (RFC 8707 §2): one of the client's resources, or nil for this server,
    /// which is called `issuer`.
    func resource(_ parameters: Parameters, issuer: String) throws(OAuthError) -> String? {
        guard !parameters.namesSeveralResources else {
            throw .targetRefused("several_resources", "An access token is for one resource: send one at a time.")
        }
        // The name that Auth0's clients give it. Where it names this server, it asks for what they get.
        if let audience = parameters[.audience], parameters[.grantType] != GrantType.tokenExchange.name,
            audience != parameters[.resource],
            RedirectURI(stored: audience).origin != RedirectURI(stored: issuer).origin
        {
            throw .targetRefused(
                "audience", "Send resource (RFC 8707) in place of audience, with one of the client's resources.")
        }
        return try target(parameters[.resource], issuer: issuer)
    }

    /// The same for a token exchange, which calls it `audience` (RFC 8693 §2.1); with a `resource`, both must be the
    /// same.
    public func audience(_ parameters: Parameters, issuer: String) throws(OAuthError) -> String? {
        let resource = try resource(parameters, issuer: issuer)
        guard let name = parameters[.audience] else { return resource }
        let audience = try target(name, issuer: issuer)
        guard parameters[.resource] == nil || audience == resource else {
            throw .targetRefused("several_resources", "The audience and the resource are not the same.")
        }
        return audience
    }

    private func target(_ name: String?, issuer: String) throws(OAuthError) -> String? {
        guard let name, name != issuer else { return nil }
        // Compared as bytes: Swift takes strings for equal that only look alike.
        guard let resource = openID.resources.first(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw .targetRefused(
                "unknown_resource",
                "This client is not registered for that resource; add it to the client's resources, character for "
                    + "character.")
        }
        return resource
    }
}
