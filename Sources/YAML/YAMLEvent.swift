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
