import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '#platform/testing';

/** The parts of a manifest that the tests look at. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec?: ManifestSpec;
}

export interface ManifestSpec {
  replicas?: number;
  selector?: unknown;
  ports?: { port: number; targetPort: string }[];
  template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  metrics?: { pods: { metric: { name: string } } }[];
}

export interface PodSpec {
  containers: Container[];
  terminationGracePeriodSeconds?: number;
  volumes?: { name: string }[];
}

export interface Container {
  name: string;
  image: string;
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts?: { name: string; mountPath: string }[];
}

/** Where the manifests are. */
export const kubernetesDirectory = join(repositoryRoot, 'deploy/kubernetes');

/** Reads every document of a file with manifests. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** Copies the manifests to `directory` and makes every secret from its example, as the README tells users to do. */
export function copyManifests(directory: string): void {
  cpSync(kubernetesDirectory, directory, { recursive: true });
  const small = join(directory, 'overlays/small');
  for (const file of readdirSync(small).filter((name) => name.endsWith('.env.example'))) {
    cpSync(join(small, file), join(small, file.replace(/\.example$/, '')));
  }
}

/** The manifests of a Kustomize directory. Needs kubectl. */
export function buildKustomization(directory: string): Manifest[] {
  const manifests = parseManifests(execFileSync('kubectl', ['kustomize', directory], { encoding: 'utf8' }));
  for (const { kind, data = {} } of manifests) {
    // Kustomize wraps long base64, which Kubernetes reads and its schema refuses.
    if (kind === 'Secret')
      for (const key of Object.keys(data)) data[key] = data[key]?.replaceAll(/\s/g, '') ?? '';
  }
  return manifests;
}

/** Whether this machine has kubectl. */
export function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

type Values = Record<string, unknown>;

function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((node, key) => (node as Values | undefined)?.[key], values);
}

interface Scope {
  readonly values: unknown;
  /** Of the innermost `range`. */
  readonly name?: string;
  readonly value?: unknown;
}

/**
 * Renders a generated template of the chart as Helm does for a release `meganest`. Knows only the expressions that
 * tools/kubernetes-chart.mjs writes, for values without secrets among the settings.
 */
export function renderTemplate(template: string, values: unknown): string {
  return renderLines(template.split('\n'), { values }).join('\n');
}

function renderLines(lines: readonly string[], scope: Scope): string[] {
  const rendered: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const [, keyword, expression = ''] = /^\{\{- (if|range) (.*) \}\}$/.exec(line) ?? [];
    if (!keyword) {
      rendered.push(renderLine(line, scope));
      continue;
    }
    const end = endOf(lines, index);
    const body = lines.slice(index + 1, end);
    for (const inner of scopesOf(keyword, expression, scope)) rendered.push(...renderLines(body, inner));
    index = end;
  }
  return rendered;
}

/** The line of a block's `end`. */
function endOf(lines: readonly string[], start: number): number {
  let depth = 0;
  for (let index = start; index < lines.length; index++) {
    if (/^\{\{- (if|range) /.test(lines[index]!)) depth += 1;
    if (lines[index] === '{{- end }}') depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error(`A block of the template does not end: ${lines[start]}`);
}

/** The scopes with which a block is rendered. */
function scopesOf(keyword: string, expression: string, scope: Scope): Scope[] {
  if (keyword === 'range') {
    const [, path = ''] = /:= \.Values\.([\w.]+)$/.exec(expression) ?? [];
    const entries = Object.entries(valueAt(scope.values, path) as Values);
    // Go's templates range over sorted keys.
    return entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({ ...scope, name, value }));
  }
  return isTrue(expression, scope) ? [scope] : [];
}

function isTrue(expression: string, { values, value }: Scope): boolean {
  if (expression.startsWith('not (include "meganest.isSecret"')) return true;
  if (expression.startsWith('include "meganest.secretSettings"')) return false;
  const [, path] = /^\(?\.Values\.([\w.)]+)$/.exec(expression) ?? [];
  const found = path === undefined ? (value as Values)['internet'] : valueAt(values, path.replace(')', ''));
  return Array.isArray(found) ? found.length > 0 : Boolean(found);
}

function renderLine(line: string, { values, name, value }: Scope): string {
  return line.replaceAll(/\{\{ ([^}]+) \}\}/g, (_, expression: string) => {
    const [, path, quoted] = /^\.Values\.([\w.]+)( \| quote)?$/.exec(expression) ?? [];
    if (path !== undefined) {
      const found = valueAt(values, path);
      if (found === undefined) throw new Error(`values.yaml has no ${path}`);
      const text = typeof found === 'string' ? found : JSON.stringify(found);
      return quoted ? JSON.stringify(text) : text;
    }
    const [, helper] = /^include "meganest\.(\w+)" [.$]/.exec(expression) ?? [];
    if (helper === 'fullname') return 'meganest';
    if (helper === 'text') return JSON.stringify(String(value));
    if (helper) return String(valueAt(values, `secrets.${helper.replace('Secret', '')}`));
    if (expression === '$name') return String(name);
    if (expression.startsWith('.Release.Name')) return '"meganest"';
    if (expression.includes('sha256sum')) return 'checksum';
    throw new Error(`The renderer does not know ${expression}`);
  });
}

/** The text of every generated template of the chart, by file name. */
export function chartTemplates(): Map<string, string> {
  const directory = join(kubernetesDirectory, 'chart/templates');
  const all = readdirSync(directory).map(
    (name) => [name, readFileSync(join(directory, name), 'utf8')] as const,
  );
  return new Map(all.filter(([, text]) => text.startsWith('# Generated')));
}

/** The manifests that Helm makes of the chart. Needs helm. Errors: Helm's message. */
export function renderChart(release: string, ...settings: string[]): Manifest[] {
  const options = settings.flatMap((setting) => ['--set', setting]);
  const chart = join(kubernetesDirectory, 'chart');
  const text = execFileSync('helm', ['template', release, chart, ...options], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  return parseManifests(text).filter(Boolean);
}

/** Whether this machine has helm. */
export function hasHelm(): boolean {
  try {
    execFileSync('helm', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
