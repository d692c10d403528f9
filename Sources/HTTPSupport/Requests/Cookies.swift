import Authentication
package import Directory
package import HTTP
package import Values

extension Site {
    // `__Host-`: set by this host over https for all paths, so that no other host of the domain can plant one.
    private var prefix: String { isSecure ? "__Host-" : "" }
    package var sessionCookie: String { prefix + "spindle_session" }
    /// The secrets of sessions that were set aside.
    package var othersCookie: String { prefix + "spindle_others" }
    package var formCookie: String { prefix + "spindle_form" }
    package var deviceCookie: String { prefix + "spindle_device" }
    // Cookies at a host of a client's site: the session there, the browser, and the answer that no user is signed in.
    package var hostSessionCookie: String { prefix + "spindle_host_session" }
    package var hostBrowserCookie: String { prefix + "spindle_host_browser" }
    package var signedOutCookie: String { prefix + "spindle_nobody" }
    /// At our host: a mark for each time that a site was told that no user is signed in to the browser.
    package var toldCookie: String { prefix + "spindle_told" }

    /// A cookie for this host only, which scripts cannot read. `value` is ours: base64url.
    package func cookie(_ name: String, _ value: String, sameSite: SameSite = .lax) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=\(sameSite.rawValue)" + (isSecure ? "; Secure" : "")
    }

    /// A cookie that ends with the browser's own session. A remembered one lasts as long as the session may. Its
    /// `SameSite` is a setting of the operator's (`ConfigurationReading`).
    package func sessionCookie(_ secret: Secret<Session>, isRemembered: Bool = false) -> String {
        let cookie = cookie(sessionCookie, secret.value, sameSite: sameSite)
        return isRemembered ? cookie + "; Max-Age=\(Session.rememberedLifetime.seconds)" : cookie
    }

    package func deviceCookie(_ device: Secret<Device>) -> String {
        cookie(deviceCookie, device.value) + "; Max-Age=\(Duration.days(365).seconds)"
    }

    package var clearedSessionCookie: String { cleared(sessionCookie) }

    /// Both session cookies, empty: no user is signed in to the browser any more.
    package var clearedSessionCookies: [String] { [clearedSessionCookie, cleared(othersCookie)] }

    package func cleared(_ name: String) -> String { cookie(name, "", sameSite: sameSite) + "; Max-Age=0" }
}

extension Request {
    /// The value of a cookie, if it occurs once and looks like one of ours.
    package func cookie(_ name: String, atMost longest: Int = 128) -> String? {
        var found: Substring.UTF8View?
        for field in headers[values: .cookie] {
            // As bytes: a client may send thousands with each request.
            for pair in field.utf8.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                guard pair.starts(with: name.utf8) else { continue }
                let rest = pair.dropFirst(name.utf8.count)
                guard rest.first == UInt8(ascii: "=") else { continue }
                guard found == nil else { return nil }
                found = rest.dropFirst()
            }
        }
        guard let found, (16...longest).contains(found.count) else { return nil }
        return String(Substring(found))
    }
}

extension Sessions {
    /// The session of the browser that sent `request`.
    package func of(_ request: Request, _ site: Site) async throws -> Session? {
        guard let value = request.cookie(site.sessionCookie), let session = try await find(Secret(value)) else {
            return nil
        }
        request.note(session.user)
        return session
    }
}
