import HTTP
import Pages

/// The headers of a page for users: without inline scripts, not framed, not cached.
struct PageHeaders {
    let visit: PageContext
    /// A form's response may redirect to an app's redirect URI. Browsers apply `form-action` to that redirect too, so
    /// it is left out.
    let formsLeaveSite: Bool
    /// The page runs our script, and no other.
    let script: Bool

    var fields: Fields {
        var headers = Fields()
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentLanguage] = visit.frame.language.rawValue
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = contentSecurityPolicy
        // X-Frame-Options takes no list, so it is sent only when no site may frame the page.
        if visit.framedBy.isEmpty { headers[.xFrameOptions] = "DENY" }
        // Not "no-referrer": with that, browsers post our own forms with `Origin: null`, like those of another site.
        headers[.referrerPolicy] = "same-origin"
        return headers
    }

    private var contentSecurityPolicy: String {
        var policy = ["default-src 'none'", "style-src 'self'", "base-uri 'none'"]
        if script { policy.append("script-src 'self'") }
        if !visit.imageSources.isEmpty { policy.append("img-src \(visit.imageSources.joined(separator: " "))") }
        policy.append("frame-ancestors \(visit.framedBy.isEmpty ? "'none'" : visit.framedBy.joined(separator: " "))")
        if !formsLeaveSite { policy.append("form-action 'self'") }
        return policy.joined(separator: "; ")
    }
}
