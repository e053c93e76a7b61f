/**
 * Prints word error rates of a speech model on folders of audio files, each with a transcripts.tsv (file, tab, text).
 * The steps are those of the service: decoding, voice activity detection, network, search.
 * Usage: npm run build && node dist/evaluate-speech.js <model directory> <folder>… [--beams 32] [--weights int8|fp32] [--limit 100] [--show 3]
 */
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadTranscriber } from '#engine/speech';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    beams: { type: 'string', default: '32' },
    weights: { type: 'string', default: 'int8' },
    /** Maximum number of files of a folder, evenly spaced; default: all files. */
    limit: { type: 'string', default: 'Infinity' },
    show: { type: 'string', default: '0' },
    cache: { type: 'string', default: join('.data', 'models') },
  },
});
const [directory, ...folders] = positionals;
if (!directory || folders.length === 0) {
  console.error('Usage: node dist/evaluate-speech.js <model directory> <folder>… [--beams 32] [--show 3]');
  process.exit(2);
}

const transcriber = await loadTranscriber(resolve(directory), {
  beams: Number(values.beams),
  compiledWeights: values.weights,
  workers: 1,
  cacheDirectory: resolve(values.cache),
});
try {
  for (const folder of folders) await evaluate(folder);
} finally {
  await transcriber.close();
}

async function evaluate(folder) {
  const all = (await readFile(join(folder, 'transcripts.tsv'), 'utf8')).trim().split('\n');
  const spacing = Math.max(1, all.length / Number(values.limit));
  const lines = all.filter((_, index) => Math.floor(index / spacing) !== Math.floor((index - 1) / spacing));
  let [errors, words, whole, seconds] = [0, 0, 0, 0];
  const start = performance.now();
  for (const [index, line] of lines.entries()) {
    const [file, text] = line.split('\t');
    const expected = text.toLowerCase().split(/\s+/);
    const found = [];
    for await (const event of transcriber.transcribe({
      audio: await readFile(join(folder, file)),
      filename: file,
    }))
      if (event.kind === 'audio') seconds += event.seconds;
      else found.push(...event.segment.text.trim().toLowerCase().split(/\s+/));
    const wrong = distance(expected, found);
    errors += wrong;
    words += expected.length;
    if (wrong > 0) whole += 1;
    if (index < Number(values.show)) console.log(`  ${expected.join(' ')}\n  > ${found.join(' ')}`);
  }
  const rate = (part, all) => `${((100 * part) / all).toFixed(2)}%`;
  const speed = seconds / ((performance.now() - start) / 1000);
  console.log(
    `${basename(folder)}: ${rate(errors, words)} of ${words} words wrong, ${rate(whole, lines.length)} of ${lines.length} files; ${speed.toFixed(0)} times real time`,
  );
}

/** Minimum number of insertions, deletions and substitutions between two lists of words. */
function distance(expected, found) {
  let row = Array.from({ length: found.length + 1 }, (_, index) => index);
  for (const [i, word] of expected.entries()) {
    const next = [i + 1];
    for (const [j, other] of found.entries())
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (word === other ? 0 : 1)));
    row = next;
  }
  return row.at(-1);
}
