import Authentication
import Text

/// A name as a user typed it, in any script, without characters that control a terminal or break a line.
struct DisplayedName: Sendable {
    let text: String

    init(_ text: String) {
        self.text = String(text.trimming(while: \.isWhitespace))
    }

    // The limits of `UserChanges`.
    var isTooLong: Bool { text.utf8.count > ProfileChanges.longest }
    var isFit: Bool { !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}
