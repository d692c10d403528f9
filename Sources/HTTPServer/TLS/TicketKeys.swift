import COpenSSL
import Synchronization

/// The keys that seal session tickets. They belong to the server: every context uses them, so changing the certificate
/// ends no session.
///
/// A key seals for a period, and opens for one more (RFC 9325 §4.1.1).
final class TicketKeys: Sendable {
    /// No shorter than a session may last.
    static let period: Duration = .seconds(2 * 3600)

    private struct Key {
        /// In the format that `spindle_ticket_key_use` reads.
        let bytes: [UInt8]
        let madeAt: ContinuousClock.Instant

        var name: ArraySlice<UInt8> { bytes.prefix(16) }
    }

    /// At most two, the sealing one first.
    private let keys = Mutex<[Key]>([])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Installs the keys in `context`, which they must outlive.
    func attach(to context: OpaquePointer) {
        let reference = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe SSL_CTX_set_ex_data(context, 0, reference) == 1 else { return }
        unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { ssl, name, iv, cipher, mac, isSealing in
            guard let ssl = unsafe ssl, let name = unsafe name, let iv = unsafe iv, let cipher = unsafe cipher,
                let mac = unsafe mac, let context = unsafe SSL_get_SSL_CTX(ssl),
                let reference = unsafe SSL_CTX_get_ex_data(context, 0)
            else { return 0 }
            let keys = unsafe Unmanaged<TicketKeys>.fromOpaque(reference).takeUnretainedValue()
            if isSealing == 1 { return unsafe keys.seal(name, iv, cipher, mac) }
            return unsafe keys.open(name, iv, cipher, mac)
        }
    }

    /// 1, or 0 for no ticket.
    private func seal(
        _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        guard let key = sealingKey() else { return 0 }
        unsafe name.update(from: key.bytes, count: 16)
        return unsafe spindle_ticket_key_use(key.bytes, iv, cipher, mac, 1)
    }

    /// 1, 2 for a ticket to be replaced, or 0 for a full handshake.
    private func open(
        _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
        _ mac: OpaquePointer
    ) -> Int32 {
        let now = now()
        let found = keys.withLock { keys in
            keys.first { key in unsafe key.name.elementsEqual(UnsafeBufferPointer(start: name, count: 16)) }
        }
        guard let found, now - found.madeAt < Self.period * 2,
            unsafe spindle_ticket_key_use(found.bytes, iv, cipher, mac, 0) == 1
        else { return 0 }
        return now - found.madeAt < Self.period ? 1 : 2
    }

    private func sealingKey() -> Key? {
        let now = now()
        return keys.withLock { keys in
            if let key = keys.first, now - key.madeAt < Self.period { return key }
            var bytes = [UInt8](repeating: 0, count: Int(SPINDLE_TICKET_KEY_SIZE))
            guard unsafe spindle_ticket_key_make(&bytes) == 1 else { return nil }
            keys = [Key(bytes: bytes, madeAt: now)] + keys.prefix(1)
            return keys.first
        }
    }
}
