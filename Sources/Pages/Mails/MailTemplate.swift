/// A mail to a user.
public enum MailTemplate: Sendable {
    case signInCode(code: String, minutes: Int)
    case signUpCode(code: String, link: String, minutes: Int)
    case signUpExisting(signInLink: String, resetLink: String)
    case verifyEmail(code: String, minutes: Int)
    case changeEmailCode(code: String, minutes: Int)
    /// To the old address; shows only part of the new one.
    case emailChanged(newAddress: String)
    case resetPassword(link: String, hours: Int)
    case passwordChanged(resetLink: String)
    /// `provider` can sign the user in from now on.
    case signInLinked(provider: String, link: String)
    /// Codes that sign in can be sent to `number` from now on; shows only part of it.
    case phoneVerified(number: String, link: String)
    /// To a user whom an app signed up.
    case confirmAddress(link: String, days: Int)
    /// As above, if no password was chosen.
    case choosePassword(link: String, hours: Int)
    /// The time is in UTC, as `2026-11-21 10:58`.
    case deletionScheduled(dueAt: String, signInLink: String)
    case accountDeleted
}

extension MailTemplate {
    public var name: String {
        switch self {
        case .signInCode: "signInCode"
        case .signUpCode: "signUpCode"
        case .signUpExisting: "signUpExisting"
        case .verifyEmail: "verifyEmail"
        case .changeEmailCode: "changeEmailCode"
        case .emailChanged: "emailChanged"
        case .resetPassword: "resetPassword"
        case .passwordChanged: "passwordChanged"
        case .signInLinked: "signInLinked"
        case .phoneVerified: "phoneVerified"
        case .confirmAddress: "confirmAddress"
        case .choosePassword: "choosePassword"
        case .deletionScheduled: "deletionScheduled"
        case .accountDeleted: "accountDeleted"
        }
    }

    /// The values that its texts use.
    private var values: [String: Any] {
        switch self {
        case .signInCode(let code, let minutes), .signUpCode(let code, _, let minutes),
            .verifyEmail(let code, let minutes), .changeEmailCode(let code, let minutes):
            ["code": code, "minutes": minutes]
        case .emailChanged(let newAddress): ["newAddress": newAddress]
        case .resetPassword(_, let hours), .choosePassword(_, let hours): ["hours": hours]
        case .signInLinked(let provider, _): ["provider": provider.nameInMail]
        case .phoneVerified(let number, _): ["number": number]
        case .confirmAddress(_, let days): ["days": days]
        case .deletionScheduled(let dueAt, _): ["dueAt": dueAt]
        case .signUpExisting, .passwordChanged, .accountDeleted: [:]
        }
    }

    /// The links in it, each with the last part of its label's key.
    private var links: [(label: String, address: String)] {
        switch self {
        case .signUpCode(_, let link, _): [("confirm", link)]
        case .signUpExisting(let signInLink, let resetLink): [("signIn", signInLink), ("reset", resetLink)]
        case .resetPassword(let link, _): [("reset", link)]
        case .passwordChanged(let resetLink): [("reset", resetLink)]
        case .signInLinked(_, let link): [("account", link)]
        case .phoneVerified(_, let link): [("phones", link)]
        case .confirmAddress(let link, _): [("confirm", link)]
        case .choosePassword(let link, _): [("choose", link)]
        case .deletionScheduled(_, let signInLink): [("keep", signInLink)]
        case .signInCode, .verifyEmail, .changeEmailCode, .emailChanged, .accountDeleted: []
        }
    }

    /// What a merchant's own text may name: a single link is `link`, one of several has the name of its label.
    var facts: [String: Any] {
        let names = links.count == 1 ? ["link"] : links.map { "\($0.label)Link" }
        return values.merging(zip(names, links.map { $0.address as Any })) { $1 }
    }

    /// The addresses of its links.
    var addresses: [String] { links.map(\.address) }

    /// What a template sees.
    func words(_ texts: Texts) -> [String: Any] {
        var words = values
        for part in ["subject", "text", "otherwise"] { words[part] = texts["mail.\(name).\(part)"] }
        words["links"] = links.map { link -> [String: Any] in
            ["label": texts["mail.\(name).\(link.label)"], "address": link.address]
        }
        return words
    }

    /// Every text that `words` may ask for.
    static let keys: [String] =
        [
            signInCode(code: "", minutes: 0), signUpCode(code: "", link: "", minutes: 0),
            signUpExisting(signInLink: "", resetLink: ""), verifyEmail(code: "", minutes: 0),
            changeEmailCode(code: "", minutes: 0), emailChanged(newAddress: ""), resetPassword(link: "", hours: 0),
            passwordChanged(resetLink: ""), signInLinked(provider: "", link: ""), phoneVerified(number: "", link: ""),
            confirmAddress(link: "", days: 0),
            choosePassword(link: "", hours: 0),
            deletionScheduled(dueAt: "", signInLink: ""), accountDeleted,
        ].flatMap { template in
            (["subject", "text", "otherwise"] + template.links.map(\.label)).map { "mail.\(template.name).\($0)" }
        }
}
