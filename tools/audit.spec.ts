import { expect, it } from 'vitest';
import { judge } from './audit.mjs';

const report = (counts: Record<string, number>) =>
  JSON.stringify({
    vulnerabilities: { left: { severity: 'high' } },
    metadata: { vulnerabilities: { total: 1, ...counts } },
  });

it('fails for vulnerabilities of high severity, and names the packages', () => {
  expect(judge(report({ high: 1 }))).toMatchObject({ code: 1, text: expect.stringContaining('left: high') });
  expect(judge(report({ critical: 1 }))).toMatchObject({ code: 1 });
  expect(judge(report({ moderate: 1 }))).toMatchObject({ code: 0 });
});

it.each([
  '{"message":"405 Method Not Allowed","error":{"summary":""}}',
  'npm error audit endpoint returned an error',
  '',
])('says that nothing was audited where the registry answers %s', (output) => {
  expect(judge(output)).toMatchObject({ code: 0, text: expect.stringContaining('NOT AUDITED') });
});
