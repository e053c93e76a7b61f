import { loadProfile } from '#platform/service-kit';
import { loadReader } from '#engine/encoders';
import { rankSentences, readFusion, readPassages } from '#answers/extractive';
import { quantile } from '../harness/interleave.js';
import type { Question } from './ask.js';
import { search } from './pick-by-words.js';

/** Number of first questions that are not measured, since the reader is warming up. */
const warmUps = 20;
const header =
  '| the reader alone, a chat | chats | sentences read | processor ms p50 | ms p50 | ms p95 |\n| --- | --- | --- | --- | --- | --- |';

/** Measures the choice of sentences in this process, with the passages that the gateway finds. */
export async function readerTime(
  url: string,
  collection: string,
  questions: readonly Question[],
): Promise<string> {
  const profile = loadProfile('bundled');
  const { maxPassages } = profile.llm.grounding;
  const reader = await loadReader(profile.llm.reader!);
  const fusion = readFusion(reader.directory);
  const measured: { read: number; processor: number; wall: number }[] = [];
  for (const [index, given] of questions.entries()) {
    const documents = await search(url, collection, given, maxPassages);
    const before = process.cpuUsage();
    const startedAt = performance.now();
    const options = { reader, fusion, asked: [given.question] };
    const { ranked } = await rankSentences(given.question, readPassages(documents), options);
    const wall = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(before);
    if (index >= warmUps) measured.push({ read: ranked.length, processor: (user + system) / 1000, wall });
  }
  await reader.close();
  const at = (name: 'read' | 'processor' | 'wall', share: number) =>
    quantile(
      measured.map((one) => one[name]),
      share,
    );
  const cells = [
    'MegaNest',
    measured.length,
    at('read', 0.5).toFixed(0),
    at('processor', 0.5).toFixed(1),
    at('wall', 0.5).toFixed(1),
    at('wall', 0.95).toFixed(1),
  ];
  return `${header}\n| ${cells.join(' | ')} |`;
}
