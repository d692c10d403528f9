extension Unicode.Scalar {
    /// White space of any kind (Unicode's property White_Space): spaces, tabs and ends of lines.
    public var isWhiteSpace: Bool { properties.isWhitespace }

    /// White space within a line: tabs and spaces of any width, U+200B among them, which pasted text may bring and
    /// which is no White_Space.
    public var isBlank: Bool {
        self == "\t" || self == "\u{200B}" || properties.generalCategory == .spaceSeparator
    }
}
