import { Group, NativeSelect, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { useCollections, useMegaServices } from '../api/queries';
import { useText } from '../i18n/text';
import { IconFiles } from '../shared/icons';
import { useStored } from '../stored';
import { setParameter, settings, useModel } from './settings';

/** Name of the parameter of a mega service. */
const parameter = 'collection';

/**
 * The collection that the next questions search, and the choice of another one. It is the mega service's parameter, which
 * the form of all parameters shows too. A model alone searches nothing.
 */
export function SearchedCollection(): ReactElement | null {
  const t = useText();
  const model = useModel();
  const chosen = useStored(settings).parameters[model ?? '']?.[parameter];
  const nodes = useMegaServices().data?.find(({ name }) => name === model)?.nodes ?? [];
  const retrieval = nodes.find(({ service }) => service === 'retrieval');
  const collections = useCollections().data ?? [];
  if (!model || !retrieval) return null;
  const ofMegaService = retrieval.params[parameter];
  const standard = typeof ofMegaService === 'string' ? ofMegaService : 'default';
  const value = typeof chosen === 'string' && chosen ? chosen : standard;
  const names = [...new Set([standard, ...collections, value])];
  return (
    <Group gap={6} wrap="nowrap" className="searched">
      <IconFiles size={14} aria-hidden />
      <Text size="xs" component="label" htmlFor="searched-collection">
        {t('searchedCollection')}
      </Text>
      <NativeSelect
        id="searched-collection"
        size="xs"
        variant="unstyled"
        data={names}
        value={value}
        onChange={({ currentTarget }) =>
          setParameter(model, parameter, currentTarget.value === standard ? undefined : currentTarget.value)
        }
      />
    </Group>
  );
}
