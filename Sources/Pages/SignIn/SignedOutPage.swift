/// Says that the person is signed out.
public struct SignedOutPage: PageContents {
    public init() {}
}
