/// Counts a connection's incoming frames that carry nothing, because nghttp2 accepts them without limit.
///
/// Empty and tiny DATA, PING, SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE, CONTINUATION and unknown frames are each
/// legal (RFC 9113 §10.5). Each request allows some, and so do sent bytes, which cause window updates.
struct FrameMeter {
    private static let preface = 24
    /// DATA frames smaller than this count, except the last one of a body.
    private static let tinyData = 32
    private static let perRequest = 8
    private static let bytesSentPerFrame = 1_024

    private var allowance: Allowance
    /// Bytes to skip: the preface, then payloads.
    private var skip = preface
    /// The fields of a frame's 9-byte header (RFC 9113 §4.1), as far as they have come.
    private var headerBytes = 0
    private var length = 0
    private var kind: UInt8 = 0
    private var flags: UInt8 = 0
    private var bytesSent = 0

    init(limits: HTTP2Limits, now: Milliseconds) {
        allowance = Allowance(burst: limits.idleFrames.burst, perSecond: limits.idleFrames.rate, now: now)
    }

    /// Counts the frames in `bytes`. False when there were too many.
    mutating func receive(_ bytes: Span<UInt8>, now: Milliseconds) -> Bool {
        var position = 0
        while position < bytes.count {
            if skip > 0 {
                let step = min(skip, bytes.count - position)
                skip -= step
                position += step
                continue
            }
            let byte = bytes[position]
            position += 1
            switch headerBytes {
            case 0...2: length = length << 8 | Int(byte)
            case 3: kind = byte
            case 4: flags = byte
            default: break
            }
            headerBytes += 1
            guard headerBytes == 9 else { continue }
            guard count(now: now) else { return false }
            skip = length
            headerBytes = 0
            length = 0
        }
        return true
    }

    mutating func send(_ count: Int) {
        bytesSent += count
        allowance.grant(bytesSent / Self.bytesSentPerFrame)
        bytesSent %= Self.bytesSentPerFrame
    }

    private mutating func count(now: Milliseconds) -> Bool {
        let endsStream = flags & 0x1 != 0
        let isPadded = flags & 0x8 != 0
        switch kind {
        case 0 where endsStream || (length >= Self.tinyData && !isPadded): return true
        case 1:
            allowance.grant(Self.perRequest)
            return true
        default: return allowance.spend(at: now)
        }
    }
}
