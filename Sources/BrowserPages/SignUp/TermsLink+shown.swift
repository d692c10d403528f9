import Directory
import HTTPSupport
import OAuth
import Pages

extension TermsLink {
    /// The link to `terms`, which are those of `client` or of the platform.
    init(_ terms: Terms, of client: Client?) {
        self.init(uri: terms.uri, owner: terms.client == nil ? nil : client?.name)
    }
}

extension Form {
    /// Those of `terms` that the form's page showed: terms that were not shown cannot be accepted.
    func agreed(of terms: [Terms?]) -> [Terms] {
        let shown = Set(pairs.filter { $0.name == "terms" }.map(\.value))
        return terms.compactMap(\.self).filter { shown.contains($0.uri) }
    }
}
