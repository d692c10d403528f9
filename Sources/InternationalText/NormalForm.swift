internal import CUnistring
import Glibc

extension String {
    /// The text in normalization form C (Unicode Standard Annex #15): one sequence of bytes however it was typed.
    ///
    /// In UTF-8 it is at most three times as long as the text.
    public var canonicallyComposed: String {
        // ASCII is its own form.
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return self }
        // A String is well-formed UTF-8, which the library does not check.
        let text = Array(utf8)
        var length = 0
        // Without a buffer of ours the result is always the library's own, and ours to free.
        guard let composed = unsafe spindle_nfc(text, text.count, nil, &length) else {
            preconditionFailure("out of memory")
        }
        defer { unsafe free(composed) }
        return unsafe String(decoding: UnsafeBufferPointer(start: composed, count: length), as: UTF8.self)
    }
}
