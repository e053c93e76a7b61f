/** Whether the end of a text is inside of code, of an address or of a model's thoughts, where numbers cite nothing. */
export function isLiteral(text: string): boolean {
  return isInCode(text) || isInAddress(text) || isInTag(text, 'think') || isInTag(text, 'code');
}

/** Whether the end of a Markdown text is inside of code. */
function isInCode(text: string): boolean {
  const fences = text.match(/^ {0,3}(?:```|~~~)/gm) ?? [];
  if (fences.length % 2 === 1) return true;
  const ticks = text.slice(text.lastIndexOf('\n') + 1).match(/`/g) ?? [];
  return ticks.length % 2 === 1;
}

function isInAddress(text: string): boolean {
  return /(?:[a-z][a-z+.-]*:\/\/|www\.)\S*$/i.test(text.slice(-2_000));
}

function isInTag(text: string, name: string): boolean {
  return text.lastIndexOf(`<${name}>`) > text.lastIndexOf(`</${name}>`);
}

/** Words and signs before a list of values: without the list, the sentence would not be complete. */
const beforeValues =
  /(?:[=:(,{[<>+*/"'`-]|(?<![\p{L}\p{N}])(?:lists?|arrays?|vectors?|tuples?|sets?|ranges?|intervals?|values?|numbers?|returns?|gives?|yields?|equals?|outputs?|inputs?|prints?|coordinates|points?|sequence|is|are|was|were|be|liste|werte|zahlen|bereich|intervall|ergibt|ist|sind|war|liefert))\s*$/iu;
const beforeLongList =
  /(?<![\p{L}\p{N}])(?:of|to|from|with|the|a|an|in|into|by|for|at|as|like|contains?|has|have|use|using|von|mit|der|die|das|den|dem|ein|eine|in|aus|für|als|enthält|hat)\s*$/iu;

/** Whether several numbers in brackets are a list of values, by the text around them. */
export function isListOfValues(count: number, before: string, after: string): boolean {
  if (/^[\]}.]?[\p{L}\p{N}_]|^\s*[=+*/<>%]|^["'`\]}]/u.test(after)) return true;
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (line.trim() === '' && /^\s*(?:\n|$)/.test(after) && (count > 2 || before.trim() === '')) return true;
  if (beforeValues.test(line) && !/(?:sources?|quellen?|references?)\s*:\s*$/i.test(line)) return true;
  // A statement ends with its citations. A word after a long list continues the sentence of the list.
  return count > 2 && (beforeLongList.test(line) || /^ (?!and\b|und\b|but\b|while\b)\p{Ll}/u.test(after));
}

/** Words whose number in round brackets is not a citation: "Article 5 (1)". */
const numbered =
  /(?:§|\d|(?<![\p{L}\p{N}])(?:articles?|art|sections?|paragraphs?|steps?|figures?|fig|tables?|equations?|eq|options?|items?|chapters?|artikel|abs|absatz|schritt|abbildung|tabelle|satz|f|g))[.)]?\s*$/iu;
const units = /(?<!\p{L})(?:[a-z]|[ckmdµn]m|ft|yd|mi|in|sec|min|mc)$/iu;

/** Whether `(1)` or `¹` is at the end of a statement, where citations are. */
export function endsStatement(form: string, before: string, after: string): boolean {
  if (form.startsWith('(')) {
    const isEnd =
      /^\s*(?:[.,;:!?…]|$|\n|\(\d|(?:and|but|or|while|whereas|und|aber|oder|während)(?![\p{L}]))/u.test(
        after,
      );
    return isEnd && /[\p{L}\p{N})\]"”’*_.!?]\s?$/u.test(before) && !numbered.test(before);
  }
  // An exponent follows its base without a space.
  if (/^[\p{L}\p{N}]/u.test(after) || /[\p{N})]$/u.test(before)) return false;
  return /[.,;:!?…"”’*_\]\s]$/u.test(before) || (/\p{L}$/u.test(before) && !units.test(before));
}
