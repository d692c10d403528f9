import JSON

/// What `spindle doctor` found out about one subject.
struct Finding {
    enum State: String {
        case good = "ok"
        /// It works, but an operator should know.
        case warning
        case bad
    }

    let subject: String
    let state: State
    let detail: String

    init(_ subject: String, _ state: State, _ detail: String) {
        self.subject = subject
        self.state = state
        self.detail = detail
    }

    var json: JSON {
        .members(["check": .string(subject), "state": .string(state.rawValue), "detail": .string(detail)])
    }
}
