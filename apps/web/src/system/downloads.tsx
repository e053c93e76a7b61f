import { Group, Progress, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { numberText, useText } from '../i18n/text';

/** A model that a service fetches, as the health report has it. */
export interface Download {
  model: string;
  loadedBytes: number;
  totalBytes?: number;
}

const megabyte = 1_000_000;

/** How far each model is that is being downloaded. */
export function Downloads({ downloads }: { downloads: Download[] }): ReactElement {
  const t = useText();
  return (
    <>
      {downloads.map(({ model, loadedBytes, totalBytes }) => {
        const label = t('downloading', { model });
        const size = [loadedBytes, ...(totalBytes === undefined ? [] : [totalBytes])];
        return (
          <Group key={model} gap="sm" mt="xs">
            <Text size="sm">{label}</Text>
            <Progress flex={1} value={totalBytes ? (loadedBytes / totalBytes) * 100 : 0} aria-label={label} />
            <Text size="sm" c="dimmed">
              {size.map((bytes) => numberText(Math.round(bytes / megabyte))).join(' / ')} MB
            </Text>
          </Group>
        );
      })}
    </>
  );
}
