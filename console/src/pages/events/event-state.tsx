import type { JsonObject } from '../../model/json.ts';
import { Icon } from '../../parts/icon.tsx';

/** State of an event as a badge. */
export function EventState({ event }: { readonly event: JsonObject }) {
  if (event['delivered'] === true)
    return (
      <span class="badge badge-ok">
        <Icon name="check" />
        delivered
      </span>
    );
  if (event['error'] === true)
    return (
      <span class="badge badge-danger">
        <Icon name="warn" />
        failed
      </span>
    );
  if (event['archived'] === true) return <span class="badge">archived</span>;
  const retry = event['next_retry_at'];
  return (
    <span class="badge badge-accent" title={typeof retry === 'string' ? `next attempt at ${retry} (UTC)` : undefined}>
      {event['locked'] === null ? 'pending' : 'delivering'}
    </span>
  );
}
