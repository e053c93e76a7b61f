import { Group, Loader, Table, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { useText } from '../i18n/text';
import { Failure } from '../shared/components';

/** A section of the page with a title. It shows the error or the data of its query. */
export function Section({
  title,
  query,
  aside,
  children,
}: {
  title: string;
  query: Pick<UseQueryResult, 'data' | 'error' | 'refetch'>;
  aside?: ReactNode;
  children: ReactNode;
}): ReactElement {
  const t = useText();
  const { data, error, refetch } = query;
  return (
    <section aria-label={title}>
      <Group mt="lg" mb="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {aside}
      </Group>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined ? !error && <Loader size="sm" aria-label={t('loading')} /> : children}
    </section>
  );
}

/** A scrolling table has the focus, so that its arrow keys scroll it. */
const scrollable = { viewportProps: { tabIndex: 0 } };

/** A table. */
export function Rows({
  heads,
  rows,
  empty,
}: {
  heads: string[];
  rows: ReactNode[][];
  empty?: string;
}): ReactElement {
  if (rows.length === 0 && empty)
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  return (
    <Table.ScrollContainer minWidth={520} scrollAreaProps={scrollable}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, row) => (
            <Table.Tr key={row}>
              {cells.map((cell, column) => (
                <Table.Td key={heads[column]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Interval in milliseconds at which the page reads its data again. */
export const followMs = 3_000;
