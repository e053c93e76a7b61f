/** The Kubernetes manifests of MegaNest as objects, from the values of deploy/kubernetes/values.yaml. */

/** Metrics of the load of a service, and the value for each pod above which another pod is added. */
const scalingMetrics = {
  gateway: { name: 'meganest_operations_pending', value: '40' },
  llm: { name: 'meganest_engine_requests', value: '8' },
};
const pendingOperations = { name: 'meganest_operations_pending', value: '8' };

/**
 * What differs between Kustomize and the chart. Everything else is shared, so that both agree.
 *
 * - `read(path)`: the value at a path of values.yaml; for the chart the template's expression.
 * - `nameOf(name)`: the name of an object; in the chart with the name of the release.
 * - `serviceName(name)`: the name of a service's objects.
 * - `labels`: labels of all objects, by which they are selected.
 * - `settings`: the data of the ConfigMap; `internet`: the names of the services that reach public addresses.
 * - `lines(name)`: an object with a key that the chart replaces by the template's lines of that name, otherwise an empty object.
 * - `items(name)`: the same as a list.
 * - `secret(name)`: the name of the secret `nats`, `database` or `keys`.
 */
const labelsOf = ({ labels }, name) => ({ ...labels, 'app.kubernetes.io/name': name });

const probe = (path, port, rest) => ({ httpGet: { path, port }, ...rest });

function container(name, service, target) {
  const { read, nameOf, items, secret } = target;
  return {
    name,
    image: `${read('image.repository')}:${read('image.tag')}`,
    env: [
      { name: 'SERVICE', value: name },
      { name: `${name.toUpperCase()}_PORT`, value: String(service.port) },
      // Each service is a user of NATS with its own subjects (deploy/nats/users.conf), and has only its own password.
      { name: 'NATS_URL', valueFrom: { secretKeyRef: { name: secret('nats'), key: 'NATS_URL' } } },
      { name: 'NATS_USER', value: name },
      {
        name: 'NATS_PASSWORD',
        valueFrom: { secretKeyRef: { name: secret('nats'), key: `NATS_${name.toUpperCase()}_PASSWORD` } },
      },
      // The NetworkPolicies admit only Prometheus to the other services.
      ...(name === 'gateway' ? [] : [{ name: 'MEGANEST_ALLOW_OPEN', value: 'true' }]),
      ...items(`env.${name}`),
    ],
    envFrom: [
      { configMapRef: { name: nameOf('settings') } },
      ...items('secretSettings'),
      ...(service.database ? [{ secretRef: { name: secret('database') } }] : []),
      ...(name === 'gateway' ? [{ secretRef: { name: secret('keys') } }] : []),
    ],
    ports: [{ name: 'http', containerPort: service.port }],
    // 10 minutes: a service compiles or downloads its model before it is ready.
    startupProbe: probe('/live', 'http', { periodSeconds: 2, failureThreshold: 300 }),
    livenessProbe: probe('/live', 'http', { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 }),
    readinessProbe: probe('/ready', 'http', { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 2 }),
    resources: {
      requests: {
        cpu: read(`services.${name}.requests.cpu`, true),
        memory: read(`services.${name}.requests.memory`, true),
      },
      limits: { memory: read(`services.${name}.limits.memory`, true) },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'data', mountPath: '/data' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};

function deployment(name, service, target) {
  const { read, lines } = target;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: target.serviceName(name), labels: labelsOf(target, name) },
    spec: {
      replicas: read(`services.${name}.replicas`),
      // A new pod must be ready before an old one is stopped.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: labelsOf(target, name) },
      template: {
        metadata: {
          labels: labelsOf(target, name),
          annotations: {
            'prometheus.io/scrape': 'true',
            'prometheus.io/port': String(service.port),
            'prometheus.io/path': '/metrics',
            ...lines('checksum'),
          },
        },
        spec: {
          automountServiceAccountToken: false,
          // Without this, the Service `gateway` would set GATEWAY_PORT to an address.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: read('terminationGracePeriodSeconds'),
          ...lines('pullSecrets'),
          securityContext: podSecurity,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labelsOf(target, name) },
            },
          ],
          containers: [container(name, service, target)],
          volumes: [
            { name: 'data', emptyDir: { sizeLimit: read('modelVolumeSize') } },
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
          ],
        },
      },
    },
  };
}

function service(name, { port }, target) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: target.serviceName(name), labels: labelsOf(target, name) },
    spec: { selector: labelsOf(target, name), ports: [{ name: 'http', port, targetPort: 'http' }] },
  };
}

function disruptionBudget(name, target) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: target.serviceName(name), labels: labelsOf(target, name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(target, name) } },
  };
}

