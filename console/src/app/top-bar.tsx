import { sessionChanges } from '../api/changes.ts';
import { overview, overviewFailure } from '../api/overview.ts';
import { hasSecret } from '../api/session.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { docsHref } from '../browser/place.ts';
import { theme } from '../browser/theme.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { appearances } from './appearance.ts';
import { Brand } from './brand.tsx';
import { InstanceLabel } from './instance-label.tsx';
import { leave } from './leave.ts';
import { OpenToAll } from './open-to-all.tsx';
import { type Opened, opened } from './opened.ts';
import { PersonaBar } from './persona-bar.tsx';
import { currentPage } from './routes.ts';

/** State of the instance, the persona, and the tools that every page has. */
export function TopBar() {
  const { value } = overview;
  const open = (what: Opened): void => {
    opened.value = what;
  };
  const count = sessionChanges.value.length;
  return (
    <header class="topbar">
      <SkipLink />
      <Brand />
      <InstanceLabel />
      {isReadOnly && (
        <span class="badge badge-warn" title={READ_ONLY_REASON}>
          read-only
        </span>
      )}
      <OpenToAll />
      <span class="grow" />
      <PersonaBar />
      <span class="row-tight hide-narrow">
        {overviewFailure.value !== undefined ? (
          <span class="badge badge-danger" title={overviewFailure.value.message}>
            <Icon name="warn" />
            unreachable
          </span>
        ) : (
          value !== undefined && (
            <span class={`badge ${value.inconsistent > 0 ? 'badge-warn' : 'badge-ok'}`} title="Metadata version">
              <Icon name={value.inconsistent > 0 ? 'warn' : 'check'} />v{value.version}
              {value.inconsistent > 0 ? ` · ${value.inconsistent} inconsistent` : ' · consistent'}
            </span>
          )
        )}
      </span>
      {count > 0 && (
        <Button small onClick={() => open('changes')}>
          {count} {count === 1 ? 'change' : 'changes'}
        </Button>
      )}
      <Button kind="quiet" icon="search" name="Search (Ctrl+K)" onClick={() => open('palette')} />
      <Menu
        kind="quiet"
        icon={theme.value === 'dark' ? 'moon' : 'sun'}
        name="Theme and density"
        items={appearances().map(({ label, isChosen, run }) => ({ label, ...(isChosen ? { icon: 'check' as const } : {}), run }))}
      />
      <span class="hide-narrow">
        <DocsLink />
        <Button kind="quiet" icon="help" name="Keyboard shortcuts (?)" onClick={() => open('keys')} />
      </span>
      {hasSecret.value && <Button kind="quiet" icon="out" name="Sign out" onClick={leave} />}
    </header>
  );
}

/** First stop of Tab: skips what every page has. A link to the element itself would be a route. */
function SkipLink() {
  return (
    <button type="button" class="button button-primary skip-link" onClick={() => document.getElementById('main')?.focus()}>
      Skip to content
    </button>
  );
}

/** Opens the page of the documentation that describes the current page. */
function DocsLink() {
  const { value: page } = currentPage;
  const name = page === undefined ? 'Documentation' : `Documentation: ${page.title}`;
  return (
    <a
      class="button button-quiet button-icon"
      href={docsHref(page?.docs ?? '')}
      target="_blank"
      rel="noreferrer"
      title={name}
      aria-label={name}
    >
      <Icon name="book" />
    </a>
  );
}
