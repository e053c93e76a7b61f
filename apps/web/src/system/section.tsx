import { Alert, Group, Loader, Table, Text, Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';
import { messageOf } from '../api/connection';
import { useText } from '../i18n/text';

/** A part of the page with its title, its error and what is shown once it is read. */
export function Section({
  title,
  error,
  loaded,
  aside,
  children,
}: {
  title: string;
  error: unknown;
  loaded: boolean;
  aside?: ReactNode;
  children: ReactNode;
}): ReactElement {
  const t = useText();
  return (
    <section aria-label={title}>
      <Group mt="lg" mb="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {aside}
      </Group>
      {error ? (
        <Alert color="red" title={t('failed')}>
          {messageOf(error)}
        </Alert>
      ) : null}
      {loaded ? children : error ? null : <Loader size="sm" aria-label={t('loading')} />}
    </section>
  );
}

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
    <Table.ScrollContainer minWidth={520}>
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
