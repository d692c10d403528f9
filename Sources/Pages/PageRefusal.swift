/// Why the last attempt was refused; shown above the form, in the language of the page.
public enum PageRefusal: Sendable {
    case wrongCredentials
    case tooManyAttempts(seconds: Int)
    case overloaded
    case wrongPassword
    case weakPassword(PasswordFault)
    case notAnAddress
    case notAPhoneNumber
    case wrongCode(triesLeft: Int)
    case nothingAllowed
    case tooLong(in: ProfileField)
    /// A control character in a name or another text.
    case unfitText(in: ProfileField)
}

/// A field of the user's profile, by the name that forms post it under.
public enum ProfileField: String, CaseIterable, Sendable {
    case name, locale
    case givenName = "given_name"
    case familyName = "family_name"
    case phoneNumber = "phone_number"
}

/// What is wrong with a chosen password.
public enum PasswordFault: String, CaseIterable, Sendable {
    case tooShort, tooLong, common, personal
}

extension PageRefusal {
    /// What a template sees: the text with its numbers, and the names of the faulty fields.
    func words(_ texts: Texts) -> [String: Any] {
        switch self {
        case .wrongCredentials: ["text": texts["refusal.wrongCredentials"], "email": true, "password": true]
        case .tooManyAttempts(let seconds) where seconds <= 90:
            ["text": texts["refusal.tooManyAttempts.seconds"], "seconds": max(2, seconds)]
        case .tooManyAttempts(let seconds):
            ["text": texts["refusal.tooManyAttempts.minutes"], "minutes": (seconds + 59) / 60]
        case .overloaded: ["text": texts["refusal.overloaded"]]
        case .wrongPassword: ["text": texts["refusal.wrongPassword"], "password": true]
        case .weakPassword(let fault): ["text": texts["refusal.weakPassword.\(fault)"], "newPassword": true]
        case .notAnAddress: ["text": texts["refusal.notAnAddress"], "email": true]
        case .notAPhoneNumber: ["text": texts["refusal.notAPhoneNumber"], "phoneNumber": true]
        case .wrongCode(let triesLeft) where triesLeft <= 0: ["text": texts["refusal.wrongCode.last"], "code": true]
        case .wrongCode(let triesLeft): ["text": texts["refusal.wrongCode"], "triesLeft": triesLeft, "code": true]
        case .nothingAllowed: ["text": texts["refusal.nothingAllowed"]]
        case .tooLong(let field): ["text": texts["refusal.tooLong"], "\(field)": true]
        case .unfitText(let field): ["text": texts["refusal.unfitText"], "\(field)": true]
        }
    }

    /// Every text that `words` may ask for.
    static let keys: [String] =
        [
            "wrongCredentials", "tooManyAttempts.seconds", "tooManyAttempts.minutes", "overloaded", "wrongPassword",
            "notAnAddress", "notAPhoneNumber", "wrongCode", "wrongCode.last", "nothingAllowed", "tooLong", "unfitText",
        ].map { "refusal.\($0)" } + PasswordFault.allCases.map { "refusal.weakPassword.\($0)" }
}
