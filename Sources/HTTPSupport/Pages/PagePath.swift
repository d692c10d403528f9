package import OAuth
import Values

/// The paths of pages that responses and mails of more than one surface link to.
package enum PagePath {
    package static let authorize = "/oauth/authorize"
    /// The path where an interaction continues.
    package static func authorize(_ interaction: Interaction.ID) -> String {
        "\(authorize)?continue=\(interaction.value)"
    }

    package static let account = "/account"
    package static let forgottenPassword = "/password"
    /// The way back to the app that signed a user up.
    package static let appReturn = "/signup/return"

    /// Where the holder of a mailed `link` chooses a password.
    package static func newPassword(_ link: String) -> String { "\(forgottenPassword)/reset/\(link)" }

    /// Where the holder of a mailed `link` confirms the address that an app signed up with.
    package static func confirmAddress(_ link: String) -> String { "/signup/address/\(link)" }
}
