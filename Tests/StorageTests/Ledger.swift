import Synchronization

/// Entries that closures on many threads have noted.
final class Ledger<Entry: Sendable>: Sendable {
    private let notes = Mutex<[Entry]>([])

    var entries: [Entry] { notes.withLock(\.self) }

    /// Adds `entry` and returns how many there are now.
    @discardableResult func note(_ entry: Entry) -> Int {
        notes.withLock { notes in
            notes.append(entry)
            return notes.count
        }
    }
}
