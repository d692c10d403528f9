import CNGHTTP2

/// The border to nghttp2's callbacks: each finds its session and records an event.
extension HTTP2Session {
    /// Makes the session. Its settings are the first frame.
    func begin() {
        var (callbacks, options): (OpaquePointer?, OpaquePointer?) = (nil, nil)
        defer {
            unsafe nghttp2_session_callbacks_del(callbacks)
            unsafe nghttp2_option_del(options)
        }
        guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&options) == 0,
            let callbacks = unsafe callbacks, let options = unsafe options
        else {
            end = .abrupt
            return
        }
        unsafe setCallbacks(callbacks)
        unsafe setOptions(options)
        let user = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe nghttp2_session_server_new2(&session, callbacks, user, options) == 0 else {
            end = .abrupt
            return
        }
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(limits.streams)),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(clamping: service.limits.maxHeader)),
            // SETTINGS_NO_RFC7540_PRIORITIES (RFC 9218 §2.1).
            nghttp2_settings_entry(settings_id: 9, value: 1),
        ]
        _ = unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count)
    }

    private func setOptions(_ options: OpaquePointer) {
        unsafe nghttp2_option_set_no_auto_window_update(options, 1)
        unsafe nghttp2_option_set_no_closed_streams(options, 1)
        unsafe nghttp2_option_set_max_outbound_ack(options, limits.unreadAcknowledgements)
        unsafe nghttp2_option_set_max_settings(options, 32)
        unsafe nghttp2_option_set_max_continuations(options, 8)
        // We count resets ourselves, including those we send; this limit is a second line of defence.
        unsafe nghttp2_option_set_stream_reset_rate_limit(
            options, UInt64(limits.resets.burst) * 4, UInt64(limits.resets.rate) * 4)
    }

    private func setCallbacks(_ callbacks: OpaquePointer) {
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame, unsafe frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
                unsafe frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            else { return 0 }
            let id = unsafe frame.pointee.hd.stream_id
            unsafe HTTP2Session.of(user) { $0.beginRequest(id) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, user in
            guard let id = unsafe frame?.pointee.hd.stream_id else { return 0 }
            let name = unsafe UnsafeBufferPointer(start: name, count: nameLength)
            let value = unsafe UnsafeBufferPointer(start: value, count: valueLength)
            return switch unsafe HTTP2Session.of(user, { unsafe $0.receiveField(of: id, name.span, value.span) }) {
            case .goOn?, nil: 0
            case .resetStream?: NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            }
        }
        // RFC 9113 §8.2.1: this makes the request malformed; nghttp2 would only drop the field.
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, user in
            let part = unsafe UnsafeBufferPointer(start: bytes, count: count)
            unsafe HTTP2Session.of(user) { unsafe $0.receiveData(of: id, part) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            guard let header = unsafe frame?.pointee.hd else { return 0 }
            unsafe HTTP2Session.of(user) { $0.receive(header) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            guard let frame = unsafe frame else { return 0 }
            let header = unsafe frame.pointee.hd
            // Streams answered before their body has come are no sign of an attack.
            let isReset =
                unsafe header.type == UInt8(NGHTTP2_RST_STREAM.rawValue)
                && frame.pointee.rst_stream.error_code != NGHTTP2_NO_ERROR.rawValue
            unsafe HTTP2Session.of(user) { $0.noteSent(header, isReset: isReset) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, user in
            unsafe HTTP2Session.of(user) { $0.closeStream(id) }
            return 0
        }
    }

    /// Runs `body` with the session of a callback. It is alive: nghttp2 calls back only while one of its methods runs.
    @discardableResult static func of<Result>(
        _ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Result
    ) -> Result? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<HTTP2Session>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
    }

    private func receive(_ header: nghttp2_frame_hd) {
        let endsStream = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue: receiveHead(of: header.stream_id, endsStream: endsStream)
        case NGHTTP2_RST_STREAM.rawValue: noteReset()
        case NGHTTP2_DATA.rawValue where endsStream: receiveEnd(of: header.stream_id)
        default: break
        }
    }

    private func noteSent(_ header: nghttp2_frame_hd, isReset: Bool) {
        if isReset { noteReset() }
        let kind = UInt32(header.type)
        guard kind == NGHTTP2_HEADERS.rawValue || kind == NGHTTP2_DATA.rawValue,
            UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        else { return }
        noteAnswered(header.stream_id)
    }
}

/// Gives nghttp2 the next bytes of a response.
func readResponseBody(
    _ session: OpaquePointer?, _ stream: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _ source: UnsafeMutablePointer<nghttp2_data_source>?,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size)
    guard let part = unsafe HTTP2Session.of(user, { unsafe $0.readBody(of: stream, into: buffer) }) ?? nil else {
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    }
    if part.isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return part.count
}
