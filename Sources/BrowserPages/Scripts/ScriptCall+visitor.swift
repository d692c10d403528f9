import JSON

extension ScriptCall {
    /// `visitor` of SPiD's answers about a session.
    ///
    /// SPiD recognized browsers by it, also without a session. Spindle tracks nobody: it names the user of a client
    /// that the user is connected to, by the ids `id` and `userId` of `person`, and is empty for all others.
    static func visitor(_ person: JSON = .object([])) -> JSON {
        .members([
            "uid": .string(person["id"]?.string ?? ""),
            "user_id": .string(person["userId"]?.integer.map { "\($0)" } ?? ""),
        ])
    }
}
