import { config } from '../../api/config.ts';
import type { JsonObject } from '../../model/json.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card } from './card.tsx';

/** Checks of the configuration before production. */
export function Checklist() {
  const { value } = config;
  if (value === undefined) return null;
  return (
    <Card icon="shield" title="Production checklist">
      <ul class="stack">
        {checks(value).map(({ good, label, note }) => (
          <li key={label} class="check-line">
            <span class={`badge ${good ? 'badge-ok' : 'badge-warn'}`}>
              <Icon name={good ? 'check' : 'warn'} />
              {good ? 'yes' : 'no'}
            </span>
            <span>
              {label}
              {!good && <p class="muted small break">{note}</p>}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function checks(report: JsonObject): { good: boolean; label: string; note: string }[] {
  return [
    { good: report['is_admin_secret_set'] === true, label: 'An admin secret is set', note: 'SVC_GRAPHQL_ADMIN_SECRET' },
    {
      good: report['is_jwt_set'] === true || report['is_auth_hook_set'] === true,
      label: 'Authentication is configured',
      note: 'SVC_GRAPHQL_JWT_SECRET or SVC_GRAPHQL_AUTH_HOOK',
    },
    { good: report['dev_mode'] !== true, label: 'Developer mode is off', note: 'SVC_GRAPHQL_DEV_MODE' },
    { good: report['is_allow_list_enabled'] === true, label: 'The allow-list is enforced', note: 'SVC_GRAPHQL_ENABLE_ALLOWLIST' },
  ];
}
