//! The code on a Markdown page: fenced and indented blocks, and code within text.

/// A piece of code.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// The number of its first line, from 1.
    pub line: usize,
    /// Its text. A block is given line by line, except that a line that ends in `\` includes the next one.
    pub text: String,
    /// The code is a part of a sentence, which may name a command without all of its arguments.
    pub inline: bool,
}

/// All code of a page, in order.
pub fn code(page: &str) -> Vec<Code> {
    let mut code = Vec::new();
    let mut fence: Option<&str> = None;
    let mut paragraph = String::new();
    let mut paragraph_line = 1;
    let mut block_may_begin = true;
    for (index, line) in page.lines().enumerate() {
        let number = index + 1;
        let bare = line.trim_start();
        if let Some(mark) = fence {
            match bare.starts_with(mark) {
                true => fence = None,
                false => add_block_line(&mut code, number, bare),
            }
            continue;
        }
        let opens = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        let indented = line.starts_with("    ") && block_may_begin;
        if opens.is_some() || indented || bare.is_empty() {
            add_inline(&mut code, paragraph_line, &std::mem::take(&mut paragraph));
        }
        if opens.is_some() {
            fence = opens;
        } else if indented {
            add_block_line(&mut code, number, bare);
        } else if !bare.is_empty() {
            if paragraph.is_empty() {
                paragraph_line = number;
            }
            paragraph += line;
            paragraph.push('\n');
        }
        // An indented line continues a paragraph, unless a blank line or code precedes it.
        block_may_begin = bare.is_empty() || indented;
    }
    add_inline(&mut code, paragraph_line, &paragraph);
    code
}

/// Adds a line of a block, or appends it to a line that ends in `\`.
fn add_block_line(code: &mut Vec<Code>, line: usize, text: &str) {
    match code.last_mut() {
        Some(last) if !last.inline && last.text.ends_with('\\') => {
            last.text.pop();
            last.text += text;
        }
        _ => code.push(Code { line, text: text.to_string(), inline: false }),
    }
}

/// Adds the code between backticks of a paragraph.
fn add_inline(code: &mut Vec<Code>, first_line: usize, paragraph: &str) {
    let mut rest = paragraph;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let mark = &rest[start..start + ticks];
        let inside = &rest[start + ticks..];
        let Some(length) = inside.find(mark) else { return };
        let before = paragraph.len() - rest.len() + start;
        code.push(Code {
            line: first_line + paragraph[..before].matches('\n').count(),
            // A vertical bar in a table is written `\|`.
            text: inside[..length].replace('\n', " ").replace("\\|", "|"),
            inline: true,
        });
        rest = &inside[length + ticks..];
    }
}
