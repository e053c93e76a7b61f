import { describe, expect, it } from 'vitest';
import { progressBar } from './model-options.js';

describe('progressBar', () => {
  it('writes one line for each tenth of a model', () => {
    const lines: string[] = [];
    const report = progressBar((line) => lines.push(line));
    const totalBytes = 10 * 1024 * 1024;
    for (let part = 0; part <= 100; part += 1) {
      report({ model: 'org/name', loadedBytes: (totalBytes / 100) * part, totalBytes });
    }
    expect(lines).toHaveLength(10);
    expect(lines[3]).toBe('downloading org/name [####......] 40 % of 10.0 MB');
  });

  it('is silent while the size is unknown', () => {
    const lines: string[] = [];
    progressBar((line) => lines.push(line))({ model: 'm', loadedBytes: 5 });
    expect(lines).toEqual([]);
  });
});
