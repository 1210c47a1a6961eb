//! Where everything goes: boxes, arrows and their words.
//!
//! The library lays the graph out in columns, from what is done first to what is done last. It wants edges without cycles and looks for one by
//! following every path, so the edges are given to it by their source in catalog order: then no path is there yet that it could follow.

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::{Point, Position};
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow as Line, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::super::{Graph, cut};
use super::NAME_CHARS;

/// The height of a box.
const BOX_HEIGHT: f64 = 26.0;

/// The width of a character in a box, and of the space at both its ends.
const CHAR_WIDTH: f64 = 7.0;
const BOX_ENDS: f64 = 18.0;

/// Free space around a box, along the arrows and across them.
const AROUND_BOX: (f64, f64) = (28.0, 14.0);

/// The width of a character in the words at an arrow.
const LABEL_CHAR_WIDTH: usize = 6;

/// The same of the words as they are drawn.
const WORDS_CHAR_WIDTH: f64 = 5.6;
const WORDS_ENDS: f64 = 6.0;

/// Half the height of words at an arrow.
pub(super) const WORDS_HALF: f64 = 6.5;

/// The library takes a character to be as wide as the font is high. Where it splits a line it makes parts of this font, and it may move words
/// from one part to another.
const LIBRARY_FONT: usize = 15;

/// Where the numbers of arrows begin among characters: a plane for private use.
const NUMBERS: u32 = 0xf_0000;

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A point of a curve.
pub(super) type Spot = (f64, f64);

/// Where everything goes.
pub(super) struct Places {
    /// One for each resource.
    pub(super) boxes: Vec<Area>,
    /// One for each arrow: where it begins, then for each bend two points that draw it there and the bend itself.
    pub(super) curves: Vec<Vec<Spot>>,
    /// The middle of the words at each arrow.
    pub(super) labels: Vec<Spot>,
    /// All of it.
    pub(super) whole: Area,
}

pub(super) fn place(graph: &Graph) -> Places {
    let mut collected = Collected::new(graph);
    lay_out(graph, &mut collected);
    collected.set_apart(graph);
    collected.keep_words_clear(graph);
    collected.places()
}

/// How wide the words at an arrow are, with some space at both ends.
pub(super) fn words_width(words: &str) -> f64 {
    let characters = u32::try_from(words.chars().count()).unwrap_or(u32::MAX);
    WORDS_ENDS + WORDS_CHAR_WIDTH * f64::from(characters)
}

fn lay_out(graph: &Graph, collected: &mut Collected) {
    if graph.arrows.is_empty() {
        return;
    }
    let mut drawn = VisualGraph::new(Orientation::LeftToRight);
    // What it would check is true of every catalog, and checking takes as long as there are paths.
    drawn.dag.set_validate(false);
    let ordered = ordered(graph);
    let handles: Vec<_> = (0..graph.resources.len())
        .map(|place| ordered[place].then(|| drawn.add_node(element(place, width(graph, place)))))
        .collect();
    for (number, arrow) in graph.arrows.iter().enumerate() {
        if let (Some(from), Some(to)) = (handles[arrow.from], handles[arrow.to]) {
            drawn.add_edge(line(number, &arrow.words), from, to);
        }
    }
    drawn.do_it(false, false, false, collected);
}

/// Whether something goes before or after each resource.
fn ordered(graph: &Graph) -> Vec<bool> {
    let mut ordered = vec![false; graph.resources.len()];
    for arrow in &graph.arrows {
        (ordered[arrow.from], ordered[arrow.to]) = (true, true);
    }
    ordered
}

fn width(graph: &Graph, place: usize) -> f64 {
    let name = cut(&graph.resources[place].to_string(), NAME_CHARS);
    let characters = u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
    BOX_ENDS + CHAR_WIDTH * f64::from(characters)
}

/// The box of the resource at `place`, which is what it is called by when it is drawn.
fn element(place: usize, width: f64) -> Element {
    let (shape, size) = (ShapeKind::new_box(""), Point::new(width, BOX_HEIGHT));
    let look = StyleAttr::simple();
    let mut element = Element::create_with_properties(shape, look, Orientation::LeftToRight, size, place.to_string());
    element.pos = Position::new(Point::zero(), size, Point::zero(), Point::new(AROUND_BOX.0, AROUND_BOX.1));
    element
}

