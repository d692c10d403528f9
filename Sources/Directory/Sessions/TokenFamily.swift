public import Values

/// One completed authorization with its code, its tokens and the sessions that they bought. OAuth keeps it.
public enum TokenFamily {
    public typealias ID = Identifier<TokenFamily>
}
