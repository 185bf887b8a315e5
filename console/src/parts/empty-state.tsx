import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** What belongs here, and what to do first. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
  );
}
