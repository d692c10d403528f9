import CYAML

/// A piece of a YAML text, in the order of the text.
enum YAMLEvent {
    case scalar(String, anchor: String?)
    /// Nothing, `~` or `null` without quotes or tag (YAML 1.2.2 §10.2.1.1).
    case null(anchor: String?)
    case alias(of: String)
    case sequenceStart(anchor: String?)
    case sequenceEnd
    case mappingStart(anchor: String?)
    case mappingEnd
    case documentStart
    case documentEnd
    case streamStart
    case streamEnd
}

/// The events of a text, one after the other. Owns the C parser and the bytes that it reads.
@safe final class YAMLEvents {
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let isReady: Bool
    /// Where the last event began, from 1.
    private(set) var line = 1

    init(_ bytes: [UInt8]) {
        unsafe input = .allocate(capacity: max(1, bytes.count))
        _ = unsafe input.initialize(from: bytes)
        isReady = unsafe yaml_parser_initialize(parser) == 1
        if isReady { unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count) }
    }

    deinit {
        if isReady { unsafe yaml_parser_delete(parser) }
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    func next() throws(YAMLError) -> YAMLEvent {
        guard isReady else { throw YAMLError("no memory to read it", line: line) }
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault }
        defer { unsafe yaml_event_delete(&event) }
        line = unsafe event.start_mark.line + 1
        guard let event = unsafe YAMLEvent(event) else { throw YAMLError("not YAML", line: line) }
        return event
    }

    /// The parser's own text, which is a constant of libyaml.
    private var fault: YAMLError {
        let problem = unsafe parser.pointee.problem
        let mark = unsafe parser.pointee.problem_mark
        let words = unsafe problem.map { unsafe String(cString: $0) } ?? "not YAML"
        return YAMLError(words, line: mark.line + 1)
    }
}

extension YAMLEvent {
    /// Nil for the event that libyaml never sends.
    fileprivate init?(_ event: yaml_event_t) {
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let (text, anchor) = unsafe (String(decoding: bytes, as: UTF8.self), Self.name(scalar.anchor))
            let isBare = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.tag == nil
            self = isBare && Self.nulls.contains(text) ? .null(anchor: anchor) : .scalar(text, anchor: anchor)
        case YAML_ALIAS_EVENT: self = .alias(of: unsafe Self.name(event.data.alias.anchor) ?? "")
        case YAML_SEQUENCE_START_EVENT:
            self = .sequenceStart(anchor: unsafe Self.name(event.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT: self = .sequenceEnd
        case YAML_MAPPING_START_EVENT:
            self = .mappingStart(anchor: unsafe Self.name(event.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT: self = .mappingEnd
        case YAML_DOCUMENT_START_EVENT: self = .documentStart
        case YAML_DOCUMENT_END_EVENT: self = .documentEnd
        case YAML_STREAM_START_EVENT: self = .streamStart
        case YAML_STREAM_END_EVENT: self = .streamEnd
        default: return nil
        }
    }

    private static let nulls: Set<String> = ["", "~", "null", "Null", "NULL"]

    private static func name(_ text: UnsafeMutablePointer<UInt8>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }
}
