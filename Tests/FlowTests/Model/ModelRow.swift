import Testing

/// A row of the matrix: what happens in its world, one cause after the other.
struct ModelRow: Sendable, CustomTestStringConvertible {
    let number: Int
    let causes: [ModelCause]
    /// Whether there are users who sign in by Facebook.
    var usesFacebook = false
    var testDescription: String { "row \(number)" }

    static let all: [ModelRow] = [
        phoneSignOut, familyEnd, revocation, browserSignOut, displacement, oneClientLeft, everywhereElse, everything,
        methodEnd, issuerDeletion, clientDisabled, issuerDisabled, wordTakenBack, sessionExpiry, tokenEnd,
        clientNarrowed,
    ]
}
