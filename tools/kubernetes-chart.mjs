/** The templates of the Helm chart: what they have in place of the values of the Kustomize base. */

const include = (name) => `{{ include "meganest.${name}" . }}`;

/** See `labelsOf` of kubernetes-manifests.mjs. */
export const chartTarget = {
  read: (path, quoted) => `{{ .Values.${path}${quoted ? ' | quote' : ''} }}`,
  nameOf: (name) => `${include('fullname')}-${name}`,
  serviceName: (name) => `${include('fullname')}-${name}`,
  secret: (name) => (name === 'nats' ? '{{ .Values.secrets.nats }}' : include(`${name}Secret`)),
  labels: {
    'app.kubernetes.io/part-of': 'meganest',
    'app.kubernetes.io/instance': '{{ .Release.Name | quote }}',
  },
  settings: { '#settings': '' },
  internet: ['#internet'],
  lines: (name) => ({ [`#${name}`]: '' }),
  items: (name) => [`#${name}`],
};

/** The lines in place of the keys and items of the target. */
const lines = {
  settings: [
    '{{- range $name, $value := .Values.settings }}',
    '{{- if not (include "meganest.isSecret" $name) }}',
    '{{ $name }}: {{ include "meganest.text" $value }}',
    '{{- end }}',
    '{{- end }}',
  ],
  internet: [
    '{{- range $name, $service := .Values.services }}',
    '{{- if ($service).internet }}',
    '- {{ $name }}',
    '{{- end }}',
    '{{- end }}',
  ],
  checksum: ['checksum/settings: {{ toJson .Values.settings | sha256sum }}'],
  pullSecrets: [
    '{{- if .Values.imagePullSecrets }}',
    'imagePullSecrets: {{ toJson .Values.imagePullSecrets }}',
    '{{- end }}',
  ],
  secretSettings: [
    '{{- if include "meganest.secretSettings" . }}',
    '- secretRef:',
    `    name: ${include('fullname')}-secrets`,
    '{{- end }}',
  ],
};

const environmentOf = (service) => [
  `{{- range $name, $value := .Values.services.${service}.env }}`,
  '- name: {{ $name }}',
  '  value: {{ include "meganest.text" $value }}',
  '{{- end }}',
];

/** Writes the templates of the chart: expressions are unquoted for numbers and quoted for settings. */
export function writeTemplates(yaml) {
  return yaml
    .replaceAll(/^( *)(?:- )?"#(?:env\.(\w+)|(\w+))"(?:: "")?$/gm, (_line, indent, service, name) =>
      (service ? environmentOf(service) : lines[name])
        .map((line) => (line.startsWith('{{-') ? line : indent + line))
        .join('\n'),
    )
    .replaceAll(/"(\{\{ [^}]+ \}\}[\w-]*)"/g, '$1')
    .replaceAll(/'(\{\{ [^}]+ \}\}[\w-]*)'/g, '$1');
}

/** The template of a service that can be disabled, or left out of the values. */
export function ifEnabled(service, text) {
  return `{{- if (.Values.services.${service}).enabled }}\n${text}{{- end }}\n`;
}
