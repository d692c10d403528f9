package import Authentication
import Directory
package import Values

extension UserID {
    /// Reads a user's number or uuid.
    package init?(spid text: String) {
        guard let id = UserID(text) ?? UserUUID(text)?.user else { return nil }
        self = id
    }
}

extension ConnectedUsers {
    /// The user whose number or uuid `text` is; an import may have kept another uuid than the computed one. The caller
    /// must still check that the client may know the user.
    package func id(spid text: String) async throws -> UserID? {
        if let id = UserID(spid: text) { return id }
        return UserUUID.hasForm(text) ? try await id(ofSubject: text.lowercased()) : nil
    }
}
