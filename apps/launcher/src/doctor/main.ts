/** `npm run doctor`: prints the problems of this installation, with advice. */
import { parseArgs } from 'node:util';
import { examine } from './examine.js';
import { formatFinding } from './finding.js';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    'without-services': { type: 'boolean', default: false },
  },
});
const findings = await examine(process.env, { services: !values['without-services'] });
const failed = findings.filter(({ level }) => level === 'fail').length;
if (values.json) console.log(JSON.stringify({ healthy: failed === 0, findings }, null, 2));
else {
  for (const finding of findings) console.log(formatFinding(finding));
  const warned = findings.filter(({ level }) => level === 'warn').length;
  console.log(`\n${failed} to fix, ${warned} to check, ${findings.length} findings in all.`);
}
process.exitCode = failed > 0 ? 1 : 0;
