/// The name in a tag: `name`, `outer.inner`, or `.` for the current value.
struct MustacheName: Sendable, Equatable {
    let text: String
    /// Empty for the current value itself.
    let path: [String]
    /// Whether to look only in the current value, as for `.name`.
    let isOfCurrent: Bool

    init(_ text: String) {
        self.text = text
        path = text.split(separator: ".").map(String.init)
        isOfCurrent = text.hasPrefix(".")
    }

    static func allows(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "?"):
            true
        default: false
        }
    }
}
