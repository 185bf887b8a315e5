/** Navigation of the site: the lists of links on the first page, below the heading "By kind". */
import { posix } from 'node:path';
import type { Token } from 'markdown-it';
import { attributeOf, parseMarkdown, textOf, type RenderedPage } from './markdown.ts';

export interface NavigationGroup {
  readonly title: string;
  readonly pages: readonly RenderedPage[];
}

export interface NavigationSection {
  readonly title: string;
  readonly groups: readonly NavigationGroup[];
}

const FIRST_PAGE = 'docs/README.md';
const HEADING = 'By kind';
/** Not in the navigation: found through their list, and by the search. */
const UNLISTED = /^(?:docs\/adr\/\d|docs\/README\.md$|README\.md$|CHANGELOG\.md$)/;

type Pages = ReadonlyMap<string, RenderedPage>;

interface Group {
  readonly title: string;
  readonly sources: string[];
}

/**
 * @param pages by their path in the repository
 * @throws Error if a page is not listed
 */
export function navigationOf(pages: Pages): readonly NavigationSection[] {
  const listed = new Set<string>();
  const sections = sectionsOf(pages).map(({ title, groups }) => ({
    title,
    groups: groups
      .map((group) => ({
        title: group.title,
        // A page that is listed twice appears at its first place.
        pages: group.sources.flatMap((source) => {
          const page = pages.get(source);
          if (page === undefined || listed.has(source)) return [];
          listed.add(source);
          return [page];
        }),
      }))
      .filter((group) => group.pages.length > 0),
  }));
  const missing = [...pages.keys()].filter((source) => !listed.has(source) && !UNLISTED.test(source));
  if (missing.length > 0) throw new Error(`${FIRST_PAGE} does not list ${missing.join(', ')} under "${HEADING}"`);
  return sections;
}

function sectionsOf(pages: Pages): { title: string; groups: Group[] }[] {
  const tokens = parseMarkdown(pages.get(FIRST_PAGE)?.page.markdown ?? '');
  const headings = tokens.flatMap(({ type, tag }, index) =>
    type === 'heading_open' ? [{ tag, index, title: titleAt(tokens, index) }] : [],
  );
  const start = headings.findIndex(({ title }) => title === HEADING);
  const sections: { title: string; groups: Group[] }[] = [];
  for (const [offset, { tag, index, title }] of headings.slice(start + 1).entries()) {
    if (tag !== 'h3') break;
    const end = headings[start + 2 + offset]?.index ?? tokens.length;
    const groups = groupsOf(tokens.slice(index, end), FIRST_PAGE);
    const [only] = groups.flatMap(({ sources }) => sources);
    const isList = groups.flatMap(({ sources }) => sources).length === 1 && only?.endsWith('/README.md') === true;
    const list = isList ? parseMarkdown(pages.get(only)?.page.markdown ?? '') : [];
    // A section with a page of its own has the groups of the first table there.
    const table = list.slice(0, list.findIndex(({ type }) => type === 'table_close') + 1);
    sections.push({ title, groups: isList ? [...groups, ...groupsOf(table, only ?? '').slice(1)] : groups });
  }
  return sections;
}

function titleAt(tokens: readonly Token[], index: number): string {
  const inline = tokens[index + 1];
  return inline === undefined ? '' : textOf(inline);
}

/** Returns a group for each row of a table, and one for all links outside of tables. */
function groupsOf(tokens: readonly Token[], source: string): Group[] {
  const outside: Group = { title: '', sources: [] };
  const groups = [outside];
  let current = outside;
  tokens.forEach((token, index) => {
    if (token.type === 'tr_open') {
      const title = tokens[index + 2];
      current = { title: title === undefined ? '' : textOf(title), sources: [] };
      groups.push(current);
    } else if (token.type === 'table_close') current = outside;
    for (const child of token.children ?? []) {
      const href = attributeOf(child, 'href');
      if (child.type === 'link_open' && /^[^#:]+\.md$/.test(href)) current.sources.push(posix.join(posix.dirname(source), href));
    }
  });
  return groups;
}
