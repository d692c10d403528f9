/// The one stylesheet of all pages. They carry no style of their own, so `style-src 'self'` is enough.
public enum Stylesheet {
    /// Where the pages expect it.
    public static let path = "/assets/spindle.css"

    /// Its text. Every pair of colours has a contrast of at least 4.5, borders and focus of at least 3 (WCAG 2.2 AA).
    public static let css = """
        :root {
            color-scheme: light dark;
            --paper: #ffffff; --ink: #1b1c20; --soft: #565b66; --line: #767b86;
            --accent: #1d4ed8; --on-accent: #ffffff; --refusal: #9f1239; --refusal-paper: #fdecef;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --paper: #16171b; --ink: #e9eaee; --soft: #a9aeb9; --line: #8b909c;
                --accent: #93b4ff; --on-accent: #0d1730; --refusal: #ffb3c0; --refusal-paper: #3b141d;
            }
        }
        * { box-sizing: border-box; }
        body {
            margin: 0; background: var(--paper); color: var(--ink);
            font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
        }
        main { max-width: 26rem; margin: 0 auto; padding: 2rem 1rem; }
        h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
        p, ul { margin: 0 0 1rem; }
        ul { padding-left: 1.25rem; }
        small { color: var(--soft); font-size: .875rem; }
        label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
        input, button { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border-radius: .375rem; font: inherit; }
        input { border: 1px solid var(--line); background: var(--paper); color: var(--ink); }
        button {
            margin-top: 1rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
            font-weight: 600; cursor: pointer;
        }
        button.second { background: var(--paper); color: var(--accent); }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .refusal { padding: .75rem; border: 1px solid var(--refusal); border-radius: .375rem;
            background: var(--refusal-paper); color: var(--refusal); }

        """
}
