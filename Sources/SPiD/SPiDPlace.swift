import Values

/// A user's time zone and locale, as SPiD writes them.
enum SPiDPlace {
    /// The offset of a time zone (`Europe/Oslo`) from UTC at `now`: `+02:00`. That of an unknown zone is `+00:00`.
    static func offset(of zone: String, at now: Timestamp) -> String {
        let minutes = (TimeZones.named(zone)?.offset(at: now.seconds) ?? 0) / 60
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (minutes < 0 ? "-" : "+") + digits(abs(minutes) / 60) + ":" + digits(abs(minutes) % 60)
    }

    /// A language tag as SPiD writes it, with a country for the languages SPiD knows: `nb_NO`. The default is SPiD's,
    /// `en_US`.
    static func locale(of tag: String) -> String {
        let text = tag.replacing("-", with: "_")
        return switch text {
        case "", "en": "en_US"
        case "no", "nb", "no_NO": "nb_NO"
        case "nn": "nn_NO"
        case "sv": "sv_SE"
        case "de": "de_DE"
        default: text
        }
    }
}
