import { useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { label } from '../api/settings.ts';
import { addKey } from '../browser/keys.ts';
import { isNavigationFolded, navigation } from '../browser/layout.ts';
import { go } from '../browser/place.ts';
import { ChangeReview, SessionChanges } from '../features/change-review/change-review.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading } from '../parts/loading.tsx';
import { KeyHelp } from './key-help.tsx';
import { Navigation } from './navigation.tsx';
import { hasBanner, OpenBanner } from './open-to-all.tsx';
import { type Opened, opened } from './opened.ts';
import { Palette } from './palette.tsx';
import { currentPage, type Page, PAGES } from './routes.ts';
import { TopBar } from './top-bar.tsx';

/** Width of the navigation with only its icons, in rem. */
const FOLDED_WIDTH = 3.25;

export function Shell() {
  const open = opened.value;
  const current = currentPage.value;
  const isFolded = isNavigationFolded.value;
  useShortcuts();
  useSignalEffect(() => {
    document.title = `${currentPage.value?.title ?? 'Not found'} · svc${label === '' ? '' : ` · ${label}`}`;
  });
  useEffect(() => document.querySelector('.sidebar [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  return (
    <div
      class={`shell${hasBanner.value ? ' has-banner' : ''}${isFolded ? ' is-folded' : ''}`}
      style={{ '--navigation': `${isFolded ? FOLDED_WIDTH : navigation.state.value.width}rem` }}
    >
      <OpenBanner />
      <TopBar />
      <Navigation />
      <main class="main" id="main" tabIndex={-1}>
        {current === undefined ? <NotFound /> : <PageFrame key={current.path} page={current} />}
      </main>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'keys' && <KeyHelp onClose={close} />}
      {open === 'changes' && <SessionChanges onClose={close} />}
      <ChangeReview />
    </div>
  );
}

function close(): void {
  opened.value = null;
}

function useShortcuts(): void {
  useEffect(() => {
    const open = (what: Opened) => (): void => {
      opened.value = what;
    };
    const keys = [
      addKey({ keys: 'mod+k', does: 'open the command palette', run: open('palette') }),
      addKey({ keys: '?', does: 'show keyboard shortcuts', run: open('keys') }),
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
