/// Work that waits in an order in which its senders take turns: a sender with much work waits until all others have had
/// as many pieces.
public struct Turns<Work> {
    private struct Entry {
        let turn: Int
        let sender: String
        let work: Work
    }

    /// In the order of their turns, then of their arrival.
    private var entries: [Entry] = []
    /// The turn of the work that was taken last.
    private var turn = 0

    public init() {}

    public var count: Int { entries.count }

    public func count(of sender: String) -> Int { entries.count { $0.sender == sender } }

    /// All work that waits.
    public var all: [Work] { entries.map(\.work) }

    /// Puts `work` one turn after the last of its sender.
    public mutating func insert(_ work: Work, of sender: String) {
        let turn = 1 + (entries.last { $0.sender == sender }?.turn ?? turn)
        let index = entries.firstIndex { $0.turn > turn } ?? entries.endIndex
        entries.insert(Entry(turn: turn, sender: sender, work: work), at: index)
    }

    /// Removes and returns the next work of a sender that may have a turn.
    public mutating func takeFirst(
        where mayHave: (_ sender: String) -> Bool = { _ in true }
    ) -> (sender: String, work: Work)? {
        guard let index = entries.firstIndex(where: { mayHave($0.sender) }) else { return nil }
        let entry = entries.remove(at: index)
        turn = max(turn, entry.turn)
        return (entry.sender, entry.work)
    }

    /// Removes and returns the first work that `matches`.
    public mutating func take(where matches: (Work) -> Bool) -> Work? {
        entries.firstIndex { matches($0.work) }.map { entries.remove(at: $0).work }
    }

    /// Removes and returns the last work of `sender`.
    @discardableResult public mutating func takeLast(of sender: String) -> Work? {
        entries.lastIndex { $0.sender == sender }.map { entries.remove(at: $0).work }
    }

    /// Removes and returns the last work of the sender with the most, if that is more than `sender`, if given, would
    /// have with one more.
    public mutating func takeLastOfLargest(besides sender: String? = nil) -> Work? {
        let counts = Dictionary(entries.map { ($0.sender, 1) }, uniquingKeysWith: +)
        let least = sender.map { counts[$0, default: 0] + 1 } ?? 0
        guard let largest = counts.values.max(), largest > least,
            let index = entries.lastIndex(where: { counts[$0.sender] == largest })
        else { return nil }
        return entries.remove(at: index).work
    }
}
