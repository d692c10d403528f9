import Authentication
import Directory
import Values

extension UserID {
    /// Reads a user's number or uuid.
    package init?(spid text: String) {
        guard let id = UserID(text) ?? UserUUID(text)?.user else { return nil }
        self = id
    }
}
