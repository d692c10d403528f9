import Storage

/// Texts in libpq's form: pointers to bytes that end with NUL, and a null pointer for no text.
struct CStrings {
    private var bytes: [CChar] = []
    private var starts: [Int?] = []

    var count: Int32 { Int32(starts.count) }

    /// No text may contain U+0000.
    init(_ texts: [String?]) {
        starts.reserveCapacity(texts.count)
        for text in texts {
            starts.append(text.map { _ in bytes.count })
            guard let text else { continue }
            for byte in text.utf8 { bytes.append(CChar(bitPattern: byte)) }
            bytes.append(0)
        }
    }

    func withPointers<Value>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value) -> Value {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            let pointers = unsafe starts.map { start -> UnsafePointer<CChar>? in
                guard let start, let base = buffer.baseAddress else { return nil }
                return unsafe base + start
            }
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}

extension CStrings {
    init(_ bindings: [SQLValue]) throws(Failure) {
        var texts: [String?] = []
        texts.reserveCapacity(bindings.count)
        for binding in bindings {
            switch binding {
            case .null: texts.append(nil)
            case .integer(let number): texts.append(String(number))
            case .text(let text):
                guard !text.utf8.contains(0) else { throw Failure(remedy: .none, error: .holdsNUL) }
                texts.append(text)
            }
        }
        self.init(texts)
    }
}
