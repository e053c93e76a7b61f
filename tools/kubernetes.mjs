/**
 * `npm run kubernetes`: writes the Kustomize base (deploy/kubernetes/base) and the Helm chart (deploy/kubernetes/chart) from
 * deploy/kubernetes/values.yaml. `--check` does not write, and fails if a file differs from its values.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { autoscaler, manifests, natsConfiguration } from './kubernetes-manifests.mjs';

const directory = join(dirname(fileURLToPath(import.meta.url)), '../deploy/kubernetes');
const header =
  '# Generated from values.yaml by `npm run kubernetes`. Change values.yaml or tools/kubernetes-manifests.mjs.\n';

const write = (documents) =>
  documents.map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const valueAt = (values, path) => path.split('.').reduce((node, key) => node[key], values);

/** Writes the templates of the chart: expressions are unquoted for numbers and quoted for settings. */
function writeTemplates(documents) {
  return write(documents)
    .replaceAll(/"?(\{\{ [^}]+ \}\})"?/g, '$1')
    .replaceAll("'{{", '{{')
    .replaceAll("}}'", '}}');
}

const natsUsers = readFileSync(join(directory, '../nats/users.conf'), 'utf8');

/** Returns the text of every generated file by its path below deploy/kubernetes. */
function generate(values) {
  const plain = (path) => valueAt(values, path);
  const template = (path, quoted) => `{{ .Values.${path}${quoted ? ' | quote' : ''} }}`;
  const base = manifests(values, plain);
  const autoscalers = Object.keys(values.services).map((name) => autoscaler(name, plain));
  const chart = manifests(values, template);
  const chartAutoscalers = Object.keys(values.services).map((name) => autoscaler(name, template));
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
    ...Object.entries(chart).map(([name, documents]) => [
      `chart/templates/${name}`,
      header + writeTemplates(documents),
    ]),
    [
      'chart/templates/autoscalers.yaml',
      `${header}{{- if .Values.autoscaling }}\n${writeTemplates(chartAutoscalers)}{{- end }}\n`,
    ],
    ['chart/values.yaml', header + stringify({ ...values, autoscaling: false })],
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
