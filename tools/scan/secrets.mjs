/**
 * `npm run check:secrets`: looks for credentials in the files of the repository: keys and tokens by their forms, and
 * values of names such as `password` that look random. It needs no network. A credential that is none, such as the
 * documented example of a provider, stands in `examples` or in `exampleFiles`.
 */
import { lineOf, report, repositoryFiles } from './files.mjs';

/** Forms of credentials, as their issuers document them. */
const forms = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/g],
  ['an access key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['a token of GitHub', /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b/g],
  ['a token of GitLab', /\bglpat-[A-Za-z0-9_-]{20,}/g],
  ['a token of npm', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['a token of Slack', /\bxox[abprs]-[A-Za-z0-9-]{20,}/g],
  ['a key of Google', /\bAIza[0-9A-Za-z_-]{35}\b/g],
  ['a token of Hugging Face', /\bhf_[A-Za-z]{34}\b/g],
  ['a key of OpenAI or Anthropic', /\bsk-(?:proj-|ant-|svcacct-)?[A-Za-z0-9_-]{32,}\b/g],
  ['a key of Stripe', /\b[rs]k_live_[A-Za-z0-9]{24,}\b/g],
  ['a JSON web token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g],
  ['a seed of NATS', /\bS[UAOCN][A-Z2-7]{56}\b/g],
];
/** Values that may be secrets: of a name that promises one, and passwords in URLs. They count if they look random. */
const values = [
  [
    'a random value of a secret name',
    /(?:password|passwd|secret|token|api_?key|private_?key|credential)\w*["']?\s*[:=]\s*["'`]?([A-Za-z0-9+/=_-]{20,})/gi,
    4,
  ],
  ['a URL with a password', /\b[a-z][a-z+]*:\/\/[^\s:/@'"`]+:([^\s:/@'"`${}<>]{10,})@[a-z0-9]/g, 3],
];
/** Credentials that are public examples. */
const examples = /EXAMPLE|0123456789|pass%2Fword/;
/** Files of the tests that are credentials: of servers that live for a test. And words that tests look for. */
const exampleFiles = /^test\/fixtures\/tls\/|default-rules\.spec\.ts$|^tools\/scan\/|^package-lock\.json$/;

/** Shannon's entropy of a text, in bits for each character. */
function entropyOf(text) {
  const counts = new Map();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}

/** Returns the credentials in a text: the reason, and the line from 1. */
export function secretsOf(text) {
  const found = forms.flatMap(([reason, pattern]) =>
    [...text.matchAll(pattern)].map((match) => ({ reason, match, value: match[0] })),
  );
  for (const [reason, pattern, minEntropy] of values)
    for (const match of text.matchAll(pattern)) {
      const value = match[1];
      // Bits of each character: words have about 3.
      if (/\d/.test(value) && /[a-z]/i.test(value) && entropyOf(value) >= minEntropy)
        found.push({ reason, match, value });
    }
  return found
    .filter(({ value }) => !examples.test(value))
    .map(({ reason, match }) => ({ reason, line: lineOf(text, match.index) }));
}

if (process.argv[1]?.endsWith('secrets.mjs')) {
  const findings = [];
  for (const { path, text } of repositoryFiles())
    if (!exampleFiles.test(path)) findings.push(...secretsOf(text).map((found) => ({ path, ...found })));
  report(findings, 'Credentials');
}
