/** HTML around the text of a page. Everything that a page loads is at a relative address. */
import { escaped } from './highlight.ts';
import { breakable, type RenderedPage } from './markdown.ts';
import type { NavigationSection } from './navigation.ts';
import { relativeAddress } from './pages.ts';

/** Addresses of the files that every page uses. */
export interface Assets {
  readonly script: string;
  readonly theme: string;
  readonly style: string;
  readonly icon: string;
  readonly search: string;
}

export interface Site {
  readonly version: string;
  readonly assets: Assets;
  readonly navigation: readonly NavigationSection[];
}

/** Beyond this number, the list of headings has those of the second level only. */
const MAX_HEADINGS = 40;

export function pageHtml(rendered: RenderedPage, { version, assets, navigation }: Site): string {
  const { page, title, html, description } = rendered;
  const to = (address: string): string => relativeAddress(page.address, address);
  const headings = headingList(rendered);
  return `<!doctype html>
<html lang="en" data-root="${to('index.html').slice(0, -'index.html'.length)}" data-search="${to(assets.search)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.address === 'index.html' ? 'svc documentation' : `${escaped(title)} · svc documentation`}</title>
<meta name="description" content="${escaped(description)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${to(assets.icon)}" type="image/svg+xml">
<link rel="stylesheet" href="${to(assets.style)}">
<script src="${to(assets.theme)}"></script>
<script type="module" src="${to(assets.script)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="topbar">
<button class="button narrow-only" popovertarget="pages">Pages</button>
<a class="brand" href="${to('index.html')}">svc <span>documentation</span></a>
<span class="version">${escaped(version)}</span>
<span class="grow"></span>
<button class="button" id="search-button" hidden>Search <kbd>Ctrl K</kbd></button>
<label class="theme" id="theme" hidden><span class="visually-hidden">Theme</span><select><option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
</header>
<div class="columns">
<nav class="pages" id="pages" popover aria-label="Pages">
${navigation.map((section) => sectionHtml(section, rendered, to)).join('\n')}
</nav>
<main id="content">
<article>
${html}</article>
<footer>Source of this page: <code>${escaped(page.source)}</code> · <a href="${to('changelog.html')}">Changelog</a></footer>
</main>
${headings}
</div>
</body>
</html>
`;
}

function sectionHtml({ title, groups }: NavigationSection, current: RenderedPage, to: (address: string) => string): string {
  const isOpen = groups.some(({ pages }) => pages.some(({ page }) => page === current.page)) || current.page.address === 'index.html';
  const lists = groups.map((group) => {
    const links = group.pages.map(({ page, title: text }) => {
      const isCurrent = page === current.page ? ' aria-current="page"' : '';
      return `<li><a href="${to(page.address)}"${isCurrent}>${escaped(shortTitle(text))}</a></li>`;
    });
    return `${group.title === '' ? '' : `<p>${escaped(group.title)}</p>`}<ul>${links.join('')}</ul>`;
  });
  return `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary>${lists.join('')}</details>`;
}

/** The part before a colon: what follows it are further words for the search. */
function shortTitle(title: string): string {
  return title.split(': ')[0] ?? title;
}

function headingList({ headings }: RenderedPage): string {
  const below = headings.filter(({ level }) => level === 2 || level === 3);
  const shown = below.length > MAX_HEADINGS ? below.filter(({ level }) => level === 2) : below;
  if (shown.length < 2) return '';
  const links = shown.map(({ level, anchor, text }) => `<li class="level-${level}"><a href="#${anchor}">${breakable(text)}</a></li>`);
  return `<nav class="headings" aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav>`;
}
