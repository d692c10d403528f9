extension Client {
    /// Whom the request wants its access token to be for (RFC 8707 §2): one of the client's resources, or nil for us, whose
    /// name is `issuer`.
    func resource(_ parameters: Parameters, issuer: String) throws(OAuthError) -> String? {
        guard !parameters.namesSeveralResources else {
            throw .targetRefused("several_resources", "An access token is for one resource: send one at a time.")
        }
        guard let resource = parameters[.resource], resource != issuer else { return nil }
        guard openID.resources.contains(resource) else {
            throw .targetRefused("unknown_resource", "This client is not registered for that resource.")
        }
        return resource
    }
}
