import { computed } from '@preact/signals';
import { config } from '../api/config.ts';
import { needsSecret } from '../api/settings.ts';
import { Icon } from '../parts/icon.tsx';

const WARNING = 'This service has no admin secret. Anyone who can reach it can read and change everything.';
/** On the machine of a developer it is no danger to have no secret. */
const IS_LOCAL = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(location.hostname);

const hasNoSecret = computed(() => needsSecret === false || config.value?.['is_admin_secret_set'] === false);
/** True if the page has a banner above it. */
export const hasBanner = computed(() => hasNoSecret.value && !IS_LOCAL);

/** Warning in the top bar. */
export function OpenToAll() {
  if (!hasNoSecret.value || !IS_LOCAL) return null;
  return (
    <span class="badge badge-warn" role="note" aria-label={WARNING} title={WARNING}>
      <Icon name="warn" />
      <span class="hide-narrow">no admin secret</span>
    </span>
  );
}

/** Banner above the page of a service that other machines reach. */
export function OpenBanner() {
  return hasBanner.value ? (
    <aside class="open-banner" aria-label="Warning">
      {WARNING}
    </aside>
  ) : null;
}
