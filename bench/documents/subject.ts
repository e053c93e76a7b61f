/** Character error and cells of generated pages: as PDF with text, as clean scans, as degraded scans. */
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../../test/support/find-chromium.js';
import { readDocument } from '../../apps/dataprep/src/reading/read-document.js';
import type { Subject } from '../harness/subject.js';
import { generatePage, kinds, type GeneratedPage } from './generate.js';
import { judge, type Judgement } from './judge.js';

/** Seeds below this number are for tuning, those from it on are looked at once. */
const firstHeldSeed = 1_000;
const forms = ['text', 'clean scan', 'degraded scan'] as const;
type Form = (typeof forms)[number];

export const subject: Subject = {
  async run({ rounds, half, only }) {
    const found = findChromium();
    const browser = await chromium.launch({ ...found, args: ['--no-sandbox'] });
    const lines = [
      '## Documents: generated pages',
      '',
      '| kind | form | pages | character error | cell F1 | processor time a page |',
      '| --- | --- | --: | --: | --: | --: |',
    ];
    try {
      const page = await browser.newPage({
        viewport: { width: 794, height: 1123 },
        deviceScaleFactor: 150 / 96,
      });
      for (const form of forms)
        for (const [index, kind] of kinds.entries()) {
          if (only !== undefined && only !== kind && only !== form) continue;
          const start = half === 'held' ? firstHeldSeed + (kinds.length - (firstHeldSeed % kinds.length)) : 0;
          const seeds = Array.from(
            { length: rounds },
            (_seed, round) => start + index + round * kinds.length,
          );
          const results: (Judgement & { ms: number })[] = [];
          for (const seed of seeds) results.push(await measure(page, generatePage(seed), form));
          lines.push(rowOf(kind, form, results));
        }
    } finally {
      await browser.close();
    }
    return lines.join('\n');
  },
};

async function measure(
  page: Page,
  generated: GeneratedPage,
  form: Form,
): Promise<Judgement & { ms: number }> {
  const bytes = await render(page, generated, form);
  const start = process.cpuUsage();
  const { blocks } = await readDocument({
    filename: form === 'text' ? 'a.pdf' : 'a.png',
    mimeType: '',
    bytes,
  });
  const { user, system } = process.cpuUsage(start);
  const judgement = judge(generated, blocks);
  return { ...judgement, ms: (user + system) / 1_000 };
}

async function render(page: Page, { html }: GeneratedPage, form: Form): Promise<Uint8Array> {
  await page.setContent(html);
  const pdf = await page.pdf({ preferCSSPageSize: true, pageRanges: '1' });
  if (form === 'text') return pdf;
  const { renderPages } = await import('../../apps/dataprep/src/reading/pictures/render-pages.js');
  const { makePng } = await import('../../test/fixtures/dataprep/make-picture.js');
  for await (const { picture } of renderPages(pdf, [1])) {
    const png = makePng(picture);
    return form === 'clean scan' ? png : degrade(page, png);
  }
  throw new Error('The page was not rendered.');
}

/** The picture with a skew of 2°, noise, less contrast, and as a JPEG of quality 40. */
async function degrade(page: Page, png: Uint8Array): Promise<Uint8Array> {
  const source = `data:image/png;base64,${Buffer.from(png).toString('base64')}`;
  const url = await page.evaluate<string>(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(source)};
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.translate(image.width / 2, image.height / 2);
    context.rotate((2 * Math.PI) / 180);
    context.drawImage(image, -image.width / 2, -image.height / 2);
    const data = context.getImageData(0, 0, canvas.width, canvas.height);
    let seed = 7;
    for (let at = 0; at < data.data.length; at += 4) {
      seed = (seed * 48271) % 2147483647;
      for (let channel = 0; channel < 3; channel += 1)
        data.data[at + channel] = data.data[at + channel] * 0.85 + (seed % 41);
    }
    context.putImageData(data, 0, 0);
    return canvas.toDataURL('image/jpeg', 0.4);
  })()`);
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

function rowOf(kind: string, form: string, results: readonly (Judgement & { ms: number })[]): string {
  const sum = (value: (result: Judgement & { ms: number }) => number) =>
    results.reduce((total, each) => total + value(each), 0);
  const error = (100 * sum(({ edits }) => edits)) / sum(({ letters }) => letters);
  const cells = sum((each) => each.cells);
  const f1 =
    cells === 0 ? '' : ((2 * sum(({ right }) => right)) / (cells + sum(({ found }) => found))).toFixed(3);
  const seconds = sum(({ ms }) => ms) / results.length / 1_000;
  return `| ${kind} | ${form} | ${results.length} | ${error.toFixed(2)} % | ${f1} | ${seconds.toFixed(2)} s |`;
}
