import Foundation
import Values

/// Where a person is, in SPiD's words.
enum SPiDPlace {
    /// How far the clocks of a time zone (`Europe/Oslo`) are ahead at `now`: `+02:00`. Those of one that is not known
    /// are not.
    static func offset(of zone: String, at now: Timestamp) -> String {
        let date = Date(timeIntervalSince1970: Double(now.seconds))
        let minutes = (TimeZone(identifier: zone)?.secondsFromGMT(for: date) ?? 0) / 60
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (minutes < 0 ? "-" : "+") + digits(abs(minutes) / 60) + ":" + digits(abs(minutes) % 60)
    }

    /// A language tag as SPiD writes it, with the country where it has one for the language: `nb_NO`. SPiD's own default
    /// is `en_US`.
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
