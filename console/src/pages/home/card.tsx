import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../../parts/icon.tsx';

export function Card({
  icon,
  title,
  children,
  aside,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
}) {
  return (
    <section class="card">
      <header>
        <Icon name={icon} />
        <h2 class="grow">{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
