import JSON

extension ScriptCall {
    /// `visitor` of SPiD's answers about a session.
    ///
    /// SPiD recognized browsers by it, even without a session. Spindle does not track users: it names a user who is
    /// connected to the client, by the ids `id` and `userId` of `user`, and is empty otherwise.
    static func visitor(_ user: JSON = .object([])) -> JSON {
        .members([
            "uid": .string(user["id"]?.string ?? ""),
            "user_id": .string(user["userId"]?.integer.map { "\($0)" } ?? ""),
        ])
    }
}
