import { answerOf, passagesOf, type Turn } from './turns';

/** A conversation as a Markdown file: questions as headings, and below each answer the sources that it cites. */
export function toMarkdown(title: string, turns: readonly Turn[]): string {
  const parts = turns.map((turn) => {
    const answer = answerOf(turn);
    return [`## ${turn.question}`, answer, sourcesOf(turn, answer)].filter(Boolean).join('\n\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

function sourcesOf(turn: Turn, answer: string): string {
  const lines = passagesOf(turn).flatMap(({ filename, page, heading }, index) => {
    if (!answer.includes(`[${index + 1}]`)) return [];
    const place = [heading, page && `p. ${page}`].filter(Boolean).join(', ');
    return [`- [${index + 1}] ${filename}${place ? ` (${place})` : ''}`];
  });
  return lines.join('\n');
}

/** Hands a text to the user as a file. */
export function download(filename: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/markdown' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename.replaceAll(/[/\\:*?"<>|\p{Cc}]/gu, '-');
  link.click();
  URL.revokeObjectURL(url);
}
