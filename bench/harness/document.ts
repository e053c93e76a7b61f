import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '#platform/foundation';

const page = join(projectRoot, 'docs', 'benchmarks.md');

/**
 * Writes a section between its markers in docs/benchmarks.md, replacing the previous one; a new section goes to the
 * end.
 * @param name Name of the subject, e.g. `decode`.
 * @param command The command that writes it, e.g. `npm run bench -- decode`.
 */
export function writeSection(name: string, command: string, markdown: string): void {
  const [start, end] = [`<!-- ${name}: written by ${command} -->`, `<!-- end of ${name} -->`];
  const section = `${start}\n\n${markdown.trim()}\n\n${end}`;
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '# Benchmarks\n';
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  const replaced =
    from >= 0 && to > from
      ? text.slice(0, from) + section + text.slice(to + end.length)
      : `${text.trimEnd()}\n\n${section}\n`;
  writeFileSync(page, replaced);
}
