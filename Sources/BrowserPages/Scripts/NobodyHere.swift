import Cryptography
import Directory
import HTTP
import HTTPSupport
import Values

/// What the cookie of a browser at a host of a site says: that nobody is signed in, since when, and the mark of that
/// word at our own host.
struct NobodyHere {
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

/// The marks that a browser has at our own host, the newest first: one for each time that a site was told that nobody
/// is signed in. Each time has its own, so that two sites cannot tell by it that they have the same visitor.
struct NobodyMarks {
    /// How many are kept. A site whose mark was dropped learns of a sign-in when its own memory ends.
    private static let most = 6

    private let secrets: [Secret<NoticedSignIns.Mark>]

    private init(_ secrets: [Secret<NoticedSignIns.Mark>]) { self.secrets = secrets }

    /// Those in the cookie of `request`, as far as they can be ours.
    init(_ request: Request, _ site: Site) {
        let value = request.cookie(site.toldCookie, atMost: Self.most * 44) ?? ""
        secrets = value.split(separator: ".").prefix(Self.most).filter(\.isFingerprint).map { Secret(String($0)) }
    }

    func adding(_ mark: Secret<NoticedSignIns.Mark>) -> NobodyMarks {
        NobodyMarks(Array(([mark] + secrets).prefix(Self.most)))
    }

    var fingerprints: [Fingerprint<NoticedSignIns.Mark>] { secrets.map(\.fingerprint) }

    func cookie(_ site: Site) -> String {
        site.cookie(site.toldCookie, secrets.map(\.value).joined(separator: "."))
    }
}
