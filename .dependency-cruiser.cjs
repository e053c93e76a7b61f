/** Directions: apps → service-kit, messaging, inference, storage, dag, local-stack → batching, text → contracts, paths. */
const leaf = ['contracts', 'paths'];
const foundation = [...leaf, 'batching', 'text'];
const kits = [
  'service-kit',
  'messaging',
  'inference',
  'storage',
  'dag',
  'local-stack',
  'openai-api',
  'responses',
];
const libs = (names) => `^libs/(${names.join('|')})/`;

/** Shared HTTP APIs stand between the apps and the kits. */
const apiKits = ['dataprep-api', 'audio-api'];

/** A lib of the level of `kits` may use itself and what lies below it. */
const kitRules = kits.map((name) => ({
  name: `${name}-points-down`,
  severity: 'error',
  from: { path: libs([name]) },
  to: { path: '^libs/', pathNot: libs([name, ...foundation]) },
}));

/** Nobody imports past a lib's index. */
const indexRules = [...foundation, ...kits, ...apiKits, 'testing'].map((name) => ({
  name: `${name}-through-its-index`,
  severity: 'error',
  from: { path: '^(apps|libs|test|bench)/', pathNot: libs([name]) },
  to: { path: `^libs/${name}/src/`, pathNot: `^libs/${name}/src/index[.]ts$` },
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
      'only-inference-imports-onnx',
      ['onnxruntime-node', '@xenova/transformers', '@huggingface'],
      '^libs/inference/',
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
