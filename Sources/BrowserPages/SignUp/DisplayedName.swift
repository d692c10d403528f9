import Authentication
import Text

/// A name as somebody typed it: any script, any sign, but nothing that steers a terminal or breaks a line.
struct DisplayedName: Sendable {
    let text: String

    init(_ text: String) {
        self.text = String(text.trimming(while: \.isWhitespace))
    }

    // As `UserChanges` takes it.
    var isTooLong: Bool { text.utf8.count > ProfileChanges.longest }
    var isFit: Bool { !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}
