import COpenSSL
import Foundation

/// A client of a server's TLS port. It waits no longer than its `Wire`.
final class TLSClient {
    private let wire: Wire
    private let context: OpaquePointer?
    private let ssl: OpaquePointer?
    /// Bytes of HTTP/2 frames.
    private var unread: [UInt8] = []
    private let decoder = FieldDecoder()

    struct Refused: Error {}

    init(port: Int, protocols: [String], source: UInt32? = nil) throws {
        wire = try Wire(port: port, source: source)
        context = SSL_CTX_new(TLS_client_method())
        ssl = SSL_new(context)
        SSL_set_fd(ssl, wire.descriptor)
        let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        SSL_set_alpn_protos(ssl, list, UInt32(list.count))
        guard SSL_connect(ssl) == 1 else { throw Refused() }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// Closes both directions.
    func close() {
        SSL_shutdown(ssl)
        wire.close()
    }

    var agreed: String {
        var (name, length): (UnsafePointer<UInt8>?, UInt32) = (nil, 0)
        SSL_get0_alpn_selected(ssl, &name, &length)
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The common name of the server's certificate.
    var serverName: String {
        let certificate = SSL_get1_peer_certificate(ssl)
        defer { X509_free(certificate) }
        var text = [CChar](repeating: 0, count: 256)
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &text, 256)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func send(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

    /// Some bytes; empty when the server has closed the connection.
    func read() -> [UInt8] {
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        let count = SSL_read(ssl, &part, Int32(part.count))
        return Array(part.prefix(Int(max(0, count))))
    }

    /// Whether the server has sent close_notify.
    var isEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// The response to an HTTP/1.1 request.
    func ask(_ text: String) -> WireAnswer? {
        send(Array(text.utf8))
        var bytes: [UInt8] = []
        while true {
            let part = read()
            guard !part.isEmpty else { return nil }
            bytes += part
            if let (answer, _) = WireAnswer.first(in: bytes) { return answer }
        }
    }

    func greet() { send(Frame.preface + Frame(.settings).bytes) }

    /// The next frames; empty when the server has closed the connection. Opens windows as data arrives.
    func frames() -> [Frame] {
        while true {
            let part = read()
            guard !part.isEmpty else { return [] }
            unread += part
            let frames = Frame.take(from: &unread)
            for frame in frames where frame.kind == 0 && !frame.payload.isEmpty {
                let size = Frame.number(UInt32(frame.payload.count))
                send(Frame(.windowUpdate, size).bytes + Frame(.windowUpdate, stream: frame.stream, size).bytes)
            }
            if !frames.isEmpty { return frames }
        }
    }

    /// The status and body of each of `streams`, once all have arrived.
    func answers(to streams: [Int32]) -> [Int32: (status: String, body: [UInt8])] {
        var answers: [Int32: (status: String, body: [UInt8])] = [:]
        var open = Set(streams)
        while !open.isEmpty {
            let frames = frames()
            guard !frames.isEmpty else { return answers }
            for frame in frames {
                switch frame.kind {
                case Frame.Kind.headers.rawValue:
                    answers[frame.stream] = (decoder.fields(in: frame.payload)[":status"] ?? "", [])
                case Frame.Kind.data.rawValue: answers[frame.stream]?.body += frame.payload
                case Frame.Kind.reset.rawValue: open.remove(frame.stream)
                default: continue
                }
                if frame.endsStream, frame.kind < 2 { open.remove(frame.stream) }
            }
        }
        return answers
    }
}
