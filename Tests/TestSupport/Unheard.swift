import Authentication
import Cryptography
public import Directory
import Keys
public import OAuth

extension UserEvents {
    /// Nobody hears.
    public static let unheard = UserEvents { _ in .unheard }
}

extension UserEvents.Announcement {
    /// Nobody hears.
    public static let unheard = UserEvents.Announcement(say: { _, _, _ in }, send: {})
}

extension Callbacks {
    /// No client hears.
    public static let unheard = Callbacks(
        seal: Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom()), random: SystemRandom(),
        post: Post(leave: { _, _ in }, leaveNotice: { _, _ in }, send: {}))
}
