import CSQLite
import Foundation
import Storage

/// Where the texts of a statement lie while it runs: SQLite reads them in place and copies none.
@safe final class BoundTexts {
    /// What is kept from one statement to the next, in bytes; a rare large text is given back.
    private static let kept = 1 << 16

    private var bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: kept)
    private var used = 0

    deinit { unsafe bytes.deallocate() }

    /// Makes room for texts of `size` bytes in all; those of the statement before are gone.
    func begin(size: Int) {
        used = 0
        let capacity = max(size, Self.kept)
        guard unsafe bytes.count < size || bytes.count > capacity else { return }
        unsafe bytes.deallocate()
        unsafe bytes = .allocate(capacity: capacity)
    }

    /// Binds `text`, for which `begin(size:)` has made room, to the parameter `index` of `statement`.
    ///
    /// Refuses U+0000, as PostgreSQL does (docs/portable-sql.md): SQLite's functions would end the text there, and what
    /// was checked would not be what is stored.
    func bind(_ text: String, to statement: OpaquePointer, _ index: Int32) throws(StorageError) -> Int32 {
        guard let start = unsafe bytes.baseAddress else { return SQLITE_NOMEM }
        let place = unsafe start + used
        var text = text
        let count = text.withUTF8 { source in
            if let base = source.baseAddress { unsafe memcpy(place, base, source.count) }
            return source.count
        }
        used += count
        guard unsafe memchr(place, 0, count) == nil else { throw .holdsNUL }
        return unsafe sqlite3_bind_text(statement, index, place, Int32(clamping: count), nil)
    }
}
