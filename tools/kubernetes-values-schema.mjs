/** The schema of the chart's values. Helm refuses values that are not in it, so that a typing error does not pass as a setting. */

/** Variables that the manifests set, or that belong to `npm start` and Docker Compose. */
const fixed = new Set([
  'API_KEYS_FILE',
  'DATABASE_URL_FILE',
  'GATEWAY_BIND',
  'HF_HOME',
  'HF_HUB_CACHE',
  'HOST',
  'LLM_MEMORY',
  'LOG_FILES_LIMIT',
  'LOG_FILE_LIMIT_BYTES',
  'MEGANEST_ALLOW_OPEN',
  'MEGANEST_DATA_DIR',
  'MEGANEST_VERSION',
  'MODEL_MEMORY',
  'NATS_PASSWORD',
  'NATS_PASSWORD_FILE',
  'NATS_SERVER_BINARY',
  'NATS_URL',
  'NATS_USER',
  'POSTGRES_MEMORY',
  'POSTGRES_PASSWORD',
  'PUBLISHED_HOST',
  'SERVICE_CPUS',
  'SERVICES_HOST',
  'START_PERIOD',
]);

/** The same expression is in chart/templates/_helpers.tpl. */
const isSecret = (name) => /(_KEYS?|_TOKEN|_NKEY|_URL|_STRING)$/.test(name) && !name.startsWith('OTEL_');

const object = (properties, rest = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...rest,
});
const reference = (name) => ({ $ref: `#/definitions/${name}` });
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const list = (items) => ({ type: 'array', items });
const anything = { type: 'object' };
const quantity = { type: ['string', 'number'] };

function settingsOf(variables, services) {
  const ports = new Set(services.map((name) => `${name.toUpperCase()}_PORT`));
  const names = [...variables].filter((name) => !fixed.has(name) && !ports.has(name));
  return Object.fromEntries(names.map((name) => [name, reference('setting')]));
}

/** @param variables Names of all settings of MegaNest. */
export function valuesSchema(values, variables) {
  const names = Object.keys(values.services);
  const settings = settingsOf(new Set([...variables, ...Object.keys(values.settings)]), names);
  const ofPods = Object.fromEntries(Object.entries(settings).filter(([name]) => !isSecret(name)));
  const service = object({
    enabled: flag,
    replicas: count,
    maxReplicas: count,
    internet: flag,
    requests: object({ cpu: quantity, memory: quantity }),
    limits: object({ memory: quantity }),
    env: object(ofPods),
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { setting: { type: ['string', 'number', 'boolean'] }, service },
    ...object({
      global: anything,
      fullnameOverride: { type: 'string', maxLength: 40, pattern: '^[a-z0-9-]*$' },
      image: object({ repository: text, tag: quantity }),
      imagePullSecrets: list(object({ name: text }, { required: ['name'] })),
      terminationGracePeriodSeconds: count,
      secrets: object(Object.fromEntries(Object.keys(values.secrets).map((name) => [name, text]))),
      settings: object(settings),
      modelVolumeSize: quantity,
      services: object(Object.fromEntries(names.map((name) => [name, reference('service')]))),
      autoscaling: flag,
      ingress: object({
        enabled: flag,
        className: text,
        annotations: anything,
        hosts: list({ type: ['string', 'object'] }),
        tls: list(anything),
      }),
      networkPolicies: object({ enabled: flag, egress: list(anything) }),
    }),
  };
}
