/**
 * `npm run kubernetes`: writes the Kustomize base (deploy/kubernetes/base) and the Helm chart (deploy/kubernetes/chart) from
 * deploy/kubernetes/values.yaml. `--check` does not write, and fails if a file differs from its values.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { chartTarget, writeTemplates, ifEnabled } from './kubernetes-chart.mjs';
import { autoscaler, manifests, natsConfiguration } from './kubernetes-manifests.mjs';
import { valuesSchema } from './kubernetes-values-schema.mjs';

const directory = join(dirname(fileURLToPath(import.meta.url)), '../deploy/kubernetes');
const header =
  '# Generated from values.yaml by `npm run kubernetes`. Change values.yaml or tools/kubernetes-manifests.mjs.\n';

const write = (documents) =>
  documents.map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const valueAt = (values, path) => path.split('.').reduce((node, key) => node[key], values);

/** See `labelsOf` of kubernetes-manifests.mjs. */
const baseTarget = (values) => ({
  read: (path) => valueAt(values, path),
  nameOf: (name) => `meganest-${name}`,
  serviceName: (name) => name,
  secret: (name) => values.secrets[name],
  labels: { 'app.kubernetes.io/part-of': 'meganest' },
  settings: values.settings,
  internet: Object.keys(values.services)
    .filter((name) => values.services[name].internet)
    .toSorted(),
  lines: () => ({}),
  items: () => [],
});

const natsUsers = readFileSync(join(directory, '../nats/users.conf'), 'utf8');

/** The names of all settings: of .env.example, and of the table of docs/configuration.md. */
function variables() {
  const read = (path) => readFileSync(join(directory, '../..', path), 'utf8');
  const examples = read('.env.example').matchAll(/^([A-Z][A-Z\d_]+)=/gm);
  const documented = read('docs/configuration.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z\d]*(?:_[A-Z\d]+)+|DEVICE)`/g)]);
  const names = [...examples, ...documented].map(([, name]) => name);
  return new Set(names.toSorted((a, b) => a.localeCompare(b)));
}

/** Values that only the chart has. */
const chartValues = ({ services, ...values }) => ({
  fullnameOverride: '',
  ...values,
  imagePullSecrets: [],
  services: Object.fromEntries(
    Object.entries(services).map(([name, { port: _fixed, database: _needed, internet = false, ...one }]) => [
      name,
      { enabled: true, internet, ...one, env: {} },
    ]),
  ),
  autoscaling: false,
  ingress: { enabled: false, className: '', annotations: {}, hosts: [], tls: [] },
  networkPolicies: { enabled: true, egress: [] },
});

/** Returns the text of every generated file by its path below deploy/kubernetes. */
function generate(values) {
  const names = Object.keys(values.services);
  const base = manifests(values, baseTarget(values));
  const autoscalers = names.map((name) => autoscaler(name, baseTarget(values)));
  const chart = manifests(values, chartTarget);
  const chartAutoscalers = names.map((name) =>
    ifEnabled(name, `---\n${writeTemplates(write([autoscaler(name, chartTarget)]))}`),
  );
  return new Map([
    ...Object.entries(base).map(([name, documents]) => [`base/${name}`, header + write(documents)]),
    [
      'base/kustomization.yaml',
      header +
        write([
          {
            apiVersion: 'kustomize.config.k8s.io/v1beta1',
            kind: 'Kustomization',
            resources: Object.keys(base),
          },
        ]),
    ],
    [
      'components/autoscaling/kustomization.yaml',
      header +
        write([
          {
            apiVersion: 'kustomize.config.k8s.io/v1alpha1',
            kind: 'Component',
            resources: ['autoscalers.yaml'],
          },
        ]),
    ],
    ['components/autoscaling/autoscalers.yaml', header + write(autoscalers)],
    ['overlays/small/nats-config.yaml', header + write([natsConfiguration(natsUsers)])],
    ...Object.entries(chart).map(([file, documents]) => {
      const name = file.replace('.yaml', '');
      const written = writeTemplates(write(documents));
      const text =
        name === 'network-policies'
          ? `{{- if .Values.networkPolicies.enabled }}\n${written}{{- end }}\n`
          : written;
      return [`chart/templates/${file}`, header + (names.includes(name) ? ifEnabled(name, text) : text)];
    }),
    [
      'chart/templates/autoscalers.yaml',
      `${header}{{- if .Values.autoscaling }}\n${chartAutoscalers.join('')}{{- end }}\n`,
    ],
    ['chart/values.yaml', header + stringify(chartValues(values))],
    ['chart/values.schema.json', `${JSON.stringify(valuesSchema(values, variables()), null, 2)}\n`],
    [
      'chart/Chart.yaml',
      header +
        stringify({
          apiVersion: 'v2',
          name: 'meganest',
          description: 'Retrieval-augmented chat over NestJS microservices, NATS and pgvector',
          version: values.image.tag,
          appVersion: values.image.tag,
        }),
    ],
  ]);
}

const files = generate(parse(readFileSync(join(directory, 'values.yaml'), 'utf8')));
const checking = process.argv.includes('--check');
const stale = [...files].filter(([path, text]) => {
  const file = join(directory, path);
  return !existsSync(file) || readFileSync(file, 'utf8') !== text;
});
for (const [path, text] of checking ? [] : stale) {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}
if (checking && stale.length > 0) {
  console.error(`Run npm run kubernetes: ${stale.map(([path]) => path).join(', ')}`);
  process.exitCode = 1;
}
