import Cryptography
import HTTP
import InternationalText
import JSON
import OAuth
import Pages
import Text
import Values

@testable import Directory
@testable import Authentication
@testable import BrowserPages
@testable import HTTPSupport
@testable import Mail
@testable import Transfer

/// `application/x-www-form-urlencoded`: written again, it reads as the same pairs.
@Sendable func fuzzForm(_ bytes: [UInt8]) {
    guard let form = try? Form.parse(bytes) else { return }
    let written = form.pairs.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(
        separator: "&")
    guard let again = try? Form.parse(written) else { fatalError("what was written is not read: \(written)") }
    require(again.pairs.count == form.pairs.count, "\(again.pairs.count) pairs of \(form.pairs.count)")
    for (one, other) in zip(again.pairs, form.pairs) {
        require(isSame(one.name, other.name) && isSame(one.value, other.value), "\(one) is not \(other)")
        require(!one.name.utf8.contains(0) && !one.value.utf8.contains(0), "a NUL")
    }
    _ = try? form.parameters
    if let scope = form["scope"], let read = Scope(parsing: scope) {
        require(Scope(parsing: read.description) == read, "another scope: \(read)")
    }
    _ = Interaction.ID(carried: form["continue"])
    _ = form["continue"].map { AppReturn.Address($0) }
}

/// A form in parts, after its boundary: written again, it reads the same.
@Sendable func fuzzMultipart(_ bytes: [UInt8]) {
    let (boundary, body) = bytes.halves(at: 0)
    guard let form = try? Form.parse(multipart: body, boundary: boundary.text) else { return }
    let parts = form.pairs.map { pair in
        "--\(boundary.text)\r\nContent-Disposition: form-data; name=\"\(pair.name)\"\r\n\r\n\(pair.value)\r\n"
    }
    let written = parts.joined() + "--\(boundary.text)--"
    guard let again = try? Form.parse(multipart: Array(written.utf8), boundary: boundary.text) else {
        fatalError("what was written is not read: \(written)")
    }
    require(again.pairs.count == form.pairs.count, "\(again.pairs.count) parts of \(form.pairs.count)")
    for (one, other) in zip(again.pairs, form.pairs) {
        require(isSame(one.name, other.name) && isSame(one.value, other.value), "\(one) is not \(other)")
        require(!one.name.utf8.contains(0) && !one.value.utf8.contains(0), "a NUL")
    }
}

/// A Basic header, and a Bearer token in any place (RFC 6750 §2).
@Sendable func fuzzBasic(_ bytes: [UInt8]) {
    let (header, body) = bytes.halves(at: 0)
    for value in [header.text, "Basic \(header.text)", "Basic \(Base64.encode(header))", "Bearer \(header.text)"] {
        var request = Request(method: .post, target: Target("/?" + body.text))
        request.headers.append(Field(name: .authorization, value: value))
        guard let form = try? Form.parse(body), let parameters = try? form.parameters else { continue }
        if let credentials = try? ClientCredentials.read(request, parameters) {
            require(!credentials.id.text.isEmpty, "credentials without a client")
        }
        _ = ClientCredentials.named(request, form)
        _ = try? PresentedToken.read(request, form: parameters)
    }
}

