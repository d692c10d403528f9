import Directory
import JSON
public import Keys
import OAuth
public import Outbound
public import Values

/// The addresses of the providers' APIs.
public struct ProviderAddresses: Sendable {
    let facebook: String
    let googleTokens: String
    let googleUserinfo: String

    /// Google answers about tokens and about users at two different hosts. Any other address answers both.
    public init(facebook: String, google: String) {
        self.facebook = facebook
        googleTokens = google
        googleUserinfo = google == "https://oauth2.googleapis.com" ? "https://openidconnect.googleapis.com/v1" : google
    }
}

/// Asks providers about access tokens. Nothing is read from the token itself.
public struct ProviderTokens: Sendable {
    private let facebook: FacebookTokens
    private let google: GoogleTokens
    private let seal: Seal
    private let clock: any WallClock

    public init(outbound: Outbound, addresses: ProviderAddresses, seal: Seal, clock: any WallClock) {
        facebook = FacebookTokens(
            interface: ProviderInterface(provider: .facebook, address: addresses.facebook, outbound: outbound))
        google = GoogleTokens(
            tokens: ProviderInterface(provider: .google, address: addresses.googleTokens, outbound: outbound),
            userinfo: ProviderInterface(provider: .google, address: addresses.googleUserinfo, outbound: outbound))
        self.seal = seal
        self.clock = clock
    }

    /// The provider's identifier of the user of `token`.
    func subject(
        of token: Secret<ProviderAssertion.Token>, at issuer: TrustedIssuer, for client: Client.ID?
    ) async throws -> String {
        let requester = ProviderInterface.Requester(merchant: issuer.merchant, client: client)
        switch issuer.app?.provider {
        case .facebook:
            return try await facebook.subject(
                of: token, issuedTo: try facebookApp(of: issuer, requester), at: clock.now)
        case .google: return try await google.answer(about: token, issuedTo: issuer.audiences, for: requester).subject
        // Apple has no access tokens to ask about.
        case .apple, nil: throw OAuthError.assertionOfUnknownIssuer
        }
    }

    /// The user of `token`, with what the provider knows about them.
    func user(
        of token: Secret<ProviderAssertion.Token>, at issuer: TrustedIssuer, for client: Client.ID?
    ) async throws -> (subject: String, user: ProviderUser) {
        let requester = ProviderInterface.Requester(merchant: issuer.merchant, client: client)
        switch issuer.app?.provider {
        case .facebook:
            let app = try facebookApp(of: issuer, requester)
            let subject = try await facebook.subject(of: token, issuedTo: app, at: clock.now)
            return (subject, try await facebook.user(subject, with: token, issuedTo: app))
        case .google:
            let answer = try await google.answer(about: token, issuedTo: issuer.audiences, for: requester)
            return (answer.subject, try await google.user(answer, with: token, for: requester))
        // Apple has no access tokens to ask about.
        case .apple, nil: throw OAuthError.assertionOfUnknownIssuer
        }
    }

    private func facebookApp(
        of issuer: TrustedIssuer, _ requester: ProviderInterface.Requester
    ) throws -> FacebookTokens.App {
        // Registration ensures both.
        guard let id = issuer.audiences.first, let sealed = issuer.app?.sealedSecret else {
            throw OAuthError.providerUnknown(.facebook)
        }
        return FacebookTokens.App(
            id: id, secret: Secret(try seal.open(sealed, .appSecret, row: issuer.id.text)), requester: requester)
    }
}

extension Timestamp {
    /// Reads `exp` as SPiD's SDKs write it, `2030-01-01 00:00:00+0000` with or without a space before the zone, or as
    /// the seconds since 1970 of RFC 7519 §4.1.4.
    init?(expiry: JSON) {
        if let seconds = expiry.integer {
            guard (0...253_402_300_799).contains(seconds) else { return nil }
            self.init(seconds: seconds)
        } else {
            guard let seconds = expiry.string.flatMap({ Self.seconds(date: Array($0.utf8)) }) else { return nil }
            self.init(seconds: seconds)
        }
    }

    /// `yyyy-MM-dd HH:mm:ss` and a zone: `+hhmm` or `-hhmm`, perhaps after a space.
    private static func seconds(date text: [UInt8]) -> Int64? {
        let zone = text.dropFirst(19).drop { $0 == UInt8(ascii: " ") }
        guard (24...25).contains(text.count), zone.count == 5,
            let sign = [UInt8(ascii: "+"): Int64(1), UInt8(ascii: "-"): -1][zone[zone.startIndex]],
            let zoneHours = number(zone.dropFirst().prefix(2), 0...14),
            let zoneMinutes = number(zone.suffix(2), 0...59),
            separators.allSatisfy({ text[$0.at] == $0.letter }),
            let year = number(text[0..<4], 1970...9999), let month = number(text[5..<7], 1...12),
            let day = number(text[8..<10], 1...daysIn(month, of: year)), let hour = number(text[11..<13], 0...23),
            let minute = number(text[14..<16], 0...59), let second = number(text[17..<19], 0...60)
        else { return nil }
        let time = hour * 3600 + minute * 60 + second
        return days(before: year, month) * 86400 + (day - 1) * 86400 + time - sign * (zoneHours * 60 + zoneMinutes) * 60
    }

    private static let separators: [(at: Int, letter: UInt8)] = [
        (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: " ")), (13, UInt8(ascii: ":")),
        (16, UInt8(ascii: ":")),
    ]

    private static func number(_ digits: ArraySlice<UInt8>, _ range: ClosedRange<Int64>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return range.contains(number) ? number : nil
    }

    /// Days from 1970 to the first of `month`.
    private static func days(before year: Int64, _ month: Int64) -> Int64 {
        let past = year - 1
        let toYear = past * 365 + past / 4 - past / 100 + past / 400 - 719_162
        return toYear + (1..<month).reduce(0) { $0 + daysIn($1, of: year) }
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