/// The arrow of this number, with a text that is as wide as `label` and leads back to the number.
fn line(number: usize, label: &str) -> Line {
    let look = StyleAttr { font_size: LIBRARY_FONT, ..StyleAttr::simple() };
    let characters = (label.chars().count() * LABEL_CHAR_WIDTH).div_ceil(LIBRARY_FONT).max(1);
    let first = u32::try_from(number).ok().and_then(|number| char::from_u32(NUMBERS + number)).unwrap_or(' ');
    let text: String = std::iter::once(first).chain(std::iter::repeat_n(' ', characters - 1)).collect();
    let (start, end, style) = (LineEndKind::None, LineEndKind::Arrow, LineStyleKind::Normal);
    Line::with_properties(start, end, style, &text, &look, number.to_string(), &None, &None)
}

fn number_of(text: &str) -> Option<usize> {
    usize::try_from(u32::from(text.chars().next()?).checked_sub(NUMBERS)?).ok()
}

/// What the library draws, by number.
struct Collected {
    boxes: Vec<Option<Area>>,
    curves: Vec<Vec<Spot>>,
    labels: Vec<Spot>,
}

impl Collected {
    fn new(graph: &Graph) -> Self {
        let arrows = graph.arrows.len();
        Self { boxes: vec![None; graph.resources.len()], curves: vec![Vec::new(); arrows], labels: vec![(0.0, 0.0); arrows] }
    }

    /// Puts what nothing orders in rows below the others.
    fn set_apart(&mut self, graph: &Graph) {
        let below = self.boxes.iter().flatten().fold(0.0, |most: f64, area| most.max(area.y + area.height));
        let right = self.boxes.iter().flatten().fold(800.0, |most: f64, area| most.max(area.x + area.width));
        let (mut x, mut y) = (0.0, if below > 0.0 { below + 2.0 * BOX_HEIGHT } else { 0.0 });
        for place in 0..self.boxes.len() {
            if self.boxes[place].is_some() {
                continue;
            }
            let width = width(graph, place);
            if x > 0.0 && x + width > right {
                (x, y) = (0.0, y + BOX_HEIGHT + AROUND_BOX.1);
            }
            self.boxes[place] = Some(Area { x, y, width, height: BOX_HEIGHT });
            x += width + AROUND_BOX.1;
        }
    }

    /// Moves words aside that came to lie on a box: the library straightens lines, and with them what stands at them.
    fn keep_words_clear(&mut self, graph: &Graph) {
        for ((x, y), arrow) in self.labels.iter_mut().zip(&graph.arrows) {
            let half = words_width(&arrow.words) / 2.0;
            let is_hit = |area: &&Area| {
                let across = *x + half > area.x && *x - half < area.x + area.width;
                across && *y + WORDS_HALF > area.y && *y - WORDS_HALF < area.y + area.height
            };
            if let Some(area) = self.boxes.iter().flatten().find(is_hit) {
                *x = if *x < area.x + area.width / 2.0 { area.x - half } else { area.x + area.width + half };
            }
        }
    }

    fn places(self) -> Places {
        let boxes: Vec<Area> = self.boxes.into_iter().flatten().collect();
        let whole = bounds(&boxes, self.curves.iter().flatten());
        Places { boxes, curves: self.curves, labels: self.labels, whole }
    }
}

fn bounds<'s>(boxes: &[Area], spots: impl Iterator<Item = &'s Spot>) -> Area {
    let corners = boxes.iter().flat_map(|area| [(area.x, area.y), (area.x + area.width, area.y + area.height)]);
    let all = corners.chain(spots.copied());
    let (left, top, right, bottom) = all.fold((0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64), |(left, top, right, bottom), (x, y)| {
        (left.min(x), top.min(y), right.max(x), bottom.max(y))
    });
    Area { x: left, y: top, width: right - left, height: bottom - top }
}

impl RenderBackend for Collected {
    fn draw_rect(&mut self, xy: Point, size: Point, _: &StyleAttr, of: Option<String>, _: Option<ClipHandle>) {
        if let Some(place) = of.and_then(|of| self.boxes.get_mut(of.parse::<usize>().ok()?)) {
            *place = Some(Area { x: xy.x, y: xy.y, width: size.x, height: size.y });
        }
    }

    /// The words at an arrow; a box has none of its own.
    fn draw_text(&mut self, xy: Point, text: &str, _: &StyleAttr) {
        if let Some(label) = number_of(text).and_then(|number| self.labels.get_mut(number)) {
            *label = (xy.x, xy.y);
        }
    }

    fn draw_arrow(&mut self, path: &[(Point, Point)], _: bool, _: (bool, bool), _: &StyleAttr, of: Option<String>, _: &str) {
        if let Some(curve) = of.and_then(|of| self.curves.get_mut(of.parse::<usize>().ok()?)) {
            *curve = path.iter().flat_map(|(first, second)| [(first.x, first.y), (second.x, second.y)]).collect();
        }
    }

    /// Nothing here is made of single lines.
    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    /// Nothing here is round.
    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    /// Nothing here is cut off.
    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}
