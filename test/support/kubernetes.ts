import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '#testing';

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

type Scalar = string | number | boolean;

function valueAt(values: unknown, path: string): Scalar | undefined {
  const value = path.split('.').reduce((node, key) => (node as Record<string, unknown>)[key], values);
  return value as Scalar | undefined;
}

/**
 * Renders a template of the chart as Helm does. Knows the only two expressions that the chart uses: a value, quoted or
 * not, and a block that depends on a value.
 */
export function renderTemplate(template: string, values: unknown): string {
  const chosen = template.replaceAll(
    /\{\{- if \.Values\.([\w.]+) \}\}\n([\s\S]*?)\{\{- end \}\}\n?/g,
    (_, path: string, body: string) => (valueAt(values, path) === true ? body : ''),
  );
  return chosen.replaceAll(
    /\{\{ \.Values\.([\w.]+)( \| quote)? \}\}/g,
    (_, path: string, quoted?: string) => {
      const value = valueAt(values, path);
      if (value === undefined) throw new Error(`values.yaml has no ${path}`);
      return quoted ? JSON.stringify(String(value)) : String(value);
    },
  );
}

/** The text of every template of the chart, by file name. */
export function chartTemplates(): Map<string, string> {
  const directory = join(kubernetesDirectory, 'chart/templates');
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}
