/// A browser in which the user is signed in.
public struct SessionItem: Sendable {
    let id: String
    let device: String?
    let address: String
    let signedInAt: String
    let seenAt: String
    let isCurrent: Bool
    let remembered: Bool

    /// - Parameters:
    ///   - device: such as `Firefox, Linux`; nil if the browser is not known.
    ///   - address: the network address that it was last seen at; empty if not known.
    ///   - signedInAt: in UTC, as `2026-11-21 10:58`; `seenAt` likewise.
    public init(
        id: String, device: String?, address: String, signedInAt: String, seenAt: String, isCurrent: Bool,
        remembered: Bool
    ) {
        self.id = id
        self.device = device
        self.address = address
        self.signedInAt = signedInAt
        self.seenAt = seenAt
        self.isCurrent = isCurrent
        self.remembered = remembered
    }

    func words(_ texts: Texts) -> [String: Any] {
        [
            "id": id, "device": device ?? texts["account.sessions.unknownDevice"], "hasAddress": !address.isEmpty,
            "address": address, "signedInAt": signedInAt, "seenAt": seenAt, "isCurrent": isCurrent,
            "remembered": remembered,
        ]
    }

    /// Every text that `words` may ask for.
    static let keys = ["account.sessions.unknownDevice"]
}