/**
 * Scales by the pending work of a pod, not by its processor time: a decoder is as busy with one request as with eight.
 */
export function autoscaler(name, target) {
  const { read } = target;
  const metric = scalingMetrics[name] ?? pendingOperations;
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: target.serviceName(name), labels: labelsOf(target, name) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target.serviceName(name) },
      minReplicas: read(`services.${name}.replicas`),
      maxReplicas: read(`services.${name}.maxReplicas`),
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
      metrics: [
        {
          type: 'Pods',
          pods: {
            metric: { name: metric.name },
            target: { type: 'AverageValue', averageValue: metric.value },
          },
        },
      ],
    },
  };
}

const settings = ({ nameOf, labels, settings: given }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: nameOf('settings'), labels },
  data: { HOST: '0.0.0.0', MEGANEST_DATA_DIR: '/data', ...given },
});

const policy = ({ nameOf, labels }, name, spec) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: nameOf(name), labels },
  spec,
});

/** Addresses that links of users must not reach. The services check addresses, too. */
const privateNetworks = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
];

function networkPolicies(services, target) {
  const partOf = { matchLabels: target.labels };
  const internal = Object.entries(services).filter(([name]) => name !== 'gateway');
  return [
    policy(target, 'default', { podSelector: partOf, policyTypes: ['Ingress', 'Egress'] }),
    policy(target, 'gateway', {
      podSelector: { matchLabels: labelsOf(target, 'gateway') },
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ port: services.gateway.port }] }],
    }),
    // Services call each other over NATS; only Prometheus uses their HTTP ports. The kubelet's probes are always
    // allowed.
    policy(target, 'metrics', {
      podSelector: partOf,
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: {},
              podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
            },
          ],
          ports: internal.map(([, { port }]) => ({ port })),
        },
      ],
    }),
    policy(target, 'egress', {
      podSelector: partOf,
      policyTypes: ['Egress'],
      egress: [
        {
          ports: [
            { port: 53, protocol: 'UDP' },
            { port: 53, protocol: 'TCP' },
          ],
        },
        { ports: [{ port: 4222 }, { port: 5432 }, { port: 4318 }] },
      ],
    }),
    policy(target, 'internet', {
      podSelector: {
        ...partOf,
        matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: target.internet }],
      },
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ ipBlock: { cidr: '0.0.0.0/0', except: privateNetworks } }],
          ports: [{ port: 443 }, { port: 80 }],
        },
      ],
    }),
  ];
}

/** A job with a name for each image, since Kubernetes does not change a finished job. */
function migration(target) {
  const { read, nameOf, lines, secret } = target;
  const pod = container(
    'migrate',
    { port: 1, database: true },
    {
      ...target,
      read: (path) =>
        path.startsWith('services.') ? { cpu: '100m', memory: '128Mi' }[path.split('.').at(-1)] : read(path),
    },
  );
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: nameOf('migrate'),
      labels: labelsOf(target, 'migrate'),
      annotations: {
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-delete-policy': 'before-hook-creation',
      },
    },
    spec: {
      backoffLimit: 5,
      ttlSecondsAfterFinished: 86_400,
      template: {
        metadata: { labels: labelsOf(target, 'migrate') },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: 'OnFailure',
          ...lines('pullSecrets'),
          securityContext: podSecurity,
          containers: [
            {
              name: 'migrate',
              image: pod.image,
              env: [{ name: 'SERVICE', value: 'migrate' }],
              envFrom: [{ secretRef: { name: secret('database') } }],
              resources: pod.resources,
              securityContext: pod.securityContext,
            },
          ],
        },
      },
    },
  };
}

const natsServer = `http_port: 8222
jetstream { store_dir: /data, max_file_store: 8G }
include ./users.conf
`;

/** The configuration of the NATS server of the overlay `small`; `users`: the text of deploy/nats/users.conf. */
export function natsConfiguration(users) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'nats-config', labels: { 'app.kubernetes.io/part-of': 'meganest' } },
    data: { 'nats.conf': natsServer, 'users.conf': users },
  };
}

/** The manifests of every file of the base, by file name. `target` is explained at `labelsOf`. */
export function manifests(values, target) {
  const services = Object.entries(values.services);
  return {
    'settings.yaml': [settings(target)],
    'migrate.yaml': [migration(target)],
    'network-policies.yaml': networkPolicies(values.services, target),
    ...Object.fromEntries(
      services.map(([name, one]) => [
        `${name}.yaml`,
        [deployment(name, one, target), service(name, one, target), disruptionBudget(name, target)],
      ]),
    ),
  };
}
