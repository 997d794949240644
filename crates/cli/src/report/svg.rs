//! Charts as SVG within a page.

use std::fmt::{Display, Write};

/// A chart. Coordinates are pixels at the page's full width.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// A linear scale from values to pixels.
#[derive(Clone, Copy)]
pub struct Scale {
    /// Least value.
    pub from: f64,
    /// Greatest value.
    pub to: f64,
    /// Pixel of the least value.
    pub start: f64,
    /// Pixel of the greatest value.
    pub end: f64,
}

impl Scale {
    /// Returns the pixel of a value.
    pub fn pixel(self, value: f64) -> f64 {
        let whole = (self.to - self.from).abs().max(1e-12) * (self.to - self.from).signum();
        self.start + (value - self.from) / whole * (self.end - self.start)
    }

    /// Returns round values for ticks, approximately `about` of them.
    pub fn ticks(self, about: usize) -> Vec<f64> {
        let rough = (self.to - self.from) / about.max(1) as f64;
        if rough.is_nan() || rough <= 0.0 {
            return vec![self.from];
        }
        let power = 10_f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 5.0, 10.0];
        let step = factors.into_iter().map(|f| f * power).find(|&step| step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }
}

impl Svg {
    /// Creates an empty chart.
    pub fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: String::new() }
    }

    /// Draws a rectangle; `title` is its tooltip.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (w, h): (f64, f64), title: &str) {
        let at = format!(
            "class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\""
        );
        let _ = match title {
            "" => writeln!(self.body, "<rect {at}/>"),
            title => writeln!(self.body, "<rect {at}><title>{}</title></rect>", escape(title)),
        };
    }

    /// Draws a line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\"/>"
        );
    }

    /// Draws words; `class` sets their alignment.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), words: impl Display) {
        let words = escape(&words.to_string());
        let _ =
            writeln!(self.body, "<text class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\">{words}</text>");
    }

    /// Draws a polygon or, if `open`, a line through points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)], open: bool) {
        let mut d = String::new();
        for (number, (x, y)) in points.iter().enumerate() {
            let _ = write!(d, "{}{x:.2} {y:.2}", if number == 0 { "M" } else { "L" });
        }
        let end = if open { "" } else { "Z" };
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{d}{end}\"/>");
    }

    /// Draws a dot; `title` is its tooltip.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), r: f64, title: &str) {
        let title = escape(title);
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{r}\"><title>{title}</title></circle>"
        );
    }

    /// Returns the chart; `words` describe it for people who cannot see it.
    pub fn finish(self, words: &str) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{body}</svg>\n",
            escape(words)
        )
    }
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale { from: 0.0, to: 14.7, start: 0.0, end: 1000.0 };
        assert_eq!(scale.ticks(8), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
        assert_eq!(scale.pixel(14.7), 1000.0);
        assert_eq!(Scale { to: 0.0, ..scale }.ticks(8), [0.0]);
    }

    #[test]
    fn names_cannot_break_the_page() {
        let mut svg = Svg::new(1.0, 1.0);
        svg.text("t", (0.0, 0.0), "<script>\"&");
        assert!(svg.finish("").contains("&lt;script&gt;&quot;&amp;</text>"));
    }
}
