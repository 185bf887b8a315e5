import { computed, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { sessionChanges } from '../api/changes.ts';
import { config } from '../api/config.ts';
import { overview, overviewFailure } from '../api/overview.ts';
import { hasSecret, signOut } from '../api/session.ts';
import { isReadOnly, label, needsSecret, READ_ONLY_REASON } from '../api/settings.ts';
import { addKey } from '../browser/keys.ts';
import { docsHref, go } from '../browser/place.ts';
import { type Theme, theme } from '../browser/theme.ts';
import { ChangeReview, SessionChanges } from '../features/change-review/change-review.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { Menu } from '../parts/menu.tsx';
import { Brand } from './brand.tsx';
import { KeyHelp } from './key-help.tsx';
import { Palette } from './palette.tsx';
import { PersonaBar } from './persona-bar.tsx';
import { currentPage, type Page, PAGES } from './routes.ts';

const INSTANCE_COLOURS = ['#b02a37', '#8a4b08', '#1b6b3a', '#1c5fa8', '#6b3fa0', '#8c2f6b'] as const;

// Computed signals: the frame and its page render again only when these values change, not with each read of the overview.
const isOpenToAll = computed(() => needsSecret === false || config.value?.['is_admin_secret_set'] === false);
const inconsistent = computed(() => overview.value?.inconsistent ?? 0);

type Opened = 'palette' | 'keys' | 'changes';

export function Shell() {
  const [open, setOpen] = useState<Opened | null>(null);
  const current = currentPage.value;
  useShortcuts(setOpen);
  useSignalEffect(() => {
    document.title = `${currentPage.value?.title ?? 'Not found'} · svc${label === '' ? '' : ` · ${label}`}`;
  });
  useEffect(() => document.querySelector('.sidebar [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  return (
    <div class={`shell${isOpenToAll.value ? ' has-banner' : ''}`}>
      {isOpenToAll.value && (
        <aside class="open-banner" aria-label="Warning">
          This service has no admin secret. Anyone who can reach it can read and change everything.
        </aside>
      )}
      <TopBar open={setOpen} />
      <nav class="sidebar" aria-label="Pages">
        {PAGES.map((page) => (
          <a
            key={page.path}
            class="nav-link"
            href={`#/${page.path}`}
            title={`${page.title} (g ${page.key})`}
            aria-current={page === current ? 'page' : undefined}
          >
            <Icon name={page.icon} />
            <span>{page.title}</span>
            {page.path === '' && <Inconsistent />}
          </a>
        ))}
        <p class="foot">
          <kbd>Ctrl</kbd> <kbd>K</kbd> to search
        </p>
      </nav>
      <main class="main" id="main">
        {current === undefined ? <NotFound /> : <PageFrame key={current.path} page={current} />}
      </main>
      {open === 'palette' && <Palette onClose={() => setOpen(null)} />}
      {open === 'keys' && <KeyHelp onClose={() => setOpen(null)} />}
      {open === 'changes' && <SessionChanges onClose={() => setOpen(null)} />}
      <ChangeReview />
    </div>
  );
}

function useShortcuts(open: (what: Opened) => void): void {
  useEffect(() => {
    const keys = [
      addKey({ keys: 'mod+k', does: 'open the command palette', run: () => open('palette') }),
      addKey({ keys: '?', does: 'show keyboard shortcuts', run: () => open('keys') }),
      addKey({
        keys: '/',
        does: 'filter the list',
        run: () => document.querySelector<HTMLInputElement>('input[data-filter]')?.focus(),
      }),
      ...PAGES.map(({ path, title, key }) =>
        addKey({ keys: `g ${key}`, does: `go to ${title}`, run: () => go(path === '' ? [] : [path]) }),
      ),
    ];
    return () => {
      for (const remove of keys) remove();
    };
  }, []);
}

function NotFound() {
  return (
    <div class="page">
      <h1 class="visually-hidden">Not found</h1>
      <EmptyState
        icon="search"
        title="Page not found"
        actions={
          <a class="button" href="#/">
            Home
          </a>
        }
      />
    </div>
  );
}

function Inconsistent() {
  const count = inconsistent.value;
  return count === 0 ? null : (
    <span class="badge badge-danger" title="inconsistent objects">
      {count}
    </span>
  );
}

function TopBar({ open }: { open(what: Opened): void }) {
  const { value } = overview;
  const count = sessionChanges.value.length;
  return (
    <header class="topbar">
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
        name="Theme"
        items={(['system', 'light', 'dark'] satisfies Theme[]).map((each) => ({
          label: { system: 'System', light: 'Light', dark: 'Dark' }[each],
          ...(theme.value === each ? { icon: 'check' as const } : {}),
          run: () => {
            theme.value = each;
          },
        }))}
      />
      <span class="hide-narrow">
        <DocsLink />
        <Button kind="quiet" icon="help" name="Keyboard shortcuts (?)" onClick={() => open('keys')} />
      </span>
      {hasSecret.value && <Button kind="quiet" icon="out" name="Sign out" onClick={leave} />}
    </header>
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

/** Signs out, and reloads the page to discard everything it has read. */
function leave(): void {
  signOut();
  location.reload();
}

function colourOf(text: string): string {
  if (/prod/i.test(text)) return INSTANCE_COLOURS[0];
  const sum = [...text].reduce((total, character) => (total * 31 + (character.codePointAt(0) ?? 0)) % 9973, 7);
  return INSTANCE_COLOURS[1 + (sum % (INSTANCE_COLOURS.length - 1))] ?? INSTANCE_COLOURS[1];
}

/** Loads the chunk of the page. */
function PageFrame({ page }: { readonly page: Page }) {
  const [Loaded, setLoaded] = useState<ComponentType | null>(null);
  const [failure, setFailure] = useState(false);
  useEffect(() => {
    page.load().then(
      (component) => setLoaded(() => component),
      () => setFailure(true),
    );
  }, [page]);
  if (failure) {
    return (
      <div class="page">
        <ErrorBox
          error={{ message: 'This page could not be loaded. The service may have been updated. Reload the console.' }}
          onRetry={() => location.reload()}
        />
      </div>
    );
  }
  if (Loaded === null) {
    return (
      <div class="page">
        <Loading what={page.title} />
      </div>
    );
  }
  return <Loaded />;
}
