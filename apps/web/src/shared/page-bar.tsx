import { Title } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** The bar at the top of a page: its title, and the controls of the page. */
export function PageBar({
  title,
  burger,
  children,
}: {
  title: string;
  burger: ReactElement | null;
  children?: ReactNode;
}): ReactElement {
  return (
    <header className="bar">
      {burger}
      <Title order={1} size="h4" lineClamp={1}>
        {title}
      </Title>
      {children}
    </header>
  );
}
