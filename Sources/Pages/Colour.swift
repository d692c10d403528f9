import Glibc

/// A colour of the sRGB space.
struct Colour {
    private let red, green, blue: UInt8

    /// - Parameter text: as `#rrggbb`.
    init?(_ text: String) {
        guard text.wholeMatch(of: /#[0-9a-fA-F]{6}/) != nil, let value = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        red = UInt8(value >> 16)
        green = UInt8(value >> 8 & 0xff)
        blue = UInt8(value & 0xff)
    }

    /// Black or white, whichever is easier to read on this; at worst 4.58 to 1.
    var contrasting: String {
        contrast(luminance: 0) > contrast(luminance: 1) ? "#000000" : "#ffffff"
    }

    /// WCAG 2.2, contrast ratio: 1 to 21.
    func contrast(with other: Colour) -> Double { contrast(luminance: other.luminance) }

    private func contrast(luminance other: Double) -> Double {
        (max(luminance, other) + 0.05) / (min(luminance, other) + 0.05)
    }

    /// WCAG 2.2, relative luminance: 0 is black, 1 is white.
    private var luminance: Double {
        0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    private static func linear(_ value: UInt8) -> Double {
        let share = Double(value) / 255
        return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
}
