import { Button, Drawer, Fieldset, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { useParameters, type Parameter } from '../api/queries';
import { useStored } from '../stored';
import { useText } from '../i18n/text';
import { setParameter, settings } from './settings';

/** Parameters that the app sets itself, or that are only useful for a single call. */
const own = new Set(['n', 'filter', 'logit_bias', 'stop']);

/** A form for the parameters of a mega service, from their descriptions in the gateway. */
export default function ParameterDrawer({
  model,
  close,
}: {
  model: string;
  close: () => void;
}): ReactElement {
  const t = useText();
  const { data, isSuccess } = useParameters();
  const listed = (data?.[model] ?? data?.['chatqna'] ?? []).filter(
    ({ name, node, schema }) =>
      !own.has(name) && isSimple(schema) && (data?.[model] !== undefined || node === 'llm'),
  );
  const nodes = [...new Set(listed.map(({ node }) => node))];
  const { parameters } = useStored(settings);
  const values = parameters[model] ?? {};
  const change = (name: string, value: unknown) => setParameter(model, name, value);
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      title={t('parametersOf', { name: model })}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {t('parametersText')}
        </Text>
        <Button
          variant="default"
          size="xs"
          disabled={Object.keys(values).length === 0}
          onClick={() => Object.keys(values).forEach((name) => change(name, undefined))}
        >
          {t('defaults')}
        </Button>
        {isSuccess && listed.length === 0 && <Text>{t('noParameters')}</Text>}
        {nodes.map((node) => {
          const fields = listed.filter((parameter) => parameter.node === node);
          return <Fields key={node} node={node} fields={fields} values={values} change={change} />;
        })}
      </Stack>
    </Drawer>
  );
}

/** The parameters of one node. */
function Fields({
  node,
  fields,
  values,
  change,
}: {
  node: string;
  fields: readonly Parameter[];
  values: Readonly<Record<string, unknown>>;
  change: (name: string, value: unknown) => void;
}): ReactElement {
  return (
    <Fieldset legend={node}>
      <Stack gap="sm">
        {fields.map((parameter) => (
          <Field
            key={parameter.name}
            parameter={parameter}
            value={values[parameter.name]}
            change={(value) => change(parameter.name, value)}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

function isSimple({ type }: Parameter['schema']): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
}

function Field({
  parameter: { name, description, schema, default: standard },
  value,
  change,
}: {
  parameter: Parameter;
  value: unknown;
  change: (value: unknown) => void;
}): ReactElement {
  const t = useText();
  const shown = typeof standard === 'string' ? standard : JSON.stringify(standard);
  const placeholder = standard === null ? t('standard') : shown;
  const common = { label: name, description: description ?? undefined, placeholder };
  if (schema.type === 'integer' || schema.type === 'number') {
    return (
      <NumberInput
        {...common}
        value={typeof value === 'number' ? value : ''}
        min={schema.minimum}
        max={schema.maximum}
        step={schema.type === 'integer' ? 1 : 0.1}
        allowDecimal={schema.type === 'number'}
        onChange={(next) => change(typeof next === 'number' ? next : undefined)}
      />
    );
  }
  const options = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (options) {
    return (
      <Select
        {...common}
        clearable
        data={options}
        value={value === undefined ? null : `${value as string | boolean}`}
        onChange={(next) =>
          change(next === null ? undefined : schema.type === 'boolean' ? next === 'true' : next)
        }
      />
    );
  }
  return (
    <TextInput
      {...common}
      value={typeof value === 'string' ? value : ''}
      onChange={({ currentTarget }) => change(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}
