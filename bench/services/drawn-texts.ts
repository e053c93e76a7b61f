import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';

/** Words of this project's pages. */
const vocabulary = readdirSync(join(projectRoot, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => readFileSync(join(projectRoot, 'docs', name), 'utf8').match(/[a-z]{2,}/gi) ?? []);
let drawn = 0;

/** A text of so many words; each is a draw of its own, so that nothing is embedded twice. */
export function drawText(words: number): string {
  drawn += 1;
  const at = (index: number) => Math.imul(drawn * words + index, 2_654_435_761) >>> 0;
  return Array.from({ length: words }, (_unused, index) => vocabulary[at(index) % vocabulary.length]).join(
    ' ',
  );
}
