import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** Placeholder for an empty page or list, with its first action. */
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
