/** Control characters that are no whitespace, soft hyphens and zero-width spaces: they carry no text. */
const controlCharacters = /[^\P{Cc}\s]|[\u00ad\u200b]/gu;

/** One line of text: every run of whitespace becomes one space; invisible characters go. */
export function collapseWhitespace(text: string): string {
  return text.replaceAll(controlCharacters, '').replaceAll(/\s+/g, ' ').trim();
}

/** Text whose lines matter (code): line ends are unified, trailing blanks and empty edge lines go. */
export function tidyLines(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(controlCharacters, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}
