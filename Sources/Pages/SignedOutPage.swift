/// Says that the person is signed out.
public struct SignedOutPage: Sendable {
    public init() {}

    static var template: Template<Self> {
        get throws {
            try Template(title: "You are signed out", body: "<p>You can close this page.</p>")
        }
    }
}
