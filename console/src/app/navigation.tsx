import { computed } from '@preact/signals';
import { overview } from '../api/overview.ts';
import { isNavigationFolded, isNarrow, navigation } from '../browser/layout.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Splitter } from '../parts/splitter.tsx';
import { currentPage, PAGES } from './routes.ts';

const inconsistent = computed(() => overview.value?.inconsistent ?? 0);

/** The pages: beside the page, folded to their icons if it is narrow, and as a bar at the bottom of a phone. */
export function Navigation() {
  const current = currentPage.value;
  const isFolded = isNavigationFolded.value;
  return (
    <nav class="navigation" aria-label="Pages">
      <div class="sidebar" id="navigation">
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
        {!isNarrow.value && (
          <p class="foot row-tight">
            <Button
              small
              kind="quiet"
              icon="menu"
              name={isFolded ? 'Unfold navigation' : 'Fold navigation'}
              expanded={!isFolded}
              onClick={() => navigation.change({ isFolded: !isFolded })}
            />
            {!isFolded && (
              <span>
                <kbd>Ctrl</kbd> <kbd>K</kbd> to search
              </span>
            )}
          </p>
        )}
      </div>
      {!isNarrow.value && <Splitter name="Width of the navigation" controls="navigation" sidebar={navigation} />}
    </nav>
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
