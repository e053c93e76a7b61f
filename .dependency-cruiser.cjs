/**
 * Directions. A lib may use itself, the leaves and the libs that are named here. The areas below `libs` in their order:
 * apps → api, answers → platform, engine → platform/contracts, platform/foundation.
 */
const leaf = ['platform/contracts', 'platform/foundation', 'engine/webassembly'];
const kits = {
  'platform/service-kit': ['platform/messaging'],
  'platform/messaging': [],
  'platform/storage': [],
  'platform/dag': [],
  'platform/local-stack': [],
  'api/openai-api': [],
  'api/responses': [],
  'answers/questions': [],
  'answers/evidence': ['answers/questions'],
  'answers/citations': ['answers/evidence', 'answers/questions', 'engine/encoders', 'engine/generation'],
  'engine/onnx-compiler': [],
  'engine/models': ['engine/onnx-compiler'],
  'engine/grammar': ['engine/models'],
  'engine/vision': ['engine/models', 'engine/onnx-compiler'],
  'engine/generation': ['engine/grammar', 'engine/models', 'engine/onnx-compiler', 'engine/vision'],
  'engine/encoders': ['engine/models', 'engine/onnx-compiler'],
  'answers/extractive': [
    'answers/citations',
    'answers/evidence',
    'answers/questions',
    'engine/encoders',
    'engine/generation',
  ],
  'engine/speech': ['engine/models', 'engine/onnx-compiler'],
  'engine/remote-engines': ['engine/encoders', 'engine/generation', 'engine/speech', 'engine/models'],
  'engine/speech-synthesis': ['engine/models', 'engine/speech', 'engine/remote-engines'],
};
const libs = (names) => `^libs/(${names.join('|')})/`;
const named = (path) => path.replace('/', '-');
const tests = '\\.(spec|fixture)\\.ts$';

/** Shared HTTP APIs stand between the apps and the kits. */
const apiKits = ['api/dataprep-api', 'api/audio-api'];

const kitRules = Object.entries(kits).map(([name, below]) => ({
  name: `${named(name)}-points-down`,
  severity: 'error',
  from: { path: libs([name]), pathNot: tests },
  to: { path: '^libs/', pathNot: libs([name, ...below, ...leaf]) },
}));

/** Nobody imports past a lib's index. */
const indexRules = [...leaf, ...Object.keys(kits), ...apiKits, 'platform/testing'].map((name) => ({
  name: `${named(name)}-through-its-index`,
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
      name: 'leaves-are-leaves',
      severity: 'error',
      from: { path: libs(leaf) },
      to: { path: '^libs/', pathNot: libs(leaf) },
    },
    ...kitRules,
    {
      name: 'api-kits-point-down',
      severity: 'error',
      from: { path: libs(apiKits) },
      to: {
        path: '^libs/',
        pathNot: libs([...apiKits, 'api/openai-api', 'platform/service-kit', 'platform/messaging', ...leaf]),
      },
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
      from: { path: '^(apps|libs)/', pathNot: ['\\.spec\\.ts$', '^libs/platform/testing/'] },
      to: { path: '^libs/platform/testing/' },
    },
    onlyImporter('only-messaging-imports-nats', ['@nats-io'], '^libs/platform/messaging/'),
    onlyImporter(
      'only-storage-imports-pg',
      ['pg', 'pgvector', 'node-pg-migrate'],
      '^libs/platform/(storage|testing)/',
    ),
    onlyImporter(
      'only-engine-libs-import-onnx',
      ['onnxruntime-node', '@xenova/transformers', '@huggingface'],
      '^libs/engine/(models|onnx-compiler|grammar|generation|encoders|speech|vision)/',
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
