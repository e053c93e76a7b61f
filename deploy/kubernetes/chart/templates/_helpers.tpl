{{/* The name of the release, with the name of the chart unless it has it already. */}}
{{- define "meganest.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* A value as a quoted text: Go writes large numbers with an exponent. */}}
{{- define "meganest.text" -}}
{{- if kindIs "string" . }}{{ quote . }}{{ else }}{{ toJson . | quote }}{{ end -}}
{{- end -}}

{{/* Whether a setting is a secret; tools/kubernetes-values-schema.mjs has the same expression. */}}
{{- define "meganest.isSecret" -}}
{{- if and (regexMatch "(_KEYS?|_TOKEN|_NKEY|_URL|_STRING)$" .) (not (hasPrefix "OTEL_" .)) }}true{{ end -}}
{{- end -}}

{{/* Secret settings of all services: those of the gateway and of the database have secrets of their own. */}}
{{- define "meganest.secretSettings" -}}
{{- range $name, $value := omit .Values.settings "API_KEYS" "DATABASE_URL" "PG_CONNECTION_STRING" -}}
{{- if include "meganest.isSecret" $name }}
{{ $name }}: {{ include "meganest.text" $value }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "meganest.keysSecret" -}}
{{- if .Values.settings.API_KEYS }}{{ include "meganest.fullname" . }}-api-keys{{ else }}{{ .Values.secrets.keys }}{{ end -}}
{{- end -}}

{{- define "meganest.databaseSecret" -}}
{{- if or .Values.settings.DATABASE_URL .Values.settings.PG_CONNECTION_STRING -}}
{{ include "meganest.fullname" . }}-database-url
{{- else -}}
{{ .Values.secrets.database }}
{{- end -}}
{{- end -}}

{{- define "meganest.labels" -}}
app.kubernetes.io/part-of: meganest
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}
