/// Says that the user is signed out.
public struct SignedOutPage: PageContents {
    public init() {}
}