/// Base64 with padding, as clients write it.
enum Base64 {
    static func encode(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

/// Cookies: each line of the input is a field.
@Sendable func fuzzCookies(_ bytes: [UInt8]) {
    var request = Request(method: .get, target: Target("/"))
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        request.headers.append(Field(name: .cookie, value: Array(line).text))
    }
    for name in ["spindle_session", "spindle_form", "spindle_device", "__Host-spindle_session", ""] {
        guard let value = request.cookie(name) else { continue }
        require((16...128).contains(value.utf8.count), "a cookie of \(value.utf8.count) bytes")
        // A request with only this cookie reads the same value.
        let alone = Request(method: .get, target: Target("/"), headers: [.cookie: "\(name)=\(value)"])
        require(alone.cookie(name).map { isSame($0, value) } == true, "another cookie: \(value)")
    }
}

/// `Accept-Language` and `ui_locales`.
@Sendable func fuzzLanguages(_ bytes: [UInt8]) {
    let (accepted, asked) = bytes.halves(at: UInt8(ascii: "\n"))
    let language = Language.preferred(uiLocales: asked.text, acceptLanguage: accepted.text)
    require(Language(tag: language.rawValue) == language, "\(language) is none")
    require(
        Language.preferred(uiLocales: language.rawValue, acceptLanguage: accepted.text) == language, "asked for in vain"
    )
}

/// E-mail addresses and mailboxes: what was read reads as itself again.
@Sendable func fuzzMail(_ bytes: [UInt8]) {
    let text = bytes.text
    if let email = EmailAddress(text) {
        require(EmailAddress(email.text).map { isSame($0.text, email.text) } == true, "another address: \(email.text)")
        require(email.text.utf8.count <= 254 && !email.text.utf8.contains { $0 <= 0x20 }, "no address: \(email.text)")
    }
    if let address = MailAddress(text) {
        // A local part that needed quotes differs from one that has them.
        require(
            address.local.hasPrefix("\"") || MailAddress(address.description) == address, "another mailbox: \(address)")
        require(address.description.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "no line of SMTP: \(address)")
    }
    if let domain = DomainName.ascii(text) {
        require(DomainName.ascii(domain).map { isSame($0, domain) } == true, "another domain: \(domain)")
    }
    if let sender = Sender(text) { _ = sender.description }
}

/// IP addresses and ranges: what was read is written so that it reads alike.
@Sendable func fuzzAddresses(_ bytes: [UInt8]) {
    let text = bytes.text
    if let address = IPAddress(text) {
        require(IPAddress(address.description) == address, "another address: \(address)")
        require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "read from \(text.debugDescription)")
        require(CIDR("\(address)").map { $0.contains(address) } == true, "outside of itself: \(address)")
        _ = (address.isPublic, address.subscriber)
    }
    if let range = CIDR(text) {
        require(CIDR(range.description) == range, "another range: \(range)")
        require(range.contains(range.address), "its own address is outside: \(range)")
    }
}

/// A telephone number: written again, it reads the same, and it is what E.164 allows.
@Sendable func fuzzPhones(_ bytes: [UInt8]) {
    guard let phone = PhoneNumber(bytes.text) else { return }
    require(PhoneNumber(phone.text) == phone, "another number: \(phone.text)")
    let digits = phone.text.utf8.dropFirst()
    require(phone.text.hasPrefix("+") && (7...15).contains(digits.count), "no number: \(phone.text)")
    require(digits.allSatisfy { (0x30...0x39).contains($0) } && digits.first != 0x30, "no digits: \(phone.text)")
    require(bytes.count <= 40, "read from \(bytes.count) bytes")
}

/// `Forwarded` and `X-Forwarded-For` from a trusted proxy.
@Sendable func fuzzForwarded(_ bytes: [UInt8]) {
    let trusted = [CIDR("127.0.0.0/8"), CIDR("10.0.0.0/8"), CIDR("fd00::/8")].compactMap(\.self)
    for name in [FieldName.forwarded, .xForwardedFor] {
        var request = Request(method: .get, target: Target("/"), peer: "127.0.0.1")
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            request.headers.append(Field(name: name, value: Array(line).text))
        }
        let address = ClientAddress(trustedProxies: trusted).of(request)
        // Whatever the fields say, throttling needs an IP address.
        require(IPAddress(address) != nil || CIDR(address) != nil, "no address: \(address)")
    }
}

/// Names and passwords in any script: their normal form, and their form in mails.
@Sendable func fuzzNames(_ bytes: [UInt8]) {
    let text = bytes.text
    let composed = text.canonicallyComposed
    require(isSame(composed.canonicallyComposed, composed), "not composed: \(composed)")
    // Swift compares by canonical equivalence.
    require(composed == text && composed.utf8.count <= 3 * text.utf8.count, "\(composed) is not \(text)")
    let guessable = GuessablePassword(text)
    require(guessable.folded.hasPrefix(guessable.base), "\(guessable.base) does not begin \(guessable.folded)")
    _ = guessable.isRun
    let fields = [
        "Subject: " + HeaderText.unstructured(text, after: "Subject: "),
        "From: " + HeaderText.mailbox(text, "<a@b.example>", after: "From: "),
    ]
    for field in fields {
        let lines = field.split(separator: "\r\n", omittingEmptySubsequences: false)
        require(lines.dropFirst().allSatisfy { $0.hasPrefix(" ") }, "another field begins: \(field)")
        require(lines.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } }, "no ASCII: \(field)")
        require(lines.allSatisfy { $0.utf8.count <= 76 }, "a long line: \(field)")
    }
    for line in QuotedPrintable.encode(text).split(separator: "\r\n") {
        require(line.utf8.count <= 76 && line.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 9 }, "\(line)")
    }
}
