/// A piece of a YAML text, in the order of the text.
enum YAMLEvent {
    case scalar(String, anchor: String?)
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
