import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = {
  environment: 'node' as const,
  restoreMocks: true,
  // A process for each file would load the same packages and start the same databases again.
  isolate: false,
  setupFiles: ['test/support/fresh-file.ts'],
  // By default one processor is left alone, which on a machine with two is half of it.
  maxWorkers: availableParallelism(),
  // Waiting for an event ends with the event: the limit is only for what never comes, and machines may be slow.
  expect: { poll: { timeout: 60_000, interval: 50 } },
};

/** `npm run test:cluster`: the e2e specs on native Postgres, NATS with users and TLS, two of each service. */
const isCluster = process.env.MEGANEST_TEST_CLUSTER === 'true';

/** Specs that make no sense there: they start servers of their own, or give them names of their own, since they test these. */
const notOnClusters = [
  'test/e2e/launcher.spec.ts',
  'test/e2e/namespaces.spec.ts',
  'test/e2e/responses-outage.spec.ts',
];

/** `npm run test:slow`: e2e specs that take a minute or more each, for parts that few changes touch. */
const isSlow = process.env.MEGANEST_TEST_SLOW === 'true';
const slow = [
  'test/e2e/hub-start.spec.ts',
  'test/e2e/namespaces.spec.ts',
  'test/e2e/rolling-restart.spec.ts',
];

/** `npm run test:open-webui`: a browser uses Open WebUI, which is too large (7 GB) for each run of the tests. */
const openWebUi = {
  extends: true as const,
  test: {
    ...common,
    name: 'open-webui',
    include: ['test/open-webui/**/*.spec.ts'],
    testTimeout: 240_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
  },
};

/** `npm run test:attacks`: one key attacks a stack while another one uses it; it needs a machine without other work. */
const attacks = {
  extends: true as const,
  test: {
    ...common,
    name: 'attacks',
    include: ['test/attacks/**/*.spec.ts'],
    maxWorkers: 1,
  },
};

/** `npm run test:real-models`: published models from PyPI (1 GB), compared with the libraries that they were made for. */
const realModels = {
  extends: true as const,
  test: {
    ...common,
    name: 'real-models',
    include: ['test/real-models/**/*.spec.ts'],
    testTimeout: 1_200_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
};

export default defineConfig({
  test: {
    projects: [
      ...(process.env.MEGANEST_TEST_OPEN_WEBUI === 'true' ? [openWebUi] : []),
      ...(process.env.MEGANEST_TEST_ATTACKS === 'true' ? [attacks] : []),
      ...(process.env.MEGANEST_TEST_REAL_MODELS === 'true' ? [realModels] : []),
      {
        extends: true,
        test: {
          ...common,
          name: 'unit',
          include: ['{apps,bench,libs,tools,templates}/**/*.spec.ts'],
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'integration',
          include: ['test/integration/**/*.spec.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'e2e',
          include: isSlow ? slow : ['test/e2e/**/*.spec.ts'],
          exclude: isCluster ? notOnClusters : isSlow ? [] : slow,
          globalSetup: isCluster ? ['test/support/cluster-setup.ts'] : [],
          testTimeout: 240_000,
          hookTimeout: 300_000,
          // Two at a time: while one waits for its processes to start, the other has the processor.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...common,
          name: 'browser',
          include: ['test/browser/**/*.spec.ts'],
          testTimeout: 240_000,
          hookTimeout: 300_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
