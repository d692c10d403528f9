import Authentication
import Cryptography
public import Directory
import Keys
public import OAuth

extension UserEvents {
    /// Events without subscribers.
    public static let unheard = UserEvents { _ in .unheard }
}

extension UserEvents.Announcement {
    /// An announcement without subscribers.
    public static let unheard = UserEvents.Announcement(say: { _, _, _ in }, send: {})
}

extension Callbacks {
    /// Callbacks that are never delivered.
    public static let unheard = Callbacks(
        seal: Seal(masterKey: .random(from: SystemRandom()), random: SystemRandom()), random: SystemRandom(),
        post: Post(leave: { _, _ in }, leaveNotice: { _, _ in }, send: {}))
}
