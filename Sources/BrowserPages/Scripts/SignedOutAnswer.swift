import Cryptography
import Directory
import HTTP
import HTTPSupport
import Values

/// The cookie of a browser at the host of a client's site that says: no user is signed in, since when, and the mark of
/// that answer at our own host.
struct SignedOutAnswer {
    let mark: Fingerprint<NoticedSignIns.Mark>
    let since: Timestamp

    init(mark: Fingerprint<NoticedSignIns.Mark>, since: Timestamp) {
        self.mark = mark
        self.since = since
    }

    init?(_ text: String) {
        let halves = text.split(separator: ".")
        guard halves.count == 2, halves[0].isFingerprint, let time = Int64(halves[1]) else { return nil }
        self.init(mark: Fingerprint(text: String(halves[0])), since: Timestamp(milliseconds: time))
    }

    var text: String { "\(mark.text).\(since.milliseconds)" }
}

/// The marks that a browser has at our own host, the newest first: one for each time that a site was told that no user
/// is signed in. Each answer has its own mark, so that two sites cannot recognize a common visitor by it.
struct SignedOutMarks {
    /// How many are kept. A site whose mark was dropped learns of a sign-in when its own memory expires.
    private static let most = 6

    private let secrets: [Secret<NoticedSignIns.Mark>]

    private init(_ secrets: [Secret<NoticedSignIns.Mark>]) { self.secrets = secrets }

    /// The marks in the cookie of `request` that have the right form.
    init(_ request: Request, _ site: Site) {
        let value = request.cookie(site.toldCookie, atMost: Self.most * 44) ?? ""
        secrets = value.split(separator: ".").prefix(Self.most).filter(\.isFingerprint).map { Secret(String($0)) }
    }

    func adding(_ mark: Secret<NoticedSignIns.Mark>) -> SignedOutMarks {
        SignedOutMarks(Array(([mark] + secrets).prefix(Self.most)))
    }

    var fingerprints: [Fingerprint<NoticedSignIns.Mark>] { secrets.map(\.fingerprint) }

    func cookie(_ site: Site) -> String {
        site.cookie(site.toldCookie, secrets.map(\.value).joined(separator: "."))
    }
}
