/// What a tag names: `name`, `outer.inner`, or `.`, the current value.
struct MustacheName: Sendable, Equatable {
    let text: String
    /// Empty for the current value itself.
    let path: [String]
    /// Whether it is looked for in the current value alone, as `.name` is.
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
