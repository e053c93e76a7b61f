/** The Kubernetes manifests of MegaNest as objects, from the values of deploy/kubernetes/values.yaml. */

/** Metrics of the load of a service, and the value for each pod above which another pod is added. */
const scalingMetrics = {
  gateway: { name: 'meganest_operations_pending', value: '40' },
  llm: { name: 'meganest_engine_requests', value: '8' },
};
const pendingOperations = { name: 'meganest_operations_pending', value: '8' };

const labelsOf = (name) => ({ 'app.kubernetes.io/part-of': 'meganest', 'app.kubernetes.io/name': name });

const probe = (path, port, rest) => ({ httpGet: { path, port }, ...rest });

/**
 * `read(path)` returns the value at a path of values.yaml: for Kustomize the value itself, for the chart the template's
 * expression. Everything else is shared, so that Kustomize and the chart agree.
 */
function container(name, service, read) {
  return {
    name,
    image: `${read('image.repository')}:${read('image.tag')}`,
    env: [
      { name: 'SERVICE', value: name },
      { name: `${name.toUpperCase()}_PORT`, value: String(service.port) },
      // Each service is a user of NATS with its own subjects (deploy/nats/users.conf), and has only its own password.
      { name: 'NATS_URL', valueFrom: { secretKeyRef: { name: 'meganest-nats', key: 'NATS_URL' } } },
      { name: 'NATS_USER', value: name },
      {
        name: 'NATS_PASSWORD',
        valueFrom: { secretKeyRef: { name: 'meganest-nats', key: `NATS_${name.toUpperCase()}_PASSWORD` } },
      },
      // The NetworkPolicies admit only Prometheus to the other services.
      ...(name === 'gateway' ? [] : [{ name: 'MEGANEST_ALLOW_OPEN', value: 'true' }]),
    ],
    envFrom: [
      { configMapRef: { name: 'meganest-settings' } },
      ...(service.database ? [{ secretRef: { name: 'meganest-database' } }] : []),
      ...(name === 'gateway' ? [{ secretRef: { name: 'meganest-keys' } }] : []),
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

function deployment(name, service, read) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: labelsOf(name) },
    spec: {
      replicas: read(`services.${name}.replicas`),
      // A new pod must be ready before an old one is stopped.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: labelsOf(name) },
      template: {
        metadata: {
          labels: labelsOf(name),
          annotations: {
            'prometheus.io/scrape': 'true',
            'prometheus.io/port': String(service.port),
            'prometheus.io/path': '/metrics',
          },
        },
        spec: {
          automountServiceAccountToken: false,
          // Without this, the Service `gateway` would set GATEWAY_PORT to an address.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: read('terminationGracePeriodSeconds'),
          securityContext: podSecurity,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labelsOf(name) },
            },
          ],
          containers: [container(name, service, read)],
          volumes: [
            { name: 'data', emptyDir: { sizeLimit: read('modelVolumeSize') } },
            { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
          ],
        },
      },
    },
  };
}

function service(name, { port }) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: labelsOf(name) },
    spec: { selector: labelsOf(name), ports: [{ name: 'http', port, targetPort: 'http' }] },
  };
}

function disruptionBudget(name) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, labels: labelsOf(name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } },
  };
}

/**
 * Scales by the pending work of a pod, not by its processor time: a decoder is as busy with one request as with eight.
 */
export function autoscaler(name, read) {
  const metric = scalingMetrics[name] ?? pendingOperations;
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, labels: labelsOf(name) },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
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

const settings = (values, read) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'meganest-settings', labels: { 'app.kubernetes.io/part-of': 'meganest' } },
  data: {
    HOST: '0.0.0.0',
    MEGANEST_DATA_DIR: '/data',
    ...Object.fromEntries(Object.keys(values.settings).map((name) => [name, read(`settings.${name}`, true)])),
  },
});

const partOf = { matchLabels: { 'app.kubernetes.io/part-of': 'meganest' } };
const policy = (name, spec) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, labels: { 'app.kubernetes.io/part-of': 'meganest' } },
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

function networkPolicies(services) {
  const internal = Object.entries(services).filter(([name]) => name !== 'gateway');
  const withInternet = Object.keys(services).filter((name) => services[name].internet);
  return [
    policy('meganest-default', { podSelector: partOf, policyTypes: ['Ingress', 'Egress'] }),
    policy('meganest-gateway', {
      podSelector: { matchLabels: labelsOf('gateway') },
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ port: services.gateway.port }] }],
    }),
    // Services call each other over NATS; only Prometheus uses their HTTP ports. The kubelet's probes are always
    // allowed.
    policy('meganest-metrics', {
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
    policy('meganest-egress', {
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
    policy('meganest-internet', {
      podSelector: {
        matchExpressions: [{ key: 'app.kubernetes.io/name', operator: 'In', values: withInternet }],
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
function migration(read) {
  const pod = container('migrate', { port: 1, database: true }, (path) =>
    path.startsWith('services.') ? { cpu: '100m', memory: '128Mi' }[path.split('.').at(-1)] : read(path),
  );
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'meganest-migrate',
      labels: labelsOf('migrate'),
      annotations: {
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-delete-policy': 'before-hook-creation',
      },
    },
    spec: {
      backoffLimit: 5,
      ttlSecondsAfterFinished: 86_400,
      template: {
        metadata: { labels: labelsOf('migrate') },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          restartPolicy: 'OnFailure',
          securityContext: podSecurity,
          containers: [
            {
              name: 'migrate',
              image: pod.image,
              env: [{ name: 'SERVICE', value: 'migrate' }],
              envFrom: [{ secretRef: { name: 'meganest-database' } }],
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

/** The manifests of every file of the base, by file name. `read` is explained at `container`. */
export function manifests(values, read) {
  const services = Object.entries(values.services);
  return {
    'settings.yaml': [settings(values, read)],
    'migrate.yaml': [migration(read)],
    'network-policies.yaml': networkPolicies(values.services),
    ...Object.fromEntries(
      services.map(([name, one]) => [
        `${name}.yaml`,
        [deployment(name, one, read), service(name, one), disruptionBudget(name)],
      ]),
    ),
  };
}
