/** Search in the text of all pages. The text is loaded and indexed when the search is opened for the first time. */
import MiniSearch, { type SearchOptions } from 'minisearch';
import type { SearchText } from '../build.ts';
import { namesIn, singular, termsIn } from './terms.ts';

export interface Found {
  /** Address of the section, relative to the root of the site. */
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  /** Part of the text around the first term. */
  readonly excerpt: string;
  /** Terms of the text that match. */
  readonly terms: readonly string[];
}

interface Section {
  readonly id: number;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

export interface Search {
  find(query: string): readonly Found[];
}

const MAX_RESULTS = 30;
/** The beginning of a page comes before a part of another page. */
const WHOLE_PAGE = 1.5;
const EXCERPT = 160;
/** Sections that are indexed before the browser may respond to input again. */
const CHUNK = 100;
const FUZZY_FROM = 5;
/** Decisions and the changelog are for other readers than most. */
const LEAST_LIKELY = /^(?:adr\/|changelog\.html)/;
/** Generated lists repeat each name many times: a page that explains it comes first. */
const LESS_LIKELY = /^reference\/(?:metadata-api|metadata-types|query-api)\.html/;

export async function openSearch(address: string): Promise<Search> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the text for the search cannot be loaded: ${response.status}`);
  const { pages, sections } = (await response.json()) as SearchText;
  const index = new MiniSearch<Section>({ fields: ['heading', 'page', 'text'], tokenize: termsIn, processTerm: singular });
  const documents = sections.map(([page, , heading, text], id): Section => ({ id, page: pages[page]?.[1] ?? '', heading, text }));
  await index.addAllAsync(documents, { chunkSize: CHUNK });
  return {
    find(query) {
      const options: SearchOptions = {
        tokenize: namesIn,
        combineWith: 'AND',
        prefix: true,
        boost: { heading: 4, page: 2 },
        boostDocument: (id: number) => {
          const { heading = '', page = '' } = documents[id] ?? {};
          return likelihood(pages[sections[id]?.[0] ?? 0]?.[0] ?? '') * (heading === page ? WHOLE_PAGE : 1);
        },
      };
      const exact = index.search(query, options);
      // Other spellings only if there is nothing else: "relay" is not "delay". Names with signs have one spelling.
      const fuzzy = (term: string): number | boolean => (term.length >= FUZZY_FROM && /^\p{L}+$/u.test(term) ? 1 : false);
      const results = exact.length > 0 ? exact : index.search(query.replaceAll('-', ' '), { ...options, fuzzy });
      return results.slice(0, MAX_RESULTS).flatMap(({ id, terms }) => {
        const section = sections[id as number];
        const page = pages[section?.[0] ?? -1];
        if (section === undefined || page === undefined) return [];
        const [, anchor, heading, text] = section;
        return [{ address: `${page[0]}#${anchor}`, page: page[1], heading, excerpt: excerptOf(text, terms), terms }];
      });
    },
  };
}

function likelihood(address: string): number {
  if (LEAST_LIKELY.test(address)) return 0.4;
  return LESS_LIKELY.test(address) ? 0.5 : 1;
}

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...(places.length === 0 ? [0] : places)) - EXCERPT / 4);
  const begin = start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const end = Math.min(text.length, begin + EXCERPT);
  return `${begin === 0 ? '' : '… '}${text.slice(begin, end)}${end === text.length ? '' : ' …'}`;
}
