/**
 * `npm run check:code`: looks for calls that open doors in the source of the programs: code from texts, commands of a shell, HTML from
 * texts, statements of SQL that are put together, TLS without checks, weak hashes and random numbers, and fetches that
 * do not go through the guard of addresses. It needs no network, and completes the linter, which knows no such list. A
 * place that has to do it is in `allowed`, with the reason.
 */
import { lineOf, report, repositoryFiles } from './files.mjs';

const rules = [
  [
    'code from a text',
    /\beval\(|\bnew Function\(|\b(?:runInNewContext|runInThisContext|compileFunction)\(|\bnew vm\.Script\(/g,
  ],
  ['a command of a shell', /\bexecSync\(|\bshell: true\b|(?<![.\w])exec\(/g],
  [
    'HTML from a text',
    /\bdangerouslySetInnerHTML\b|\.(?:inner|outer)HTML\s*=|\binsertAdjacentHTML\(|\bdocument\.write\(/g,
  ],
  ['TLS without a check', /rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/g],
  ['a weak hash', /createHash\(\s*['"](?:md5|sha1)['"]/g],
  ['a weak random number', /\bMath\.random\(/g],
  ['a cipher without authentication', /createCipheriv\(\s*['"][^'"]*-(?:cbc|ecb|ctr)/g],
  [
    'a statement with a value in its text',
    /\.(?:query|execute)(?:<[^>]*>)?\(\s*`[^`]*(?:VALUES|WHERE|SET)[^`]*(?<!interval )'\$\{/g,
  ],
  [
    'a comparison of a secret that takes different times',
    /\b(?:token|secret|password|apiKey)\s*===?\s*(?!undefined|null|''|typeof)\w+\.(?:token|secret|password|apiKey)\b/g,
  ],
  ['a file open to all', /\b(?:chmod|mode:)\s*\(?[^)\n]{0,40}0o?7?[0-7][2367][2367]\b/g],
];

/** Places that have to, with the reason. */
const allowed = [
  // OpenAI's uploads give the MD5 of their bytes; it protects nothing.
  ['apps/gateway/src/files/uploads.controller.ts', 'a weak hash'],
  // Names of Git's objects, by which a hub lists its small files.
  ['libs/engine/models/src/hub/fetch-blob.ts', 'a weak hash'],
  // Spread calls over instances.
  ['libs/platform/foundation/src/balancing/choices.ts', 'a weak hash'],
  ['libs/platform/foundation/src/balancing/prefix-memory.ts', 'a weak hash'],
  // Waits of different lengths, and a sample of times.
  ['libs/platform/foundation/src/retry.ts', 'a weak random number'],
  ['libs/platform/service-kit/src/metrics/timeline.ts', 'a weak random number'],
];

const isProgram = (path) =>
  /^(?:apps|libs|bin|templates)\/.*\.(?:ts|tsx|mjs)$/.test(path) && !/\.spec\.tsx?$|\/testing\//.test(path);

/** Returns the findings in a source text: the rule, and the line from 1. Comments count as source. */
export function dangersOf(text) {
  return rules.flatMap(([reason, pattern]) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ reason, line: lineOf(text, index) })),
  );
}

/** True if a place may do what the rule is about. */
function isAllowed(path, reason) {
  return allowed.some(([file, rule]) => file === path && rule === reason);
}

if (process.argv[1]?.endsWith('code.mjs')) {
  const findings = [];
  const used = new Set();
  for (const { path, text } of repositoryFiles()) {
    if (!isProgram(path)) continue;
    for (const found of dangersOf(text)) {
      if (isAllowed(path, found.reason)) used.add(`${path} ${found.reason}`);
      else findings.push({ path, ...found });
    }
  }
  for (const [path, rule] of allowed)
    if (!used.has(`${path} ${rule}`))
      findings.push({ path, line: 1, reason: `does not need to be allowed: ${rule}` });
  report(findings, 'Dangerous calls');
}
