/**
 * Directions. A lib may use itself, the leaves, the foundation and the libs that are named here.
 * apps → dataprep-api, audio-api → the rest.
 */
const leaf = ['contracts', 'paths', 'retry', 'wav', 'webassembly'];
const foundation = [...leaf, 'batching', 'text'];
const kits = {
  'service-kit': [],
  messaging: [],
  storage: [],
  dag: [],
  'local-stack': [],
  'openai-api': [],
  responses: [],
  'onnx-compiler': [],
  models: ['onnx-compiler'],
  grammar: ['models'],
  vision: ['models', 'onnx-compiler'],
  generation: ['grammar', 'models', 'onnx-compiler', 'vision'],
  encoders: ['models', 'onnx-compiler'],
  speech: ['models', 'onnx-compiler'],
  'remote-engines': ['encoders', 'generation', 'speech', 'models'],
  'speech-synthesis': ['models', 'speech', 'remote-engines'],
};
const libs = (names) => `^libs/(${names.join('|')})/`;
const tests = '\\.(spec|fixture)\\.ts$';

/** Shared HTTP APIs stand between the apps and the kits. */
const apiKits = ['dataprep-api', 'audio-api'];

const kitRules = Object.entries(kits).map(([name, below]) => ({
  name: `${name}-points-down`,
  severity: 'error',
  from: { path: libs([name]), pathNot: tests },
  to: { path: '^libs/', pathNot: libs([name, ...below, ...foundation]) },
}));

/** Nobody imports past a lib's index. */
const indexRules = [...foundation, ...Object.keys(kits), ...apiKits, 'testing'].map((name) => ({
  name: `${name}-through-its-index`,
  severity: 'error',
  from: { path: '^(apps|libs|test|bench)/', pathNot: libs([name]) },
  to: { path: `^libs/${name}/src/`, pathNot: [`^libs/${name}/src/index[.]ts$`, '\\.fixture\\.ts$'] },
}));

const onlyImporter = (name, packages, owner) => ({
  name,
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: owner },
  to: { path: `^node_modules/(${packages.join('|')})(/|$)` },
});

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-folder-cycles',
      severity: 'error',
      scope: 'folder',
      from: { path: '^apps/gateway/src/' },
      to: { circular: true },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'contracts-is-a-leaf',
      severity: 'error',
      from: { path: libs(leaf) },
      to: { path: '^libs/', pathNot: libs(leaf) },
    },
    ...['batching', 'text'].map((name) => ({
      name: `${name}-points-down`,
      severity: 'error',
      from: { path: libs([name]) },
      to: { path: '^libs/', pathNot: libs([...leaf, name]) },
    })),
    ...kitRules,
    {
      name: 'api-kits-point-down',
      severity: 'error',
      from: { path: libs(apiKits) },
      to: { path: '^libs/', pathNot: libs([...apiKits, 'service-kit', 'messaging', ...foundation]) },
    },
    { name: 'no-lib-imports-an-app', severity: 'error', from: { path: '^libs/' }, to: { path: '^apps/' } },
    {
      name: 'no-app-imports-an-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    ...indexRules,
    {
      name: 'production-does-not-import-fixtures',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: tests },
      to: { path: '\\.fixture\\.ts$' },
    },
    {
      name: 'production-does-not-import-testing',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: ['\\.spec\\.ts$', '^libs/testing/'] },
      to: { path: '^libs/testing/' },
    },
    onlyImporter('only-messaging-imports-nats', ['@nats-io'], '^libs/messaging/'),
    onlyImporter(
      'only-storage-imports-pg',
      ['pg', 'pgvector', 'node-pg-migrate'],
      '^libs/(storage|testing)/',
    ),
    onlyImporter(
      'only-engine-libs-import-onnx',
      ['onnxruntime-node', '@xenova/transformers', '@huggingface'],
      '^libs/(models|onnx-compiler|grammar|generation|encoders|speech|vision)/',
    ),
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'dist'] },
    exclude: { path: '^dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['import', 'require', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
};
