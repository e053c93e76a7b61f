/** A passage of a prompt's context, with the id that the prompt gave it. */
export interface GivenPassage {
  readonly id?: string;
  readonly text: string;
}

const passageTag = String.raw`(?:source|document|doc|passage|chunk|result|search_result|item|article|snippet|excerpt|context)`;
const opening = new RegExp(String.raw`<(${passageTag})\b([^<>]{0,400})>`, 'gi');
const attribute = /\b(?:id|index|number|n)\s*=\s*["']?([\w.-]{1,40})/i;
const innerText = /<(document_contents?|contents?|page_content|text|body)>([\s\S]*?)<\/\1>/i;
const innerId = /<(id|index|number)>\s*([\w.-]{1,40})\s*<\/\1>/i;
const bracketed = /^[ \t>*-]*\[([\w.^-]{1,20})\][ \t]*:?[ \t]*/gm;
const named =
  /^[ \t>#*-]*(?:source|document|doc|passage|chunk|result|search result|excerpt|snippet|context|reference|article)[ \t]*[[(#]?[ \t]*(\d{1,3})[\])]?[ \t]*(?:\([^)\n]{0,80}\))?[ \t*]*(?:[:.)\n-]|$)[ \t*]*/gim;
const listed = /^[ \t]*(\d{1,3})[.)][ \t]+/gm;
/** Lines about the source in front of a passage. */
const aboutSource =
  /^\s*(?:(?:source|file_?(?:path|name)|filename|page(?:_label)?|url|link|metadata|score|title|id|date)[ \t]*[:=][^\n]*\n+)+/i;
const contentLabel = /^\s*(?:content|text|page_content|passage|excerpt)[ \t]*:[ \t]*/i;

/** Splits a context at its tags, at its numbers, or at lines of dashes; without those it is one passage. */
export function passagesOf(context: string): GivenPassage[] {
  const tagged = taggedIn(context);
  const found =
    tagged.length > 0
      ? tagged
      : (numberedIn(context, named) ??
        numberedIn(context, bracketed) ??
        listedIn(context) ??
        context.split(/^[ \t]*(?:-{3,}|={3,}|\*{3,})[ \t]*$/m).map((text) => ({ text })));
  return found.flatMap(({ text, ...id }) => {
    const clean = text
      .replace(/^\s*(?:`{3,}|"{3}|~{3,})[^\n]*\n|\n\s*(?:`{3,}|"{3}|~{3,})\s*$/g, '')
      .replace(aboutSource, '')
      .replace(contentLabel, '')
      .trim();
    return clean === '' ? [] : [{ ...id, text: clean }];
  });
}

/** The innermost passages between tags. */
function taggedIn(context: string): GivenPassage[] {
  const passages: GivenPassage[] = [];
  let from = 0;
  for (const { 0: tag, 1: name, 2: attributes, index } of context.matchAll(opening)) {
    if (index < from) continue;
    const start = index + tag.length;
    const end = context.indexOf(`</${name}>`, start);
    if (end < 0) break;
    from = end + name!.length + 3;
    const inside = context.slice(start, end);
    const id = attribute.exec(attributes!)?.[1] ?? innerId.exec(inside)?.[2];
    const text = innerText.exec(inside)?.[2] ?? inside.replaceAll(/<(\w{1,30})>[^<]*<\/\1>/g, '');
    passages.push({ ...(id && { id }), text });
  }
  return passages;
}

/** The text from each marker to the next one; undefined where the context does not begin with a marker. */
function numberedIn(context: string, marker: RegExp): GivenPassage[] | undefined {
  const found = [...context.matchAll(marker)];
  if (found.length === 0 || context.slice(0, found[0]!.index).trim() !== '') return undefined;
  return found.map(({ 0: { length }, 1: id, index }, at) => ({
    id: id!,
    text: context.slice(index + length, found[at + 1]?.index),
  }));
}

/** A numbered list of passages counts from 1. */
function listedIn(context: string): GivenPassage[] | undefined {
  const passages = numberedIn(context, listed);
  const counts = passages?.every(({ id }, index) => Number(id) === index + 1);
  return passages && counts && passages.length > 1 ? passages : undefined;
}
