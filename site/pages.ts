/** Pages of the site, and the addresses of the Markdown files that they are made from. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface SourcePage {
  /** Path in the repository, such as `docs/how-to/README.md`. */
  readonly source: string;
  /** Path in the site, such as `how-to/index.html`. */
  readonly address: string;
  readonly markdown: string;
}

/** Pages outside of docs/ that pages of docs/ refer to. */
const OTHERS: Readonly<Record<string, string>> = { 'README.md': 'about.html', 'CHANGELOG.md': 'changelog.html' };
const DOCS = 'docs/';
const PICTURE = /\.(?:png|svg|webp)$/;

export interface Sources {
  /** Pages by their path in the repository. */
  readonly pages: ReadonlyMap<string, SourcePage>;
  /** Addresses of pictures by their path in the repository. */
  readonly pictures: ReadonlyMap<string, string>;
}

/** @param root folder of the repository */
export function readSources(root: string): Sources {
  const files = readdirSync(join(root, DOCS), { recursive: true, encoding: 'utf8' })
    .map((name) => DOCS + name.replaceAll('\\', '/'))
    .sort();
  const sources = [...files.filter((file) => file.endsWith('.md')), ...Object.keys(OTHERS)];
  const pages = sources.map((source) => ({ source, address: addressOf(source), markdown: readFileSync(join(root, source), 'utf8') }));
  const addresses = pages.map(({ address }) => address);
  const twice = addresses.find((address, index) => addresses.indexOf(address) !== index);
  if (twice !== undefined) throw new Error(`two pages have the address ${twice}`);
  return {
    pages: new Map(pages.map((page) => [page.source, page])),
    pictures: new Map(files.filter((file) => PICTURE.test(file)).map((file) => [file, file.slice(DOCS.length)])),
  };
}

function addressOf(source: string): string {
  return (
    OTHERS[source] ??
    source
      .slice(DOCS.length)
      .replace(/(^|\/)README\.md$/, '$1index.md')
      .replace(/\.md$/, '.html')
  );
}

/** Relative address, so that the site works below any path. */
export function relativeAddress(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to);
}
