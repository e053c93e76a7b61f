import { loadGenerator } from '#generation';
import { benchFolder, digits, randomDecoder } from '../inference/models.js';
const folder = await randomDecoder();
const forms = (process.env.F ?? 'int8,int8:0,int4,int4:0').split(',');
const threads = Number(process.env.T ?? 1);
const gens = [];
for (const f of forms) { const [weights, bytes] = f.split(':'); gens.push({ f, g: await loadGenerator(folder, { cacheDirectory: benchFolder, threads, engine: 'compiled', prefixCacheBytes: 0, weights: weights as 'int8', kernelBytes: bytes === undefined ? 2 ** 30 : Number(bytes) }) }); }
const med = (a: number[]) => a.toSorted((x, y) => x - y)[a.length >> 1]!;
async function one(g: any, seed: number) { let n = 0; for await (const { tokenIds } of g.generate({ messages: digits(8, seed), parameters: { max_tokens: 100, ignore_eos: true, temperature: 0 } })) n += tokenIds.length; return n; }
for (const batch of (process.env.B ?? '1,2,4,8').split(',').map(Number)) {
  const r = new Map<string, { cpu: number[]; ms: number[] }>();
  for (let round = -1; round < 5; round++) for (const { f, g } of gens) {
    const c = process.cpuUsage(); const t = performance.now();
    await Promise.all(Array.from({ length: batch }, (_u, s) => one(g, s)));
    const d = process.cpuUsage(c); const e = r.get(f) ?? { cpu: [], ms: [] }; r.set(f, e);
    if (round >= 0) { e.cpu.push((d.user + d.system) / 1e5); e.ms.push((performance.now() - t) / 100); }
  }
  console.log(process.version, 'batch', batch, [...r].map(([f, e]) => `${f} cpu ${med(e.cpu).toFixed(2)} ms ${med(e.ms).toFixed(2)}`).join(' | '));
}
for (const { g } of gens) await g.close();
