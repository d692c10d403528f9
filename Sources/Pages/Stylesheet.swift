/// The stylesheets of all pages. Pages have no inline style, so `style-src 'self'` is enough.
public enum Stylesheet {
    /// The path where the pages expect it.
    public static let path = "/assets/spindle.css"
    /// The path where the page that posts by itself expects the script.
    public static let scriptPath = "/assets/submit.js"

    /// A stylesheet with a merchant's colour, on the most important button and as a stripe. No text has it, so any
    /// colour will do. If it hardly differs from the card, the button gets an edge.
    /// - Parameter accent: as `#rrggbb`; anything else changes nothing.
    public static func brand(accent: String) -> String {
        guard let colour = Colour(accent) else { return "" }
        func edge(on card: String) -> String {
            Colour(card).map { colour.contrast(with: $0) >= 3 } == true ? "transparent" : "var(--line)"
        }
        return """
            :root {
                --accent: \(accent.lowercased());
                --on-accent: \(colour.contrasting);
                --accent-edge: \(edge(on: "#ffffff"));
            }
            @media (prefers-color-scheme: dark) {
                :root { --accent-edge: \(edge(on: "#191b20")); }
            }

            """
    }
}
