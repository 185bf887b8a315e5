import { sessionChanges } from '../api/changes.ts';
import { overview, overviewFailure } from '../api/overview.ts';
import { hasSecret } from '../api/session.ts';
import { isReadOnly, label, READ_ONLY_REASON } from '../api/settings.ts';
import { docsHref } from '../browser/place.ts';
import { theme } from '../browser/theme.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { appearances } from './appearance.ts';
import { Brand } from './brand.tsx';
import { leave } from './leave.ts';
import { OpenToAll } from './open-to-all.tsx';
import { type Opened, opened } from './opened.ts';
import { PersonaBar } from './persona-bar.tsx';
import { currentPage } from './routes.ts';

const INSTANCE_COLOURS = ['#b02a37', '#8a4b08', '#1b6b3a', '#1c5fa8', '#6b3fa0', '#8c2f6b'] as const;

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
      {label !== '' && (
        <span class="instance" style={{ '--instance': colourOf(label) }} title="Label of this instance">
          {label}
        </span>
      )}
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

function colourOf(text: string): string {
  if (/prod/i.test(text)) return INSTANCE_COLOURS[0];
  const sum = [...text].reduce((total, character) => (total * 31 + (character.codePointAt(0) ?? 0)) % 9973, 7);
  return INSTANCE_COLOURS[1 + (sum % (INSTANCE_COLOURS.length - 1))] ?? INSTANCE_COLOURS[1];
}
